// Mechanisms of bounded range: golden values, a scan over t for few steps, and the laws that the
// worst case must obey.
#include "support/formula_rows.hpp"

#include <shoal/base/error.hpp>
#include <shoal/privacy/bounded_range.hpp>
#include <shoal/privacy/composition.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace shoal::privacy {
namespace {

using test::expect_around;
using test::formula_rows;
using test::FormulaRow;

// The divergence of k generalised randomized responses with shifts of their own, by all 2^k
// outcomes.
double divergence_of(double epsilon, const std::vector<double>& shifts, double at) {
  double delta = 0;
  for (unsigned code = 0; code < (1u << shifts.size()); ++code) {
    double p = 1;
    double loss = 0;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      const double high = std::expm1(shifts[i] - epsilon) / std::expm1(-epsilon);
      const bool low = ((code >> i) & 1u) != 0;
      p *= low ? 1 - high : high;
      loss += low ? shifts[i] - epsilon : shifts[i];
    }
    if (loss > at) delta -= p * std::expm1(at - loss);
  }
  return delta;
}

TEST(BoundedRange, GoldenDeltas) {
  for (const FormulaRow& row : formula_rows("bounded_range_delta")) {
    expect_around(bounded_range_delta(Epsilon(row.first), row.count, row.at), row);
  }
}

TEST(BoundedRange, NoCommonShiftIsWorse) {
  for (const double epsilon : {0.2, 1.0, 4.0}) {
    for (const std::size_t count : {1u, 2u, 3u, 6u}) {
      for (const double share : {-0.4, 0.0, 0.1, 0.33, 0.5, 0.77, 0.95}) {
        const double at = share * epsilon * static_cast<double>(count);
        const Bounds bounds =
            bounded_range_delta(Epsilon(epsilon), static_cast<std::int64_t>(count), at);
        double best = 0;
        for (int step = 0; step <= 2000; ++step) {
          const double t = epsilon * step / 2000;
          best = std::max(best, divergence_of(epsilon, std::vector<double>(count, t), at));
        }
        ASSERT_LE(best, bounds.upper + 1e-14) << epsilon << ' ' << count << ' ' << at;
        // The scan comes close: the peak is smooth on both sides of a corner at worst.
        ASSERT_GE(best, bounds.lower - 1e-5) << epsilon << ' ' << count << ' ' << at;
      }
    }
  }
}

TEST(BoundedRange, NoMixedShiftsAreWorse) {
  const double epsilon = 1.5;
  for (const double at : {0.0, 0.4, 1.1, 2.5}) {
    const double upper = bounded_range_delta(Epsilon(epsilon), 3, at).upper;
    for (int a = 0; a <= 12; ++a) {
      for (int b = 0; b <= a; ++b) {
        for (int c = 0; c <= b; ++c) {
          const std::vector<double> shifts = {epsilon * a / 12, epsilon * b / 12, epsilon * c / 12};
          ASSERT_LE(divergence_of(epsilon, shifts, at), upper + 1e-14);
        }
      }
    }
  }
}

// Candidates are left out where a neighbour is certainly worse; a coarse scan over all t in exact
// sums must not find one that was left out wrongly. Many steps, so that most are left out.
TEST(BoundedRange, NothingIsLeftOutWrongly) {
  const double epsilon = 0.5;
  const int count = 60;
  for (const double at : {0.5, 2.0, 6.0, 15.0}) {
    const Bounds bounds = bounded_range_delta(Epsilon(epsilon), count, at);
    EXPECT_LT(bounds.upper - bounds.lower, 1e-13 * bounds.upper);
    double best = 0;
    for (int m = 0; m < count; ++m) {
      const double t = (at + (m + 1) * epsilon) / (count + 1);
      if (t > epsilon) break;
      const double high = std::expm1(t - epsilon) / std::expm1(-epsilon);
      double delta = 0;
      for (int i = 0; i <= count; ++i) {
        const double loss = count * t - i * epsilon;
        const double log_chance = std::lgamma(count + 1.0) - std::lgamma(i + 1.0) -
                                  std::lgamma(count - i + 1.0) + (count - i) * std::log(high) +
                                  i * std::log1p(-high);
        if (loss > at) delta -= std::exp(log_chance) * std::expm1(at - loss);
      }
      best = std::max(best, delta);
    }
    EXPECT_NEAR(best, bounds.lower, 1e-12 * best) << at;
    EXPECT_NEAR(best, bounds.upper, 1e-12 * best) << at;
  }
}

TEST(BoundedRange, OneStepIsTheProfile) {
  for (const double epsilon : {1e-9, 0.1, 1.0, 10.0, 700.0}) {
    for (const double share : {-1.5, -1.0, -0.3, 0.0, 0.2, 0.999, 1.0, 2.0}) {
      const double at = share * epsilon;
      const Bounds profile = bounded_range_profile(Epsilon(epsilon), at);
      const Bounds one = bounded_range_delta(Epsilon(epsilon), 1, at);
      ASSERT_LE(profile.lower, one.upper) << epsilon << ' ' << at;
      ASSERT_LE(one.lower, profile.upper) << epsilon << ' ' << at;
      ASSERT_LE(profile.upper - profile.lower, 1e-14 * profile.upper + 1e-320);
    }
  }
  EXPECT_LE(bounded_range_profile(Epsilon(1000), 0).upper, 1);
  // tanh(epsilon / 4) at 0: (1 - e^(-e/2))^2 / (1 - e^-e).
  EXPECT_NEAR(bounded_range_profile(Epsilon(2), 0).upper, std::tanh(0.5), 1e-15);
}

TEST(BoundedRange, NeverAbovePureAndMonotone) {
  const std::vector<double> epsilons = {0.01, 0.1, 0.5, 2};
  const std::vector<std::int64_t> counts = {1, 2, 5, 20, 200};
  const std::vector<double> at = {-0.5, 0, 0.02, 0.3, 1, 5};
  const auto delta = [&](std::size_t e, std::size_t k, std::size_t a) {
    return bounded_range_delta(Epsilon(epsilons[e]), counts[k], at[a]);
  };
  for (std::size_t e = 0; e < epsilons.size(); ++e) {
    for (std::size_t k = 0; k < counts.size(); ++k) {
      for (std::size_t a = 0; a < at.size(); ++a) {
        const Bounds here = delta(e, k, a);
        ASSERT_LE(here.lower, here.upper);
        ASSERT_LE(here.lower, optimal_composition_delta({epsilons[e], 0}, counts[k], at[a]).upper);
        if (e + 1 < epsilons.size()) {
          ASSERT_LE(here.lower, delta(e + 1, k, a).upper);
        }
        if (k + 1 < counts.size()) {
          ASSERT_LE(here.lower, delta(e, k + 1, a).upper);
        }
        if (a + 1 < at.size()) {
          ASSERT_GE(here.upper, delta(e, k, a + 1).lower);
        }
      }
    }
  }
}

TEST(BoundedRange, EpsilonAndDeltaAreInverse) {
  for (const double epsilon : {0.05, 1.0, 4.0}) {
    for (const std::int64_t count : {1, 10, 300}) {
      for (const double delta : {1e-9, 1e-3, 0.2}) {
        const Bounds bounds = bounded_range_epsilon(Epsilon(epsilon), count, Delta(delta));
        ASSERT_LE(bounds.lower, bounds.upper);
        ASSERT_LT(bounds.upper - bounds.lower, 1e-8 * (bounds.upper + 1e-300));
        ASSERT_LE(bounded_range_delta(Epsilon(epsilon), count, bounds.upper).upper, delta);
        ASSERT_LE(
            bounds.upper,
            optimal_composition_epsilon({epsilon, 0}, count, Delta(delta)).upper * (1 + 1e-9));
      }
    }
  }
}

TEST(BoundedRange, Corners) {
  EXPECT_EQ(bounded_range_delta(Epsilon(1), 0, 0), (Bounds{0, 0}));
  EXPECT_EQ(bounded_range_delta(Epsilon(0), 10, 0), (Bounds{0, 0}));
  EXPECT_EQ(bounded_range_delta(Epsilon(1), 5, 5), (Bounds{0, 0}));
  EXPECT_EQ(bounded_range_epsilon(Epsilon(1), 5, Delta(0)), (Bounds{5, 5}));
  EXPECT_EQ(bounded_range_epsilon(Epsilon(1), 0, Delta(0)), (Bounds{0, 0}));
  // So small that only Hoeffding's bound is left, and quickly.
  const Bounds tiny = bounded_range_delta(Epsilon(0.1), 100'000, 1500);
  EXPECT_EQ(tiny.lower, 0);
  EXPECT_LE(tiny.upper, 1e-323);
  const Bounds large = bounded_range_delta(Epsilon(700), 5, 1000);
  EXPECT_GT(large.lower, 0.999);
  EXPECT_LE(large.upper, 1);
}

TEST(BoundedRangeRenyi, GoldenValues) {
  for (const FormulaRow& row : formula_rows("bounded_range_renyi")) {
    test::expect_just_above(bounded_range_renyi_up(Epsilon(row.first), row.at), row);
  }
}

TEST(BoundedRangeRenyi, BetweenItsBounds) {
  for (const double epsilon : {1e-9, 1e-4, 0.1, 1.0, 20.0, 700.0, 1000.0}) {
    double last = 0;
    for (const double order : {1.0, 1.0 + 1e-9, 1.01, 2.0, 16.0, 1e4, 1e12}) {
      const double here = bounded_range_renyi_up(Epsilon(epsilon), order);
      ASSERT_FALSE(std::isnan(here)) << epsilon << ' ' << order;
      ASSERT_GE(here * (1 + 1e-6), last) << epsilon << ' ' << order;
      ASSERT_LE(here, epsilon);
      ASSERT_LE(here, order * epsilon * epsilon / 8 * (1 + 1e-14));
      last = here;
    }
  }
  EXPECT_EQ(bounded_range_renyi_up(Epsilon(2), std::numeric_limits<double>::infinity()), 2);
  EXPECT_EQ(bounded_range_renyi_up(Epsilon(0), 3), 0);
}

TEST(BoundedRange, RefusesBadInput) {
  EXPECT_THROW(bounded_range_delta(Epsilon(1), -1, 0), Error);
  EXPECT_THROW(bounded_range_delta(Epsilon(1), kMaxBoundedRangeCount + 1, 0), Error);
  EXPECT_THROW(bounded_range_delta(Epsilon(1), 1, std::nan("")), Error);
  EXPECT_THROW(bounded_range_profile(Epsilon(1), std::nan("")), Error);
  EXPECT_THROW(bounded_range_renyi_up(Epsilon(1), 0.5), Error);
  EXPECT_THROW(bounded_range_renyi_up(Epsilon(1), std::nan("")), Error);
}

}  // namespace
}  // namespace shoal::privacy
