// Composition theorems: golden values, an enumeration of all answers for few steps, and laws that
// hold between the theorems.
#include "support/formula_rows.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/int128.hpp>
#include <shoal/privacy/composition.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace shoal::privacy {
namespace {

using test::expect_around;
using test::expect_just_above;
using test::formula_rows;
using test::FormulaRow;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double relative_width(const Bounds& bounds) {
  return bounds.upper == 0 ? 0 : (bounds.upper - bounds.lower) / bounds.upper;
}

// The hockey-stick divergence of k leaky randomized responses, by walking through all 4^k pairs of
// (leaked or not, truth or lie): nothing of the closed form.
double enumerated_delta(const Guarantee& step, int count, double epsilon) {
  const double truth = 1 / (1 + std::exp(-step.epsilon));
  const std::array<std::array<double, 2>, 4> answers = {
      {{step.delta, 0},
       {0, step.delta},
       {(1 - step.delta) * truth, (1 - step.delta) * (1 - truth)},
       {(1 - step.delta) * (1 - truth), (1 - step.delta) * truth}}};
  double delta = 0;
  const long total = 1L << (2 * count);
  for (long code = 0; code < total; ++code) {
    double p = 1;
    double q = 1;
    for (int i = 0; i < count; ++i) {
      const auto& answer = answers[static_cast<std::size_t>((code >> (2 * i)) & 3)];
      p *= answer[0];
      q *= answer[1];
    }
    delta += std::max(0.0, p - std::exp(epsilon) * q);
  }
  return delta;
}

TEST(OptimalComposition, GoldenDeltas) {
  for (const FormulaRow& row : formula_rows("optimal_delta")) {
    const Bounds bounds = optimal_composition_delta({row.first, row.second}, row.count, row.at);
    expect_around(bounds, row);
    EXPECT_LT(relative_width(bounds), 1e-13) << row.name;
    const Bounds logs = optimal_composition_log_delta({row.first, row.second}, row.count, row.at);
    EXPECT_LE(logs.lower, std::log(row.value) + 2e-12) << row.name;
    EXPECT_GE(logs.upper, std::log(row.value) - 2e-12) << row.name;
    EXPECT_LT(logs.upper - logs.lower, 1e-11) << row.name;
  }
}

TEST(OptimalComposition, GoldenEpsilons) {
  for (const FormulaRow& row : formula_rows("optimal_epsilon")) {
    expect_around(optimal_composition_epsilon({row.first, row.second}, row.count, Delta(row.at)),
                  row);
  }
}

TEST(OptimalComposition, AgreesWithEnumeration) {
  for (const double epsilon0 : {0.0, 0.3, 1.0, 2.5}) {
    for (const double delta0 : {0.0, 1e-3, 0.3}) {
      for (int count = 0; count <= 6; ++count) {
        for (const double epsilon : {-3.0, -0.7, 0.0, 0.2999, 0.3, 0.9, 1.0, 2.0, 4.1, 9.0, 20.0}) {
          const Guarantee step{epsilon0, delta0};
          const double expected = enumerated_delta(step, count, epsilon);
          const Bounds bounds = optimal_composition_delta(step, count, epsilon);
          ASSERT_LE(bounds.lower, bounds.upper);
          ASSERT_NEAR(bounds.lower, expected, 1e-13) << epsilon0 << ' ' << delta0 << ' ' << count;
          ASSERT_NEAR(bounds.upper, expected, 1e-13) << epsilon0 << ' ' << delta0 << ' ' << count;
        }
      }
    }
  }
}

TEST(OptimalComposition, OneStepIsTheStepItself) {
  for (const double epsilon0 : {1e-9, 0.5, 3.0, 700.0}) {
    for (const double delta0 : {0.0, 1e-6, 0.25}) {
      const Bounds epsilon = optimal_composition_epsilon({epsilon0, delta0}, 1, Delta(delta0));
      EXPECT_EQ(epsilon, (Bounds{epsilon0, epsilon0}));
      const Bounds delta = optimal_composition_delta({epsilon0, delta0}, 1, epsilon0);
      EXPECT_EQ(delta, (Bounds{delta0, delta0}));
    }
  }
}

TEST(OptimalComposition, EpsilonAndDeltaAreInverse) {
  for (const double epsilon0 : {1e-3, 0.1, 1.0, 5.0}) {
    for (const std::int64_t count : {1, 7, 100, 2500}) {
      for (const double delta : {1e-300, 1e-30, 1e-6, 0.01, 0.5, 0.999}) {
        const Guarantee step{epsilon0, 0};
        const Bounds epsilon = optimal_composition_epsilon(step, count, Delta(delta));
        ASSERT_LE(epsilon.lower, epsilon.upper);
        ASSERT_LT(epsilon.upper - epsilon.lower, 1e-13 * (1 + epsilon.upper));
        ASSERT_LE(optimal_composition_delta(step, count, epsilon.upper).lower, delta);
        if (epsilon.lower > 0) {
          ASSERT_GE(optimal_composition_delta(step, count, epsilon.lower).upper, delta);
        }
        const Bounds by_log =
            optimal_composition_epsilon_at_log_delta(step, count, std::log(delta));
        ASSERT_NEAR(by_log.upper, epsilon.upper, 1e-12 * (1 + epsilon.upper));
      }
    }
  }
}

TEST(OptimalComposition, MonotoneInEveryArgument) {
  const std::array<double, 6> epsilons = {0.01, 0.1, 0.11, 0.5, 1, 3};
  const std::array<double, 5> deltas = {0, 1e-12, 1e-4, 0.01, 0.3};
  const std::array<std::int64_t, 6> counts = {1, 2, 3, 10, 40, 41};
  const std::array<double, 7> at = {-1, 0, 0.05, 0.3, 1, 4, 20};
  const auto upper = [&](std::size_t e, std::size_t d, std::size_t k, std::size_t a) {
    return optimal_composition_delta({epsilons[e], deltas[d]}, counts[k], at[a]).upper;
  };
  const auto lower = [&](std::size_t e, std::size_t d, std::size_t k, std::size_t a) {
    return optimal_composition_delta({epsilons[e], deltas[d]}, counts[k], at[a]).lower;
  };
  for (std::size_t e = 0; e < epsilons.size(); ++e) {
    for (std::size_t d = 0; d < deltas.size(); ++d) {
      for (std::size_t k = 0; k < counts.size(); ++k) {
        for (std::size_t a = 0; a < at.size(); ++a) {
          const double here = lower(e, d, k, a);
          ASSERT_GE(here, 0);
          ASSERT_LE(upper(e, d, k, a), 1);
          if (e + 1 < epsilons.size()) {
            ASSERT_LE(here, upper(e + 1, d, k, a));
          }
          if (d + 1 < deltas.size()) {
            ASSERT_LE(here, upper(e, d + 1, k, a));
          }
          if (k + 1 < counts.size()) {
            ASSERT_LE(here, upper(e, d, k + 1, a));
          }
          if (a + 1 < at.size()) {
            ASSERT_GE(upper(e, d, k, a), lower(e, d, k, a + 1));
          }
        }
      }
    }
  }
}

TEST(OptimalComposition, Corners) {
  EXPECT_EQ(optimal_composition_delta({1, 0.5}, 0, 0), (Bounds{0, 0}));
  EXPECT_EQ(optimal_composition_epsilon({1, 0.5}, 0, Delta(0)), (Bounds{0, 0}));
  EXPECT_EQ(optimal_composition_delta({0, 0}, 100, 0), (Bounds{0, 0}));
  EXPECT_EQ(optimal_composition_epsilon({0, 0}, 100, Delta(0)), (Bounds{0, 0}));
  EXPECT_EQ(optimal_composition_delta({1, 1}, 3, 5), (Bounds{1, 1}));
  EXPECT_EQ(optimal_composition_epsilon({1, 1}, 3, Delta(0.5)), (Bounds{kInfinity, kInfinity}));
  EXPECT_EQ(optimal_composition_delta({0.5, 0}, 4, 2), (Bounds{0, 0}));
  EXPECT_EQ(optimal_composition_log_delta({0.5, 0}, 4, 2), (Bounds{-kInfinity, -kInfinity}));
  EXPECT_EQ(optimal_composition_epsilon({0.5, 0}, 4, Delta(0)), (Bounds{2, 2}));
  // Beyond k epsilon only the leaks are left: 1 - (1 - 1/4)^2 = 7/16.
  const Bounds leaks = optimal_composition_delta({0.5, 0.25}, 2, 50);
  EXPECT_NEAR(leaks.lower, 0.4375, 1e-15);
  EXPECT_NEAR(leaks.upper, 0.4375, 1e-15);
  // No epsilon is large enough for a delta below them.
  EXPECT_EQ(optimal_composition_epsilon({0.5, 0.25}, 2, Delta(0.43)).lower, kInfinity);
  EXPECT_LE(optimal_composition_epsilon({0.5, 0.25}, 2, Delta(0.44)).upper, 1);
}

// a^2 = -7 modulo 2^53, so with one leak of chance 1/2 - a 2^-53 two leak with chance 7 2^-106 more
// than the double below: too close for the ranges to tell, and no epsilon is enough.
TEST(OptimalComposition, ADeltaJustShortOfTheLeaks) {
  const std::int64_t a = 3171663217114955;
  const auto square = static_cast<UInt128>(a) * static_cast<UInt128>(a) + 7;
  const auto n = static_cast<std::int64_t>(square >> 53);
  ASSERT_EQ(static_cast<std::int64_t>(square & ((std::int64_t{1} << 53) - 1)), 0);
  const double leak = std::ldexp(static_cast<double>((std::int64_t{1} << 52) - a), -53);
  const double short_of = std::ldexp(static_cast<double>((std::int64_t{3} << 51) - a - n), -53);
  EXPECT_EQ(optimal_composition_epsilon({0.5, leak}, 2, Delta(short_of)).upper, kInfinity);
  const double enough = std::nextafter(short_of, 1.0);
  EXPECT_LE(optimal_composition_epsilon({0.5, leak}, 2, Delta(enough)).upper, 1);
}

TEST(OptimalComposition, ExtremesAreFiniteAndTight) {
  struct Case {
    double epsilon0;
    std::int64_t count;
    double delta;
  };
  for (const Case& c : {Case{1e-3, 10'000'000, 1e-300}, Case{1e-9, 10'000'000, 1e-9},
                        Case{700, 10'000'000, 1e-6}, Case{0.1, 10'000'000, 1e-6}}) {
    const Bounds epsilon = optimal_composition_epsilon({c.epsilon0, 0}, c.count, Delta(c.delta));
    EXPECT_GT(epsilon.lower, 0);
    EXPECT_LT(relative_width(epsilon), 1e-11) << c.epsilon0;
    const Bounds delta = optimal_composition_delta({c.epsilon0, 0}, c.count, epsilon.upper);
    EXPECT_LE(delta.lower, c.delta);
    EXPECT_FALSE(std::isnan(delta.upper));
    EXPECT_LT(relative_width(delta), 1e-10) << c.epsilon0;
  }
  // Far beyond the doubles: three routes to the same logarithm. At epsilon between k - 2 and k
  // steps, delta = p^k (1 - e^(epsilon - k epsilon0)).
  const Bounds far = optimal_composition_log_delta({0.5, 0}, 100'000, 49'999.5);
  const double expected = -100'000 * std::log1p(std::exp(-0.5)) + std::log(-std::expm1(-0.5));
  EXPECT_NEAR(far.lower, expected, 1e-6);
  EXPECT_NEAR(far.upper, expected, 1e-6);
  const Bounds back = optimal_composition_epsilon_at_log_delta({0.5, 0}, 1000, -300);
  const Bounds again = optimal_composition_log_delta({0.5, 0}, 1000, back.upper);
  EXPECT_NEAR(again.upper, -300, 1e-9);
  // A billion steps, so deep that only the exponent is bounded.
  const Bounds deep = optimal_composition_log_delta({0.001, 0}, 1'000'000'000, 500'000);
  EXPECT_LT(deep.upper, -500'000);
}

TEST(NamedComposition, GoldenValues) {
  for (const FormulaRow& row : formula_rows("advanced")) {
    const Guarantee total = advanced_composition_up({row.first, row.second}, row.count, row.at);
    EXPECT_NEAR(total.epsilon, row.value, row.tolerance * row.value) << row.name;
    EXPECT_GE(total.delta, row.at);
  }
  for (const FormulaRow& row : formula_rows("dwork_rothblum_vadhan")) {
    expect_just_above(dwork_rothblum_vadhan_up({row.first, row.second}, row.count, row.at).epsilon,
                      row);
  }
}

TEST(NamedComposition, TheLectureExample) {
  const Guarantee total = advanced_composition_up({1.0 / 1000, 0}, 500, 1e-6);
  EXPECT_EQ(std::round(total.epsilon * 1000), 118);
  EXPECT_NEAR(basic_composition_up({1.0 / 1000, 0}, 500).epsilon, 0.5, 1e-15);
}

// Optimal <= simplified <= advanced <= Dwork-Rothblum-Vadhan, at the delta that each states.
TEST(NamedComposition, TheOrderOfTheTheorems) {
  for (const double epsilon0 : {1e-4, 0.01, 0.1, 0.5, 1.0, 3.0}) {
    for (const double delta0 : {0.0, 1e-9, 1e-4}) {
      for (const std::int64_t count : {1, 2, 10, 100, 1000}) {
        for (const double slack : {1e-12, 1e-6, 0.01}) {
          const Guarantee step{epsilon0, delta0};
          const Guarantee simplified = simplified_optimal_composition_up(step, count, slack);
          const Guarantee advanced = advanced_composition_up(step, count, slack);
          const Guarantee first = dwork_rothblum_vadhan_up(step, count, slack);
          ASSERT_LE(simplified.epsilon, advanced.epsilon);
          ASSERT_LE(simplified.delta, advanced.delta);
          ASSERT_LE(advanced.epsilon, first.epsilon);
          ASSERT_EQ(advanced.delta, first.delta);
          ASSERT_LE(simplified.epsilon, basic_composition_up(step, count).epsilon);
          const Bounds optimal = optimal_composition_epsilon(step, count, Delta(simplified.delta));
          ASSERT_LE(optimal.upper, simplified.epsilon * (1 + 1e-14))
              << epsilon0 << ' ' << delta0 << ' ' << count << ' ' << slack;
        }
      }
    }
  }
}

TEST(NamedComposition, BasicAddsUp) {
  const std::array<Guarantee, 3> steps = {Guarantee{0.1, 1e-6}, Guarantee{0.25, 0},
                                          Guarantee{1, 0.75}};
  const Guarantee total = basic_composition_up(steps);
  EXPECT_NEAR(total.epsilon, 1.35, 1e-15);
  EXPECT_GE(total.epsilon, 1.35);
  EXPECT_NEAR(total.delta, 0.750001, 1e-15);
  EXPECT_EQ(basic_composition_up({0.5, 0.3}, 4), (Guarantee{2, 1}));
  EXPECT_EQ(basic_composition_up({0.5, 0.3}, 0), (Guarantee{0, 0}));
}

TEST(GroupPrivacy, OfGuarantees) {
  const Guarantee group = group_privacy_up({0.5, 1e-6}, 3);
  EXPECT_EQ(group.epsilon, 1.5);
  // 1 + e^0.5 + e^1.
  EXPECT_NEAR(group.delta, 1e-6 * (1 + std::exp(0.5) + std::exp(1.0)), 1e-19);
  EXPECT_EQ(group_privacy_up({0.5, 1e-6}, 1), (Guarantee{0.5, 1e-6}));
  EXPECT_EQ(group_privacy_up({0, 0.125}, 4), (Guarantee{0, 0.5}));
  EXPECT_EQ(group_privacy_up({700, 1e-300}, 100), (Guarantee{70'000, 1}));
  EXPECT_EQ(group_privacy_up({1, 0}, 1000), (Guarantee{1000, 0}));
}

TEST(GroupPrivacy, OfProfiles) {
  // Randomized response: two people's answers, both turned round, leak at most what this says.
  const auto profile = [](double epsilon) {
    return optimal_composition_delta({1, 0}, 1, epsilon).upper;
  };
  for (const double epsilon : {0.0, 0.5, 1.0, 1.9, 2.0, 3.0}) {
    const double group = group_delta_up(profile, epsilon, 2);
    EXPECT_GE(group, optimal_composition_delta({1, 0}, 2, epsilon).lower - 1e-15) << epsilon;
    EXPECT_LE(group, 1);
  }
  EXPECT_EQ(group_delta_up(profile, 2, 2), 0);
  EXPECT_EQ(group_delta_up(profile, 0.3, 1), profile(0.3));
  EXPECT_EQ(group_zcdp_up(Rho(0.5), 3).value(), 4.5);
  EXPECT_EQ(group_gdp_up(0.5, 3), 1.5);
}

TEST(Composition, RefusesBadInput) {
  const auto refused = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  const double nan = std::nan("");
  for (const Guarantee& bad : {Guarantee{-1, 0}, Guarantee{nan, 0}, Guarantee{1001, 0},
                               Guarantee{1, -0.1}, Guarantee{1, 1.1}, Guarantee{1, nan}}) {
    EXPECT_TRUE(refused([&] { basic_composition_up(bad, 2); }));
    EXPECT_TRUE(refused([&] { advanced_composition_up(bad, 2, 0.1); }));
    EXPECT_TRUE(refused([&] { optimal_composition_delta(bad, 2, 1); }));
    EXPECT_TRUE(refused([&] { optimal_composition_epsilon(bad, 2, Delta(0.1)); }));
    EXPECT_TRUE(refused([&] { group_privacy_up(bad, 2); }));
  }
  EXPECT_TRUE(refused([&] { optimal_composition_delta({1, 0}, -1, 1); }));
  EXPECT_TRUE(refused([&] { optimal_composition_delta({1, 0}, kMaxCount + 1, 1); }));
  EXPECT_TRUE(refused([&] { optimal_composition_delta({1, 0}, 1, nan); }));
  EXPECT_TRUE(refused([&] { optimal_composition_delta({1, 0}, 1, kInfinity); }));
  EXPECT_TRUE(refused([&] { optimal_composition_epsilon_at_log_delta({1, 0}, 1, 0); }));
  EXPECT_TRUE(refused([&] { optimal_composition_epsilon_at_log_delta({1, 0}, 1, -1e6); }));
  EXPECT_TRUE(refused([&] { advanced_composition_up({1, 0}, 2, 0); }));
  EXPECT_TRUE(refused([&] { dwork_rothblum_vadhan_up({1, 0}, 2, 1); }));
  EXPECT_TRUE(refused([&] { group_privacy_up({1, 0}, 0); }));
  EXPECT_TRUE(refused([&] { group_gdp_up(-1, 2); }));
  EXPECT_TRUE(refused([&] { group_delta_up([](double) { return 0.0; }, -1, 2); }));
  EXPECT_TRUE(refused([&] { group_delta_up([](double) { return -1.0; }, 1, 2); }));
}

}  // namespace
}  // namespace shoal::privacy
