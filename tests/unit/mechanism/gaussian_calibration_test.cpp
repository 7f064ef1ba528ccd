// The least Gaussian noise for an (epsilon, delta): enough, and the double below it is not; against
// independently computed values; beside the classic bound.
#include "support/golden.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/gaussian_calibration.hpp>
#include <shoal/numeric/gaussian_delta.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::mechanism {
namespace {

using numeric::discrete_gaussian_delta_up;
using numeric::gaussian_delta_up;

TEST(AnalyticGaussian, IsTheGoldenSigma) {
  int seen = 0;
  for (const std::vector<double>& row : test::read_golden("gaussian")) {
    if (row[0] != 2) continue;
    ++seen;
    const double sigma = analytic_gaussian_sigma(row[2], Epsilon(row[3]), Delta(row[4]));
    EXPECT_GE(sigma, row[1] * (1 - 2e-16)) << row[3] << ' ' << row[4];
    EXPECT_LE(sigma, row[1] * (1 + 1e-15)) << row[3] << ' ' << row[4];
  }
  EXPECT_EQ(seen, 11);
}

TEST(AnalyticGaussian, IsEnoughAndTheDoubleBelowIsNot) {
  for (const double epsilon : {0.0, 1e-9, 0.1, 1.0, 7.5, 300.0}) {
    for (const double delta : {0.9, 0.01, 1e-6, 1e-30, 1e-200}) {
      for (const double sensitivity : {1.0, 0.3, 12345.678}) {
        const double sigma = analytic_gaussian_sigma(sensitivity, Epsilon(epsilon), Delta(delta));
        EXPECT_LE(gaussian_delta_up(sigma, sensitivity, epsilon), delta);
        EXPECT_GT(gaussian_delta_up(std::nextafter(sigma, 0.0), sensitivity, epsilon), delta);
      }
    }
  }
}

TEST(DiscreteGaussian, IsEnoughAndTheDoubleBelowIsNot) {
  for (const long long steps : {1ll, 3ll, 50ll}) {
    for (const double epsilon : {0.5, 2.0}) {
      for (const double delta : {0.01, 1e-6}) {
        const double sigma =
            discrete_gaussian_sigma(Sensitivity(steps), Epsilon(epsilon), Delta(delta));
        EXPECT_LE(discrete_gaussian_delta_up(sigma, steps, epsilon), delta);
        EXPECT_GT(discrete_gaussian_delta_up(std::nextafter(sigma, 0.0), steps, epsilon), delta);
        // Not far from the continuous one.
        const double continuous =
            analytic_gaussian_sigma(static_cast<double>(steps), Epsilon(epsilon), Delta(delta));
        EXPECT_NEAR(sigma / continuous, 1, 0.05);
      }
    }
  }
}

TEST(DiscreteGaussian, IsCloseToTheContinuousOneOnAFineGrid) {
  const double fine = discrete_gaussian_sigma(Sensitivity(1ll << 30), Epsilon(1), Delta(1e-6));
  const double continuous = analytic_gaussian_sigma(0x1p30, Epsilon(1), Delta(1e-6));
  EXPECT_GE(fine, continuous);
  EXPECT_LE(fine, continuous * (1 + 1e-8));
}

TEST(ClassicGaussian, IsPrivateWhereItIsProvenAndWasteful) {
  for (const double epsilon : {0.01, 0.1, 0.5, 0.99}) {
    for (const double delta : {1e-3, 1e-6, 1e-10}) {
      const double classic = classic_gaussian_sigma(1, Epsilon(epsilon), Delta(delta));
      EXPECT_NEAR(classic, std::sqrt(2 * std::log(1.25 / delta)) / epsilon, 1e-12 * classic);
      EXPECT_LE(gaussian_delta_up(classic, 1, epsilon), delta);
      EXPECT_GT(classic, 1.05 * analytic_gaussian_sigma(1, Epsilon(epsilon), Delta(delta)));
    }
  }
}

TEST(ClassicGaussian, IsRefusedWhereItIsNotProven) {
  EXPECT_THROW(classic_gaussian_sigma(1, Epsilon(1), Delta(1e-6)), Error);
  EXPECT_THROW(classic_gaussian_sigma(1, Epsilon(0), Delta(1e-6)), Error);
  // And rightly so: there it is not private.
  const double formula = std::sqrt(2 * std::log(1.25 / 0.1)) / 8;
  EXPECT_GT(numeric::gaussian_delta_down(formula, 1, 8), 0.1);
}

TEST(Calibration, RefusesWhatNoNoiseCanDo) {
  EXPECT_THROW(analytic_gaussian_sigma(1, Epsilon(1), Delta(0)), Error);
  EXPECT_THROW(analytic_gaussian_sigma(0, Epsilon(1), Delta(0.1)), Error);
  EXPECT_THROW(analytic_gaussian_sigma(std::nan(""), Epsilon(1), Delta(0.1)), Error);
  EXPECT_THROW(discrete_gaussian_sigma(Sensitivity(1), Epsilon(1), Delta(0)), Error);
  EXPECT_THROW(discrete_gaussian_sigma(Sensitivity(1ll << 60), Epsilon(0.1), Delta(1e-9)), Error);
}

}  // namespace
}  // namespace shoal::mechanism
