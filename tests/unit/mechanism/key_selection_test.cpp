// Key selection: chances, thresholds and sizes against other ways to compute them, what is drawn,
// JSON, refusals. Privacy: key_selection_audit_test.cpp.
#include "mechanism/key_law.hpp"
#include "support/golden.hpp"
#include "support/key_laws.hpp"
#include "support/mpfr_real.hpp"
#include "support/scripted_source.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/key_selection.hpp>
#include <shoal/numeric/binomial.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/profile.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::mechanism {
namespace {

std::vector<KeySelection> all_specs() {
  return {LaplaceThreshold{1, 15},     LaplaceThreshold{2.5, 4, 5},
          GaussianThreshold{3, 10},    GaussianThreshold{0.7, 1, 100},
          OptimalSelection{1, 1e-6},   OptimalSelection{0.1, 0.01, 3},
          OptimalSelection{0.25, 1e-3}};
}

TEST(KeySelection, RoundTripsThroughJson) {
  for (const KeySelection& spec : all_specs()) {
    EXPECT_EQ(key_selection_from_json(to_json(spec)), spec);
    EXPECT_NE(to_json(spec).find(name(spec)), std::string::npos);
    EXPECT_FALSE(describe(spec).empty());
  }
  EXPECT_EQ(to_json(LaplaceThreshold{0.1, 15, 2}),
            R"({"laplace_threshold": {"scale": 0.1, "threshold": 15, "min_units": 2}})");
}

TEST(KeySelection, RefusesWhatIsOutOfRange) {
  for (const KeySelection& spec : std::vector<KeySelection>{
           LaplaceThreshold{}, LaplaceThreshold{1, 0}, LaplaceThreshold{1, kMaxThreshold + 1},
           LaplaceThreshold{1, 5, 0}, GaussianThreshold{std::nan(""), 5}, GaussianThreshold{0, 5},
           OptimalSelection{}, OptimalSelection{1, 0}, OptimalSelection{1, 1},
           OptimalSelection{0, 1e-6}, OptimalSelection{1001, 1e-6}, OptimalSelection{1, 1e-6, 0}}) {
    EXPECT_THROW(validate(spec), Error);
    EXPECT_THROW(to_json(spec), Error);
    EXPECT_THROW(privacy_event(spec, 1, Neighbors::add_remove), Error);
    EXPECT_THROW(KeySelector{spec}, Error);
    EXPECT_THROW(keep_probability(spec, 5), Error);
    EXPECT_THROW(even_chance_size(spec), Error);
  }
  for (const char* text :
       {"", "{}", R"({"laplace_threshold": {"scale": 1, "threshold": 5}})",
        R"({"laplace_threshold": {"scale": 1, "threshold": 5.5, "min_units": 1}})",
        R"({"laplace_threshold": {"scale": 1, "threshold": 18446744073709551615, "min_units": 1}})",
        R"({"laplace_threshold": {"scale": 1, "threshold": 5, "min_units": 1, "more": 1}})",
        R"({"optimal_selection": {"epsilon": 1, "delta": 0, "min_units": 1}})",
        R"({"optimal": {"epsilon": 1, "delta": 0.1, "min_units": 1}})"}) {
    try {
      key_selection_from_json(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse_error) << text;
    }
  }
  EXPECT_THROW(privacy_event(LaplaceThreshold{1, 5}, 0, Neighbors::add_remove), Error);
  EXPECT_THROW(laplace_threshold(1, Delta(0), 1), Error);
  EXPECT_THROW(gaussian_threshold(0x1p50, Delta(1e-30), 1), Error);
  EXPECT_THROW(optimal_selection(Epsilon(1), Delta(0), 1), Error);
  test::SeededSource bits(1);
  EXPECT_THROW(select(LaplaceThreshold{1, 5}, -1, bits), Error);
}

// pi by its recursion, with 2000 bits.
std::vector<test::MpfrReal> pi_by_recursion(double epsilon, double delta, int count) {
  using Real = test::MpfrReal;
  const Real one(1.0);
  const Real down = Real(epsilon).exp_minus();
  const Real d(delta);
  std::vector<Real> pi = {Real(0.0)};
  for (int n = 1; n <= count; ++n) {
    const Real& last = pi.back();
    const Real first = last / down + d;
    const Real second = one - down * (one - last - d);
    const Real& least = first.units(1990) < second.units(1990) ? first : second;
    pi.push_back(least.units(1990) >= one.units(1990) ? one : least);
  }
  return pi;
}

TEST(OptimalChance, EnclosesTheRecursion) {
  for (const auto& [epsilon, delta] : std::vector<std::pair<double, double>>{
           {1, 1e-6}, {0.1, 1e-6}, {0.01, 0.3}, {7, 1e-9}, {1000, 1e-6}, {0.3, 1e-60}, {2, 0.9}}) {
    const OptimalChance chance(epsilon, delta);
    const auto pi = pi_by_recursion(epsilon, delta, static_cast<int>(chance.certain_from()) + 1);
    for (std::size_t n = 0; n < pi.size(); ++n) {
      const numeric::Enclosure found = chance.at(static_cast<std::int64_t>(n), 100);
      const numeric::BigInt units = pi[n].units(found.precision);
      // The recursion has its own rounding, far below 2^-900 but not nothing.
      ASSERT_LE(found.low, units + 1) << epsilon << " " << delta << " " << n;
      ASSERT_GE(found.high, units) << epsilon << " " << delta << " " << n;
      ASSERT_LE((found.high - found.low) >> (found.precision - 100), 0) << n;
    }
    EXPECT_EQ(low_down(chance.at(chance.certain_from(), 64)), 1);
    EXPECT_EQ(low_down(chance.at(std::int64_t{1} << 62, 64)), 1);
  }
}

TEST(OptimalChance, HoldsForTheSmallestParameters) {
  const OptimalChance chance(0x1p-31, 0x1p-301);
  EXPECT_LT(high_up(chance.at(1, 64)), 0x1.00001p-301);
  EXPECT_GT(chance.certain_from(), std::int64_t{1} << 33);
}

TEST(KeySelection, ChancesAreThoseOfTheLaw) {
  for (const KeySelection& spec : all_specs()) {
    for (const std::int64_t units : {0, 1, 2, 4, 5, 10, 16, 40, 99, 100, 103}) {
      const test::GroupLaw law = test::law_of(spec, units);
      const double expected = 1 - law.at(test::kHidden);
      EXPECT_NEAR(keep_probability(spec, units), expected, 1e-9) << to_json(spec) << units;
      EXPECT_LE(keep_probability_down(spec, units), keep_probability_up(spec, units));
      EXPECT_LE(keep_probability_up(spec, units) - keep_probability_down(spec, units), 1e-12);
    }
    EXPECT_EQ(keep_probability_up(spec, min_units(spec) - 1), 0);
    const std::int64_t even = even_chance_size(spec);
    EXPECT_GE(keep_probability_down(spec, even), 0.5);
    EXPECT_LT(keep_probability_up(spec, even - 1), 0.5);
  }
}

// 7 specs, 2 sizes: each count is out of its bounds with probability below 2e-6, together below
// 3e-5.
TEST(KeySelection, SelectsWithItsChanceAndTellsTheNoisyCount) {
  constexpr int kDraws = 20000;
  std::uint64_t seed = 200;
  for (const KeySelection& spec : all_specs()) {
    KeySelector selector(spec);
    const std::int64_t even = even_chance_size(spec);
    for (const std::int64_t units : {even, even + 1}) {
      test::SeededSource bits(seed++);
      int shown = 0;
      for (int i = 0; i < kDraws; ++i) {
        const std::optional<SelectedGroup> group = selector.select(units, bits);
        if (!group) continue;
        ++shown;
        ASSERT_EQ(group->noisy_units.has_value(), !std::holds_alternative<OptimalSelection>(spec));
        if (group->noisy_units) {
          ASSERT_GE(*group->noisy_units, even);  // threshold + min_units - 1
        }
      }
      const double chance = keep_probability(spec, units);
      EXPECT_LE(numeric::chance_lower_bound(shown, kDraws, 1e-6), chance) << to_json(spec);
      EXPECT_GE(numeric::chance_upper_bound(shown, kDraws, 1e-6), chance) << to_json(spec);
    }
    test::SeededSource bits(seed++);
    for (int i = 0; i < 1000; ++i) ASSERT_FALSE(selector.select(min_units(spec) - 1, bits));
  }
}

TEST(KeySelection, NoisyCountsAreTheUnitsPlusTheNoiseOfTheSpec) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    test::SeededSource first(seed);
    test::SeededSource second(seed);
    const std::optional<SelectedGroup> group = select(LaplaceThreshold{2, 6, 4}, 9, first);
    const Int128 noise = sample(DiscreteLaplace{2}, second);
    ASSERT_EQ(group.has_value(), 9 - 3 + noise >= 6);
    if (group) {
      EXPECT_EQ(*group->noisy_units, 9 + noise);
    }
  }
}

TEST(KeySelection, BitsDoNotDependOnTheUnits) {
  test::SeededSource seeded(7);
  for (const KeySelection& spec : all_specs()) {
    for (int i = 0; i < 50; ++i) {
      std::vector<bool> script;
      for (int bit = 0; bit < 4096; ++bit) script.push_back(seeded.next_bit());
      std::optional<std::size_t> used;
      for (const std::int64_t units : {0, 1, 3, 15, 1000, 1000000}) {
        test::ScriptedSource source(script);
        select(spec, units, source);
        if (!used) used = source.bits_used();
        ASSERT_EQ(source.bits_used(), *used) << to_json(spec);
      }
    }
  }
}

TEST(KeySelection, ThresholdsAreTheSmallestThatMeetDelta) {
  const auto failure = [](const KeySelection& spec, std::int64_t groups) {
    const auto event = privacy_event(spec, groups, Neighbors::add_remove);
    const auto& parts = std::get<privacy::event::Compose>(event.node()).events;
    return std::get<privacy::event::EpsilonDelta>(parts.at(1).node()).delta;
  };
  for (const std::int64_t groups : {1, 3, 30, 1000000}) {
    for (const double delta : {1e-12, 1e-6, 0.01, 0.4}) {
      for (const double scale : {0.3, 1.0, 17.0, 500.0}) {
        LaplaceThreshold laplace = laplace_threshold(scale, Delta(delta), groups);
        EXPECT_LE(failure(laplace, groups), delta);
        // By the formula, and by the pmf.
        const double q = std::exp(-1 / scale);
        const double once = -std::expm1(std::log1p(-delta) / static_cast<double>(groups));
        const double least = 1 + scale * -std::log(once * (1 + q));
        EXPECT_EQ(laplace.threshold, std::max(1ll, std::llround(std::ceil(least))));
        GaussianThreshold gaussian = gaussian_threshold(scale, Delta(delta), groups);
        EXPECT_LE(failure(gaussian, groups), delta);
        if (gaussian.threshold > 1) {
          --gaussian.threshold;
          EXPECT_GT(failure(gaussian, groups), delta);
        }
      }
    }
  }
}

TEST(KeySelection, EventsSayWhatWasDone) {
  const privacy::Event added = privacy_event(LaplaceThreshold{3, 44}, 3, Neighbors::add_remove);
  const privacy::Charge charge = price(added, Neighbors::add_remove);
  EXPECT_EQ(charge.epsilon_units, 1'000'000'000'002);  // three times 1/3, each rounded up
  EXPECT_GT(charge.delta_units, 0);
  const privacy::Event replaced = privacy_event(LaplaceThreshold{3, 44}, 3, Neighbors::replace_one);
  const privacy::Charge doubled = price(replaced, Neighbors::replace_one);
  EXPECT_EQ(doubled.epsilon_units, 2'000'000'000'004);
  EXPECT_EQ(doubled.delta_units, charge.delta_units);
  EXPECT_EQ(to_json(privacy_event(OptimalSelection{0.5, 1e-7}, 4, Neighbors::add_remove)),
            R"({"repeat":{"count":4,"event":{"epsilon_delta":{"epsilon":0.5,"delta":1e-07}}}})");
  EXPECT_EQ(privacy_event(OptimalSelection{0.5, 1e-7}, 4, Neighbors::replace_one),
            privacy::Event(privacy::event::Repeat{8, privacy::event::EpsilonDelta{0.5, 1e-7}}));
}

TEST(KeySelection, OptimalSharesAddUpToNoMoreThanWasAsked) {
  for (const Neighbors neighbors : {Neighbors::add_remove, Neighbors::replace_one}) {
    for (const std::int64_t groups : {1, 3, 7, 30, 1000}) {
      const OptimalSelection spec = optimal_selection(Epsilon(1), Delta(1e-6), groups, neighbors);
      const privacy::Charge charge = price(privacy_event(spec, groups, neighbors), neighbors);
      EXPECT_LE(*charge.epsilon_units, 1'000'000'000'000);
      EXPECT_GE(*charge.epsilon_units, 1'000'000'000'000 - 2000);
      EXPECT_LE(charge.delta_units, 1'000'000'000'000);
      EXPECT_GE(charge.delta_units, 1'000'000'000'000 - 2000);
    }
  }
}

TEST(KeySelection, SelectionsForAPriceMeetItAndAreNearlyTheBest) {
  for (const Neighbors neighbors : {Neighbors::add_remove, Neighbors::replace_one}) {
    for (const std::vector<double>& row : test::read_golden("key_selection")) {
      const auto groups = static_cast<std::int64_t>(row.at(0));
      const KeySelection laplace = laplace_selection(Epsilon(1), Delta(1e-6), groups, neighbors);
      const KeySelection gaussian = gaussian_selection(Epsilon(1), Delta(1e-6), groups, neighbors);
      const privacy::Charge charge = price(privacy_event(laplace, groups, neighbors), neighbors);
      EXPECT_LE(*charge.epsilon_units, 1'000'000'000'000);
      EXPECT_LE(charge.delta_units, 1'000'000'000'000);
      const privacy::Profile profile(privacy_event(gaussian, groups, neighbors), neighbors);
      EXPECT_LE(profile.delta(1).bounds.upper, 1e-6);
      EXPECT_GE(profile.delta(1).bounds.lower, 0.75e-6);
      if (neighbors == Neighbors::replace_one) continue;
      EXPECT_EQ(even_chance_size(laplace), row.at(4));
      EXPECT_NEAR(static_cast<double>(even_chance_size(gaussian)), row.at(5), 1);
    }
  }
}

TEST(KeySelection, SizesShownHalfTheTimeAreThoseOfTheTable) {
  for (const std::vector<double>& row : test::read_golden("key_selection")) {
    const auto groups = static_cast<std::int64_t>(row.at(0));
    const double scale = row.at(1);
    const double sigma = row.at(2);
    EXPECT_EQ(even_chance_size(laplace_threshold(scale, Delta(1e-6), groups)), row.at(4));
    EXPECT_EQ(even_chance_size(gaussian_threshold(sigma, Delta(row.at(3)), groups)), row.at(5));
    EXPECT_EQ(even_chance_size(optimal_selection(Epsilon(1), Delta(1e-6), groups)), row.at(6));
  }
}

}  // namespace
}  // namespace shoal::mechanism
