#include "learn/logistic_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace shoal::learn {
namespace {

// Many places from 0 to 700, dense where predictions are.
std::vector<double> places() {
  std::vector<double> result;
  for (int i = 0; i < 200000; ++i) result.push_back(i * 0x1.0624dd2f1a9fcp-13);
  for (int i = 0; i < 20000; ++i) result.push_back(i * 0.035);
  // Halfway between two powers of two, where the reduced argument is largest.
  for (int n = 0; n < 1000; ++n) {
    const double middle = (n + 0.5) * 0.69314718055994530942;
    for (const double t : {std::nextafter(middle, 0.0), middle, std::nextafter(middle, 800.0)})
      result.push_back(t);
  }
  return result;
}

TEST(LogisticKernel, ExponentialIsWithinItsBound) {
  double worst = 0;
  for (const double t : places()) {
    const long double truth = std::exp(-static_cast<long double>(t));
    const double off =
        static_cast<double>(std::fabs((static_cast<long double>(exp_of_minus(t)) - truth) / truth));
    worst = std::max(worst, off);
  }
  EXPECT_LE(worst, 6 * 0x1p-53);
  EXPECT_EQ(exp_of_minus(0), 1);
  EXPECT_EQ(exp_of_minus(1e300), exp_of_minus(700));
  EXPECT_LT(exp_of_minus(700), 1e-303);
}

// By scalar code that has the same operations: what vectors give must not differ in a bit.
TEST(LogisticKernel, VectorsGiveWhatOneNumberGives) {
  const std::vector<double> t = places();
  for (const std::size_t count : {t.size(), std::size_t{128}, std::size_t{5}, std::size_t{1}}) {
    std::vector<double> slopes;
    std::vector<double> labels;
    for (std::size_t i = 0; i < count; ++i) {
      slopes.push_back(i % 3 == 0 ? -t[i] : t[i]);
      labels.push_back(i % 2 == 0 ? 1 : -1);
    }
    std::vector<double> curvatures = slopes;
    const std::vector<double> z = slopes;
    logistic_slopes(slopes.data(), labels.data(), count);
    logistic_curvatures(curvatures.data(), labels.data(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const double margin = labels[i] * z[i];
      const double small = exp_of_minus(std::fabs(margin));
      ASSERT_EQ(slopes[i], -labels[i] * ((margin > 0 ? small : 1) / (1 + small))) << z[i];
      const double inverse = 1 / (1 + small);
      ASSERT_EQ(curvatures[i], small * inverse * inverse) << z[i];
    }
  }
}

TEST(LogisticKernel, SlopesAndCurvaturesAreRight) {
  std::vector<double> z;
  std::vector<double> y;
  for (int i = -4000; i <= 4000; ++i) {
    z.push_back(i * 0.0123);
    y.push_back(i % 2 == 0 ? 1 : -1);
  }
  std::vector<double> slopes = z;
  std::vector<double> curvatures = z;
  logistic_slopes(slopes.data(), y.data(), z.size());
  logistic_curvatures(curvatures.data(), y.data(), z.size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    const long double margin = static_cast<long double>(y[i]) * z[i];
    const long double wrong = 1 / (1 + std::exp(margin));
    EXPECT_NEAR(slopes[i], static_cast<double>(-y[i] * wrong), 16 * 0x1p-53) << z[i];
    EXPECT_NEAR(curvatures[i], static_cast<double>(wrong * (1 - wrong)), 16 * 0x1p-53) << z[i];
  }
}

}  // namespace
}  // namespace shoal::learn
