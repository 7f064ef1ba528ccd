// Clopper-Pearson bounds: their defining equations, summed exactly for small numbers of trials.
#include <shoal/base/error.hpp>
#include <shoal/numeric/binomial.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::numeric {
namespace {

double binomial_at_least(int successes, int trials, double chance) {
  double sum = 0;
  for (int k = successes; k <= trials; ++k) {
    sum += std::exp(std::lgamma(trials + 1) - std::lgamma(k + 1) - std::lgamma(trials - k + 1)) *
           std::pow(chance, k) * std::pow(1 - chance, trials - k);
  }
  return sum;
}

TEST(ChanceBounds, SolveTheirEquations) {
  for (const int trials : {1, 5, 40}) {
    for (int successes = 0; successes <= trials; ++successes) {
      for (const double alpha : {0.5, 0.05, 1e-6}) {
        const double low = chance_lower_bound(successes, trials, alpha);
        const double high = chance_upper_bound(successes, trials, alpha);
        EXPECT_LE(low, high);
        if (successes > 0) {
          EXPECT_NEAR(binomial_at_least(successes, trials, low) / alpha, 1, 1e-8);
        } else {
          EXPECT_EQ(low, 0);
        }
        if (successes < trials) {
          // At most that many successes are at least the rest of failures.
          EXPECT_NEAR(binomial_at_least(trials - successes, trials, 1 - high) / alpha, 1, 1e-8);
        } else {
          EXPECT_EQ(high, 1);
        }
      }
    }
  }
}

TEST(ChanceBounds, RefuseImpossibleCounts) {
  EXPECT_THROW(chance_lower_bound(3, 2, 0.1), Error);
  EXPECT_THROW(chance_lower_bound(-1, 2, 0.1), Error);
  EXPECT_THROW(chance_upper_bound(0, 0, 0.1), Error);
  EXPECT_THROW(chance_upper_bound(1, 2, 1.0), Error);
}

TEST(ChiSquareTail, KnowsTwoDegrees) {
  for (const double statistic : {0.0, 1.0, 30.0, 600.0}) {
    EXPECT_NEAR(chi_square_tail(statistic, 2) / std::exp(-statistic / 2), 1, 1e-12);
  }
  EXPECT_THROW(chi_square_tail(1, 0), Error);
}

}  // namespace
}  // namespace shoal::numeric
