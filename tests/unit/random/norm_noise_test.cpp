// Rotation-invariant noise: its law in one and two dimensions cell by cell, radius and direction in
// more, and the same with hardly any digits at first, so that every draw takes a second look.
//
// All tests are seeded: each either always passes or never. Over seeds, each comparison would fail
// once in a million.
#include "support/chi_square.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/random/norm_noise.hpp>

#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace shoal::random {
namespace {

constexpr FirstDigits kBoth[] = {FirstDigits::usual, FirstDigits::few};

double norm_of(const std::vector<Int128>& noise) {
  double norm = 0;
  for (const Int128 x : noise) norm = std::hypot(norm, static_cast<double>(x));
  return norm;
}

// Kolmogorov and Smirnov: sqrt(n) D exceeds 2.7 with probability below 2 e^(-2 2.7^2) < 10^-6.
void expect_uniform(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, (rank + 1) / n - values[i], values[i] - rank / n});
  }
  EXPECT_LT(std::sqrt(n) * distance, 2.7);
}

// `measure` of many draws must be uniform on [0, 1].
void expect_uniform(double scale, std::int64_t dimension, FirstDigits digits, int draws,
                    const std::function<double(const std::vector<Int128>&)>& measure) {
  test::SeededSource bits(70);
  std::vector<double> values;
  for (int i = 0; i < draws; ++i) {
    values.push_back(measure(sample_norm_noise(scale, dimension, bits, digits)));
  }
  expect_uniform(std::move(values));
}

TEST(NormNoise, IsRoundedLaplaceInOneDimension) {
  for (const FirstDigits digits : kBoth) {
    for (const double scale : {0.3, 2.5, 20.0}) {
      const auto log_pmf = [scale](Int128 x) {
        if (x == 0) return std::log(-std::expm1(-0.5 / scale));
        return std::log(std::sinh(0.5 / scale)) - std::fabs(static_cast<double>(x)) / scale;
      };
      test::SeededSource bits(71);
      const double p = test::chi_square_p_value(
          [&](BitSource& source) { return sample_norm_noise(scale, 1, source, digits)[0]; },
          log_pmf, static_cast<long long>(40 * scale) + 10, 30000, bits);
      EXPECT_GT(p, 1e-6) << scale;
    }
  }
}

// The chance of the cell of (x, y) in two dimensions; the kink at zero lies in a corner of
// quarters.
double cell_chance(double scale, int x, int y) {
  using Rule = boost::math::quadrature::gauss<double, 20>;
  const auto density = [scale](double a, double b) {
    return std::exp(-std::hypot(a, b) / scale) / (2 * std::numbers::pi * scale * scale);
  };
  double chance = 0;
  for (const double left : {x - 0.5, x + 0.0}) {
    for (const double low : {y - 0.5, y + 0.0}) {
      chance += Rule::integrate(
          [&](double a) {
            return Rule::integrate([&](double b) { return density(a, b); }, low, low + 0.5);
          },
          left, left + 0.5);
    }
  }
  return chance;
}

TEST(NormNoise, HasTheIdealChanceOfEveryCellInTwoDimensions) {
  constexpr int kReach = 12;
  constexpr int kSide = 2 * kReach + 1;
  const double scale = 0.8;
  for (const FirstDigits digits : kBoth) {
    test::SeededSource bits(72);
    // Cells are numbered through; what lies farther out has probability below 10^-5.
    const double p = test::chi_square_p_value(
        [&](BitSource& source) -> Int128 {
          const std::vector<Int128> noise = sample_norm_noise(scale, 2, source, digits);
          const Int128 x = std::clamp<Int128>(noise[0], -kReach, kReach);
          const Int128 y = std::clamp<Int128>(noise[1], -kReach, kReach);
          return kSide * x + y;
        },
        [&](Int128 cell) {
          const auto number = static_cast<int>(cell) + kSide * kReach + kReach;
          return std::log(cell_chance(scale, number / kSide - kReach, number % kSide - kReach));
        },
        kSide* kReach + kReach, 60000, bits);
    EXPECT_GT(p, 1e-6);
  }
}

TEST(NormNoise, RadiusIsASumOfExponentials) {
  // Rounding moves a radius by at most sqrt(d) / 2, nothing beside a scale of 10^6.
  const double scale = 1e6;
  for (const FirstDigits digits : kBoth) {
    for (const int dimension : {1, 2, 5, 30}) {
      expect_uniform(scale, dimension, digits, 3000, [&](const std::vector<Int128>& noise) {
        return boost::math::gamma_p(dimension, norm_of(noise) / scale);
      });
    }
  }
}

TEST(NormNoise, EveryDirectionIsAsLikely) {
  const double scale = 1e6;
  for (const FirstDigits digits : kBoth) {
    // In two dimensions the angle is uniform, in three each coordinate of the direction.
    expect_uniform(scale, 2, digits, 5000, [](const std::vector<Int128>& noise) {
      const double angle = std::atan2(static_cast<double>(noise[1]), static_cast<double>(noise[0]));
      return angle / (2 * std::numbers::pi) + 0.5;
    });
    for (const std::size_t axis : {0u, 1u, 2u}) {
      expect_uniform(scale, 3, digits, 5000, [axis](const std::vector<Int128>& noise) {
        return static_cast<double>(noise[axis]) / norm_of(noise) / 2 + 0.5;
      });
    }
  }
}

TEST(NormNoise, WorksAtBothEndsOfTheRange) {
  test::SeededSource bits(73);
  double total = 0;
  constexpr int kDraws = 200;
  for (int i = 0; i < kDraws; ++i) {
    EXPECT_EQ(sample_norm_noise(0x1p-10, 3, bits), (std::vector<Int128>{0, 0, 0}));
    total += norm_of(sample_norm_noise(0x1p50, 50, bits)) / 0x1p50;
  }
  // The radius has mean 50 and variance 50; six standard errors, a false alarm in 5e8.
  EXPECT_NEAR(total / kDraws, 50, 6 * std::sqrt(50.0 / kDraws));
}

TEST(NormNoise, RefusesParametersOutOfRange) {
  test::SeededSource bits(74);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double scale : {0.0, -1.0, nan, 0x1p-11, 0x1p51}) {
    EXPECT_THROW(sample_norm_noise(scale, 2, bits), Error);
  }
  EXPECT_THROW(sample_norm_noise(1, 0, bits), Error);
  EXPECT_THROW(sample_norm_noise(1, -1, bits), Error);
  EXPECT_THROW(sample_norm_noise(1, kMaxNormDimension + 1, bits), Error);
}

}  // namespace
}  // namespace shoal::random
