// Intervals of groups that passed a threshold: exact coverage given that they passed, by summing
// the pmf.
#include <shoal/base/error.hpp>
#include <shoal/mechanism/discrete_gaussian.hpp>
#include <shoal/mechanism/discrete_laplace.hpp>
#include <shoal/mechanism/key_selection.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

namespace shoal::mechanism {
namespace {

struct Case {
  KeySelection selection;
  std::function<double(Int128)> log_pmf_of_noise;
  std::int64_t least;  // the smallest count that is shown
  std::int64_t reach;  // beyond it there is no noise to speak of
};

std::vector<Case> cases() {
  const auto laplace = [](double scale) {
    return [scale](Int128 x) { return log_pmf(DiscreteLaplace{scale}, x); };
  };
  const auto gaussian = [](double sigma) {
    return [sigma](Int128 x) { return log_pmf(DiscreteGaussian{sigma}, x); };
  };
  return {{LaplaceThreshold{1, 15}, laplace(1), 15, 40},
          {LaplaceThreshold{6, 80}, laplace(6), 80, 250},
          {LaplaceThreshold{0.4, 5, 10}, laplace(0.4), 14, 20},
          {GaussianThreshold{4.35, 23}, gaussian(4.35), 23, 60},
          {GaussianThreshold{9, 41, 5}, gaussian(9), 45, 120}};
}

using Interval = std::function<UnitInterval(std::int64_t)>;

// Given that a group of n units is shown, the chance that its interval holds n.
double coverage(const Case& c, std::int64_t n, const Interval& interval) {
  double shown = 0;
  double covered = 0;
  for (std::int64_t y = std::max(c.least, n - c.reach); y <= std::max(n, c.least) + c.reach; ++y) {
    const double mass = std::exp(c.log_pmf_of_noise(y - n));
    shown += mass;
    const UnitInterval found = interval(y);
    if (found.lower <= n && n <= found.upper) covered += mass;
  }
  return covered / shown;
}

Interval memoised(const Case& c, Confidence confidence) {
  auto known = std::make_shared<std::map<std::int64_t, UnitInterval>>();
  return [=, selection = c.selection](std::int64_t y) {
    const auto found = known->find(y);
    if (found != known->end()) return found->second;
    return known->emplace(y, survivor_interval(selection, y, confidence)).first->second;
  };
}

TEST(SurvivorInterval, CoversEverySizeGivenThatItIsShown) {
  for (const Case& c : cases()) {
    for (const double confidence : {0.5, 0.95, 0.999}) {
      const Interval interval = memoised(c, Confidence(confidence));
      for (std::int64_t n = min_units(c.selection); n <= c.least + c.reach; ++n) {
        ASSERT_GE(coverage(c, n, interval), confidence - 1e-9)
            << to_json(c.selection) << " " << confidence << " " << n;
      }
    }
  }
}

TEST(SurvivorInterval, IsNoWiderThanTheNoiseForLargeGroups) {
  for (const Case& c : cases()) {
    const std::int64_t n = c.least + c.reach;
    const Int128 width = std::visit(
        [](const auto& spec) -> Int128 {
          if constexpr (requires { spec.scale; }) {
            return error_interval(DiscreteLaplace{spec.scale}, Confidence(0.95));
          } else if constexpr (requires { spec.sigma; }) {
            return error_interval(DiscreteGaussian{spec.sigma}, Confidence(0.95));
          }
          return 0;
        },
        c.selection);
    const UnitInterval found = survivor_interval(c.selection, n, Confidence(0.95));
    EXPECT_LE(n - found.lower, width);
    EXPECT_LE(found.upper - n, width);
  }
}

// What one would say without the condition: it misses most small groups that made it.
TEST(SurvivorInterval, IsNeeded) {
  const Case c = cases()[0];
  const Int128 width = error_interval(DiscreteLaplace{1}, Confidence(0.95));
  const Interval naive = [&](std::int64_t y) { return UnitInterval{y - width, y + width}; };
  EXPECT_LT(coverage(c, 5, naive), 0.1);
}

TEST(SurvivorInterval, StaysAboveTheLeastGroupAndHoldsTheCount) {
  for (const Case& c : cases()) {
    for (std::int64_t y = c.least; y < c.least + 2 * c.reach; ++y) {
      const UnitInterval found = survivor_interval(c.selection, y, Confidence(0.9));
      ASSERT_GE(found.lower, min_units(c.selection));
      ASSERT_LE(found.lower, y);
      ASSERT_GE(found.upper, y);
    }
  }
}

TEST(SurvivorInterval, RefusesWhatWasNeverShown) {
  EXPECT_THROW(survivor_interval(LaplaceThreshold{1, 15}, 14, Confidence(0.95)), Error);
  EXPECT_NO_THROW(survivor_interval(LaplaceThreshold{1, 15}, 15, Confidence(0.95)));
  EXPECT_THROW(survivor_interval(LaplaceThreshold{1, 15}, kInt128Max, Confidence(0.95)), Error);
  EXPECT_THROW(survivor_interval(OptimalSelection{1, 1e-6}, 15, Confidence(0.95)), Error);
}

}  // namespace
}  // namespace shoal::mechanism
