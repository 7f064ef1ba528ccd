// Rotation-invariant noise as a mechanism: its density, its event, its bounds against known laws.
// The sampler's own tests are in tests/unit/random/norm_noise_test.cpp.
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/norm_noise.hpp>

#include <boost/math/special_functions/gamma.hpp>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

namespace shoal::mechanism {
namespace {

TEST(NormNoiseSpec, DensityIsTheKnownOneInLowDimensions) {
  const std::array<double, 1> line{-3};
  EXPECT_NEAR(log_density(NormNoise{2, 1}, line), std::log(std::exp(-1.5) / 4), 1e-12);
  const std::array<double, 2> plane{3, 4};
  EXPECT_NEAR(log_density(NormNoise{2, 2}, plane), -2.5 - std::log(8 * std::numbers::pi), 1e-12);
  // In three dimensions the integral is 8 pi s^3.
  const std::array<double, 3> space{2, -3, 6};
  EXPECT_NEAR(log_density(NormNoise{2, 3}, space), -3.5 - std::log(64 * std::numbers::pi), 1e-12);
  EXPECT_THROW(log_density(NormNoise{2, 3}, plane), Error);
}

TEST(NormNoiseSpec, DensityKeepsTheClaimOfItsEvent) {
  // |log density(b) - log density(b + v)| <= |v| / scale, with equality along b.
  const NormNoise spec{2.5, 3};
  const std::array<double, 3> b{4, 0, 3};
  const std::array<double, 3> along{8, 0, 6};
  EXPECT_NEAR(log_density(spec, b) - log_density(spec, along), 5 / 2.5, 1e-12);
  EXPECT_EQ(privacy_event(spec, 5), privacy::Event(privacy::event::Pure{2}));
}

TEST(NormNoiseSpec, EventIsRoundedUp) {
  const auto event =
      std::get<privacy::event::Pure>(privacy_event(NormNoise{3, 2}, 1).node()).epsilon;
  EXPECT_GT(std::fma(event, 3.0, -1.0), 0);
  EXPECT_NEAR(event, 1.0 / 3, 1.2e-16);
  EXPECT_THROW(privacy_event(NormNoise{3, 2}, -1), Error);
  EXPECT_THROW(privacy_event(NormNoise{3, 2}, std::nan("")), Error);
}

TEST(NormNoiseSpec, CalibrationMeetsEpsilonAndNotMore) {
  for (const double epsilon : {0.01, 0.3, 1.0, 17.0}) {
    const NormNoise spec = calibrate_norm_noise(1.4, 7, Epsilon(epsilon));
    const auto cost = std::get<privacy::event::Pure>(privacy_event(spec, 1.4).node()).epsilon;
    EXPECT_LE(cost, epsilon);
    EXPECT_GE(cost, epsilon * (1 - 1e-15));
    EXPECT_EQ(spec.dimension, 7);
  }
  EXPECT_THROW(calibrate_norm_noise(1, 7, Epsilon(0)), Error);
  EXPECT_THROW(calibrate_norm_noise(0, 7, Epsilon(1)), Error);
  EXPECT_THROW(calibrate_norm_noise(1, 0, Epsilon(1)), Error);
  EXPECT_THROW(calibrate_norm_noise(0x1p50, 2, Epsilon(0.5)), Error);
}

TEST(NormNoiseSpec, NormIntervalIsTheQuantileOfTheRadiusAndTheRounding) {
  for (const std::int64_t dimension : {1ll, 2ll, 10ll, 1000ll, 100000ll}) {
    for (const double confidence : {0.6, 0.95, 1 - 1e-9}) {
      const double w = norm_interval(NormNoise{1000, dimension}, Confidence(confidence));
      const auto shape = static_cast<double>(dimension);
      const double radius = (w - std::sqrt(shape) / 2) / 1000;
      const double tail = boost::math::gamma_q(shape, radius);
      EXPECT_LE(tail, (1 - confidence) * (1 + 1e-9)) << dimension;
      // Tight, unless the mean is already enough.
      if (radius > shape) {
        EXPECT_GE(tail, (1 - confidence) * 0.99) << dimension;
      }
    }
  }
  // Below the mean it says the mean.
  EXPECT_NEAR(norm_interval(NormNoise{1000, 4}, Confidence(0.1)), 4001, 1e-6);
}

TEST(NormNoiseSpec, CoordinateIntervalCoversAndIsExactOnTheLine) {
  for (const double confidence : {0.5, 0.95, 1 - 1e-6}) {
    const double alpha = 1 - confidence;
    const auto line =
        static_cast<double>(coordinate_interval(NormNoise{100, 1}, Confidence(confidence)));
    EXPECT_LE(std::exp(-(line + 0.5) / 100), alpha * (1 + 1e-9));
    EXPECT_GT(std::exp(-(line - 0.5) / 100), alpha);
    // In three dimensions P(|b_i| > w) = (1 + w / 2) e^-w for scale 1.
    const auto in_space =
        static_cast<double>(coordinate_interval(NormNoise{100, 3}, Confidence(confidence)));
    const double w = (in_space + 0.5) / 100;
    EXPECT_LE((1 + w / 2) * std::exp(-w), alpha);
    if (confidence >= 0.9) {
      EXPECT_GE((1 + w / 4) * std::exp(-w / 2), alpha) << "more than twice as wide as need be";
    }
  }
}

TEST(NormNoiseSpec, IntervalsCoverWhatIsDrawn) {
  // 2000 draws at 90 %: fewer than 1720 covered has probability below 10^-8 if the bounds hold.
  const NormNoise spec{40, 12};
  const Confidence confidence(0.9);
  const double norm = norm_interval(spec, confidence);
  const Int128 one = coordinate_interval(spec, confidence);
  const Int128 all = simultaneous_interval(spec, confidence);
  EXPECT_LT(one, all);
  EXPECT_LT(static_cast<double>(all), norm);
  test::SeededSource bits(80);
  int norm_covered = 0;
  int one_covered = 0;
  int all_covered = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::vector<Int128> noise = sample(spec, bits);
    ASSERT_EQ(noise.size(), 12u);
    double square = 0;
    Int128 largest = 0;
    for (const Int128 x : noise) {
      square += static_cast<double>(x) * static_cast<double>(x);
      largest = std::max(largest, x < 0 ? -x : x);
    }
    norm_covered += std::sqrt(square) <= norm;
    one_covered += noise[5] <= one && noise[5] >= -one;
    all_covered += largest <= all;
  }
  EXPECT_GE(norm_covered, 1720);
  EXPECT_LE(norm_covered, 1880);  // and the norm's is tight
  EXPECT_GE(one_covered, 1720);
  EXPECT_GE(all_covered, 1720);
}

TEST(NormNoiseSpec, RefusesParametersOutOfRange) {
  test::SeededSource bits(81);
  for (const NormNoise& spec : {NormNoise{0, 2}, NormNoise{1, 0}, NormNoise{0x1p51, 2},
                                NormNoise{std::nan(""), 2}, NormNoise{1, (1ll << 20) + 1}}) {
    EXPECT_THROW(validate(spec), Error);
    EXPECT_THROW(sample(spec, bits), Error);
    EXPECT_THROW(privacy_event(spec, 1), Error);
    EXPECT_THROW(norm_interval(spec, Confidence(0.9)), Error);
    EXPECT_THROW(coordinate_interval(spec, Confidence(0.9)), Error);
    EXPECT_THROW(simultaneous_interval(spec, Confidence(0.9)), Error);
  }
  EXPECT_EQ(name(NormNoise{}), "norm_noise");
  EXPECT_EQ(describe(NormNoise{2.5, 3}),
            "rotation-invariant noise in 3 dimensions, scale 2.5 grid steps");
}

}  // namespace
}  // namespace shoal::mechanism
