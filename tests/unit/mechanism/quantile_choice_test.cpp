// Chosen quantiles: their privacy from exact laws on every pair of small neighbours, coverage of
// their intervals, prices, JSON, refusals.
#include "mechanism/rank_choice.hpp"
#include "support/rank_laws.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/quantile_choice.hpp>
#include <shoal/numeric/binomial.hpp>
#include <shoal/privacy/profile.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace shoal::mechanism {
namespace {

using test::Histogram;

constexpr Neighbors kAddRemove = Neighbors::add_remove;
constexpr Neighbors kReplace = Neighbors::replace_one;

// Every histogram of so many values on so many steps.
std::vector<Histogram> all_histograms(std::size_t steps, std::int64_t values) {
  if (steps == 1) return {{values}};
  std::vector<Histogram> list;
  for (std::int64_t first = 0; first <= values; ++first) {
    for (Histogram rest : all_histograms(steps - 1, values - first)) {
      rest.insert(rest.begin(), first);
      list.push_back(std::move(rest));
    }
  }
  return list;
}

Histogram sum_of(const Histogram& a, const Histogram& b) {
  Histogram sum = a;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
  return sum;
}

// What the value of a choice is drawn by, as targets and definitions have it.
double target_rank(const QuantileTarget& target, std::int64_t total) {
  if (const auto* fraction = std::get_if<Fraction>(&target)) {
    return static_cast<double>(fraction->numerator * total) /
           static_cast<double>(fraction->denominator);
  }
  const auto& extreme = std::get<ExtremeRank>(target);
  const double from_end =
      std::min(static_cast<double>(extreme.rank), static_cast<double>(total) / 2);
  return extreme.end == Extreme::minimum ? from_end : static_cast<double>(total) - from_end;
}

std::vector<double> law_with(const Histogram& histogram, double rank, double scale) {
  std::vector<double> errors;
  for (std::size_t step = 0; step < histogram.size(); ++step) {
    errors.push_back(test::rank_error_of(histogram, step, rank));
  }
  return test::choice_law(errors, scale);
}

std::vector<double> value_law(const Histogram& histogram, const QuantileTarget& target,
                              double scale) {
  return law_with(histogram, target_rank(target, test::total_of(histogram)), scale);
}

// The law of the lower end: `distance` values more on the first step, and the same rank.
std::vector<double> lower_law(Histogram histogram, const QuantileTarget& target, double scale,
                              std::int64_t distance) {
  const double rank = target_rank(target, test::total_of(histogram));
  histogram.front() += distance;
  return law_with(histogram, rank, scale);
}

// The law of the upper end: `distance` values more on the last step, and as much more rank.
std::vector<double> upper_law(Histogram histogram, const QuantileTarget& target, double scale,
                              std::int64_t distance) {
  const double rank = target_rank(target, test::total_of(histogram));
  histogram.back() += distance;
  return law_with(histogram, rank + static_cast<double>(distance), scale);
}

using Law = std::function<std::vector<double>(const Histogram&)>;

// The widest span of losses over every pair in which a unit comes or goes, or is exchanged.
double widest_span(const Law& law, std::int64_t per_unit, Neighbors neighbors) {
  constexpr std::size_t kSteps = 5;
  double widest = 0;
  std::vector<Histogram> units;
  for (std::int64_t values = 0; values <= per_unit; ++values) {
    for (const Histogram& unit : all_histograms(kSteps, values)) units.push_back(unit);
  }
  std::vector<Histogram> all_others = {{40, 40, 40, 40, 40}, {90, 3, 3, 3, 3}, {3, 3, 3, 3, 90},
                                       {4, 4, 0, 4, 4},      {90, 6, 1, 1, 2}, {2, 1, 1, 6, 90}};
  for (const std::int64_t others : {0, 1, 3, 5}) {
    for (const Histogram& rest : all_histograms(kSteps, others)) all_others.push_back(rest);
  }
  for (const Histogram& rest : all_others) {
    std::vector<std::vector<double>> laws;
    for (const Histogram& unit : units) laws.push_back(law(sum_of(rest, unit)));
    if (neighbors == kAddRemove) {
      const std::vector<double> without = law(rest);
      for (const auto& with : laws) {
        widest = std::max(widest, test::loss_span(with, without).width());
      }
    } else {
      for (const auto& p : laws) {
        for (const auto& q : laws) widest = std::max(widest, test::loss_span(p, q).width());
      }
    }
  }
  return widest;
}

std::vector<QuantileTarget> targets() {
  return {Fraction{1, 2}, Fraction{1, 4}, Fraction{9, 10}, ExtremeRank{Extreme::minimum, 2},
          ExtremeRank{Extreme::maximum, 4}};
}

TEST(QuantileChoicePrivacy, LossesSpanNoMoreThanStatedAndAsMuch) {
  constexpr double kScale = 1.5;
  for (const QuantileTarget& target : targets()) {
    for (const std::int64_t per_unit : {1, 2}) {
      for (const Neighbors neighbors : {kAddRemove, kReplace}) {
        const GroupContribution one{1, per_unit, true};
        const double stated = choice_epsilon(target, kScale, one, neighbors);
        const Law law = [&](const Histogram& h) { return value_law(h, target, kScale); };
        const double found = widest_span(law, per_unit, neighbors);
        EXPECT_LE(found, stated + 1e-9) << to_string(target) << per_unit;
        EXPECT_GE(found, 0.99 * stated) << to_string(target) << per_unit;
        if (!std::holds_alternative<Fraction>(target)) continue;
        const Law end = [&](const Histogram& h) { return lower_law(h, target, kScale, 3); };
        EXPECT_LE(widest_span(end, per_unit, neighbors), stated + 1e-9);
      }
    }
  }
}

// A target of p N, with the price of a rank that does not move with N, would be too cheap; half the
// sensitivity would be; so would adding instead of exchanging.
TEST(QuantileChoicePrivacy, SpansCatchWrongPrices) {
  const QuantileTarget target = Fraction{9, 10};
  const Law law = [&](const Histogram& h) { return value_law(h, target, 1.5); };
  const double one_sided = 0.9 / 1.5;
  EXPECT_GT(widest_span(law, 1, kAddRemove), one_sided * 1.9);
  EXPECT_GT(widest_span(law, 1, kReplace),
            choice_epsilon(target, 1.5, {1, 1, true}, kAddRemove) * 1.1);
  EXPECT_GT(widest_span(law, 2, kAddRemove),
            choice_epsilon(target, 1.5, {1, 1, true}, kAddRemove) * 1.9);
}

// Hockey-stick divergences of the whole answer, lower end and value, against the certified profile.
TEST(QuantileChoicePrivacy, DivergencesAreWithinTheEvent) {
  const QuantileTarget target = Fraction{1, 4};
  const double scale = 2;
  for (const Neighbors neighbors : {kAddRemove, kReplace}) {
    const GroupContribution one{1, 1, true};
    const privacy::Profile profile(privacy_event(QuantileChoice{target, scale}, one, neighbors),
                                   neighbors);
    double closest = 0;
    for (const Histogram& rest : all_histograms(4, 4)) {
      for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = 0; b < 4; ++b) {
          Histogram first = rest;
          Histogram second = rest;
          ++first[a];
          if (neighbors == kReplace) ++second[b];
          const auto p = value_law(first, target, scale);
          const auto q = value_law(second, target, scale);
          for (const double epsilon : {0.0, 0.1, 0.25, 0.5}) {
            const double allowed = profile.delta(epsilon).bounds.upper;
            const double found = std::max(test::hockey_stick_of_laws(p, q, epsilon),
                                          test::hockey_stick_of_laws(q, p, epsilon));
            ASSERT_LE(found, allowed + 1e-12);
            if (epsilon == 0) closest = std::max(closest, found / allowed);
          }
        }
      }
    }
    EXPECT_GE(closest, 0.7);
  }
}

// A unit that leaves one group for another: both groups' answers, against the event for groups.
TEST(QuantileChoicePrivacy, ExchangeBetweenGroupsIsWithinTheEvent) {
  const double scale = 2;
  for (const QuantileTarget& target : targets()) {
    const GroupContribution groups{1, 1, false};
    const auto event = privacy_event(QuantileChoice{target, scale}, groups, kReplace);
    const double stated = std::get<privacy::event::Exponential>(event.node()).epsilon;
    const Law law = [&](const Histogram& h) { return value_law(h, target, scale); };
    EXPECT_LE(2 * widest_span(law, 1, kAddRemove), stated + 1e-9);
    EXPECT_LE(widest_span(law, 1, kReplace), stated + 1e-9);
  }
}

double law_p_value(const std::vector<double>& law, const std::vector<double>& counts, int draws) {
  double statistic = 0;
  for (std::size_t i = 0; i < law.size(); ++i) {
    const double expected = law[i] * draws;
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return numeric::chi_square_tail(statistic, static_cast<int>(law.size()) - 1);
}

// What `choose` draws has the laws whose privacy is looked at above. 5 targets, each a false alarm
// with probability below 2e-6.
TEST(QuantileChoicePrivacy, ValuesAndEndsAreDrawnByTheseLaws) {
  const Histogram histogram = {3, 0, 5, 1, 0, 4, 2};
  const auto leaves = test::leaves_of(histogram, 0);
  constexpr int kDraws = 20000;
  std::uint64_t seed = 450;
  for (const QuantileTarget& target : targets()) {
    test::SeededSource bits(seed++);
    std::vector<double> values(histogram.size(), 0.0);
    for (int i = 0; i < kDraws; ++i) {
      const QuantileChoice choice{target, 2.5};
      values[static_cast<std::size_t>(
          choose(choice, {0, 6}, leaves, Confidence(0.9), bits).value)] += 1;
    }
    EXPECT_GT(law_p_value(value_law(histogram, target, 2.5), values, kDraws), 1e-6);
    if (!std::holds_alternative<Fraction>(target)) continue;
    // The inner end of the pair is the lower one where upper and lower are never exchanged: take
    // the smaller of both, and its law from both.
    const std::int64_t distance = extreme_rank(2, 7, Confidence(0.75));
    const std::vector<double> lower = lower_law(histogram, target, 2, distance);
    const std::vector<double> upper = upper_law(histogram, target, 2, distance);
    std::vector<double> smaller_law(histogram.size(), 0.0);
    for (std::size_t a = 0; a < lower.size(); ++a) {
      for (std::size_t b = 0; b < upper.size(); ++b)
        smaller_law[std::min(a, b)] += lower[a] * upper[b];
    }
    std::vector<double> ends(histogram.size(), 0.0);
    for (int i = 0; i < kDraws; ++i) {
      const QuantileChoice choice{target, 2.5, 2};
      ends[static_cast<std::size_t>(choose(choice, {0, 6}, leaves, Confidence(0.5), bits).lower)] +=
          1;
    }
    EXPECT_GT(law_p_value(smaller_law, ends, kDraws), 1e-6);
  }
}

TEST(QuantileChoice, PricesAndScalesAgree) {
  const GroupContribution one{1, 3, true};
  EXPECT_DOUBLE_EQ(choice_epsilon(Fraction{1, 2}, 6, one, kAddRemove), 0.5);
  EXPECT_DOUBLE_EQ(choice_epsilon(Fraction{1, 2}, 6, one, kReplace), 1);
  EXPECT_DOUBLE_EQ(choice_epsilon(Fraction{9, 10}, 6, one, kAddRemove), 0.9);
  EXPECT_DOUBLE_EQ(choice_epsilon(ExtremeRank{Extreme::maximum, 5}, 6, one, kAddRemove), 1);
  for (const QuantileTarget& target : targets()) {
    for (const double epsilon : {0.001, 0.1, 0.3, 1.0, 7.7}) {
      for (const Neighbors neighbors : {kAddRemove, kReplace}) {
        const double scale = choice_scale(target, Epsilon(epsilon), one, neighbors);
        EXPECT_LE(choice_epsilon(target, scale, one, neighbors), epsilon);
        EXPECT_GE(choice_epsilon(target, scale, one, neighbors), epsilon * (1 - 1e-14));
      }
    }
  }
  const GroupContribution many{4, 1, false};
  using namespace privacy::event;
  EXPECT_EQ(privacy_event(QuantileChoice{Fraction{1, 2}, 4, 8}, many, kAddRemove),
            privacy::Event(Repeat{4, Compose{{Exponential{0.25}, Repeat{2, Exponential{0.125}}}}}));
  EXPECT_EQ(privacy_event(QuantileChoice{Fraction{1, 2}, 4}, many, kReplace),
            privacy::Event(Repeat{4, Exponential{0.5}}));
  EXPECT_EQ(privacy_event(QuantileChoice{ExtremeRank{Extreme::minimum, 9}, 4, 8}, {}, kAddRemove),
            privacy::Event(Compose{{Exponential{0.5}, Exponential{0.25}}}));
}

struct Data {
  const char* name;
  Histogram histogram;
};

std::vector<Data> data_sets() {
  Histogram spread(2000, 0);
  test::SeededSource bits(400);
  for (int i = 0; i < 3000; ++i) spread[600 + bits.next_bits(9)] += 1;
  Histogram atom(2000, 0);
  atom[1000] = 500;
  atom[1001] = 500;
  Histogram few(2000, 0);
  few[7] = 3;
  few[1990] = 2;
  Histogram ends(2000, 0);
  ends.front() = 400;
  ends.back() = 400;
  return {{"spread", spread},
          {"atom", atom},
          {"few", few},
          {"ends", ends},
          {"none", Histogram(2000, 0)}};
}

// 1000 runs each of 5 data sets and 2 quantiles; each fails wrongly with probability below 1e-6.
TEST(QuantileChoice, IntervalsHoldAllExactQuantiles) {
  constexpr int kRuns = 1000;
  constexpr double kConfidence = 0.9;
  std::uint64_t seed = 410;
  for (const Data& data : data_sets()) {
    const auto leaves = test::leaves_of(data.histogram, 0);
    for (const Fraction fraction : {Fraction{1, 2}, Fraction{1, 20}}) {
      const double rank = target_rank(fraction, test::total_of(data.histogram));
      const test::StepPair exact = test::exact_steps(data.histogram, rank);
      const QuantileChoice choice{fraction, 5, 10};
      test::SeededSource bits(seed++);
      std::int64_t held = 0;
      for (int run = 0; run < kRuns; ++run) {
        const QuantileEstimate found =
            choose(choice, {0, 1999}, leaves, Confidence(kConfidence), bits);
        ASSERT_LE(found.lower, found.value);
        ASSERT_LE(found.value, found.upper);
        if (found.lower <= exact.least && exact.most <= found.upper) ++held;
      }
      EXPECT_GE(numeric::chance_upper_bound(held, kRuns, 1e-6), kConfidence) << data.name;
      if (std::string_view(data.name) != "spread" || fraction.denominator != 2) continue;
      // And it says something: 3000 values over 512 steps, ends about 110 ranks out.
      const QuantileEstimate found = choose(choice, {0, 1999}, leaves, Confidence(0.9), bits);
      EXPECT_LE(found.upper - found.lower, 120);
    }
  }
}

// False-alarm probability 1e-6 for each of 4.
TEST(QuantileChoice, ExtremesAreHeldFromInside) {
  constexpr int kRuns = 1000;
  std::uint64_t seed = 430;
  for (const Data& data : data_sets()) {
    if (test::total_of(data.histogram) == 0) continue;
    const auto leaves = test::leaves_of(data.histogram, 0);
    test::SeededSource bits(seed++);
    const std::int64_t rank = extreme_rank(4, 2000, Confidence(0.9));
    std::int64_t held = 0;
    for (int run = 0; run < kRuns; ++run) {
      const QuantileChoice least{ExtremeRank{Extreme::minimum, rank}, 4, 4};
      const QuantileChoice most{ExtremeRank{Extreme::maximum, rank}, 4, 4};
      const auto low = choose(least, {0, 1999}, leaves, Confidence(0.95), bits);
      const auto high = choose(most, {0, 1999}, leaves, Confidence(0.95), bits);
      EXPECT_EQ(low.lower, 0);
      EXPECT_EQ(high.upper, 1999);
      if (low.upper >= leaves.front().step && high.lower <= leaves.back().step) ++held;
    }
    EXPECT_GE(numeric::chance_upper_bound(held, kRuns, 1e-6), 0.9) << data.name;
  }
}

TEST(QuantileChoice, ErrorsAreBoundedAndTheBoundIsAttained) {
  // One step is right and all others as wrong as the bound: the chance is what was left.
  const double bound = rank_error(3, 1001, Confidence(0.95));
  const double missed = 1000 * std::exp(-bound / 3);
  EXPECT_NEAR(missed / (1 + missed), 0.05, 1e-9);
  EXPECT_EQ(rank_error(3, 1, Confidence(0.95)), 0);
  EXPECT_EQ(extreme_rank(0.01, 2, Confidence(0.5)), 1);
  EXPECT_NEAR(expected_rank_error(2, 1), 2, 1e-12);
  for (const Histogram& histogram : all_histograms(5, 6)) {
    const std::vector<double> law = value_law(histogram, Fraction{1, 2}, 0.8);
    double mean = 0;
    for (std::size_t i = 0; i < law.size(); ++i)
      mean += law[i] * test::rank_error_of(histogram, i, 3);
    EXPECT_LE(mean, expected_rank_error(0.8, 5));
  }
}

TEST(QuantileChoice, RoundTripsThroughJson) {
  for (const QuantileTarget& target : targets()) {
    for (const double bound_scale : {0.0, 2.5}) {
      const QuantileChoice choice{target, 1.25, bound_scale};
      QuantileChoice read;
      from_json(to_json(choice), read);
      EXPECT_EQ(read, choice);
      EXPECT_NE(describe(choice).find(to_string(target)), std::string::npos);
    }
  }
  QuantileChoice read;
  for (const char* text :
       {"{}", R"({"quantile_choice": {"target": "1/2", "scale": 1}})",
        R"({"quantile_choice": {"target": "2/2", "scale": 1, "bound_scale": 0}})",
        R"({"quantile_choice": {"target": "1/1000001", "scale": 1, "bound_scale": 0}})",
        R"({"quantile_choice": {"target": "minimum", "scale": 1, "bound_scale": 0}})",
        R"({"quantile_choice": {"target": "minimum 0", "scale": 1, "bound_scale": 0}})",
        R"({"quantile_choice": {"target": "1/2x", "scale": 1, "bound_scale": 0}})",
        R"({"quantile_choice": {"target": 0.5, "scale": 1, "bound_scale": 0}})",
        R"({"quantile_choice": {"target": "1/2", "scale": 0, "bound_scale": 0}})",
        R"({"quantile_choice": {"target": "1/2", "scale": 1, "bound_scale": -1}})"}) {
    try {
      from_json(text, read);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse_error) << text;
    }
  }
}

TEST(QuantileChoice, ReadsDecimalsAsTheyAreWritten) {
  EXPECT_EQ(fraction_of(0.5), (Fraction{1, 2}));
  EXPECT_EQ(fraction_of(0.1), (Fraction{1, 10}));
  EXPECT_EQ(fraction_of(0.999999), (Fraction{999999, 1000000}));
  for (const double bad : {0.0, 1.0, -0.5, 1e-7, 1.0 / 3, std::nan("")}) {
    EXPECT_THROW(fraction_of(bad), Error) << bad;
  }
}

TEST(QuantileChoice, RefusesContributionsOutOfRange) {
  for (const GroupContribution& bad : {GroupContribution{0, 1}, {1, 0}, {2, 1, true}}) {
    EXPECT_THROW(choice_epsilon(Fraction{1, 2}, 1, bad, kAddRemove), Error);
    EXPECT_THROW(privacy_event(QuantileChoice{Fraction{1, 2}, 1}, bad, kAddRemove), Error);
  }
  EXPECT_THROW(choice_scale(Fraction{1, 2}, Epsilon(0), {}, kAddRemove), Error);
  EXPECT_THROW(rank_error(1, 0, Confidence(0.9)), Error);
}

}  // namespace
}  // namespace shoal::mechanism
