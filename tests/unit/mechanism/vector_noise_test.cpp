// Noise for vectors: how norms follow from each other, what noise and event they lead to, that
// noise is drawn before values are seen, and the bounds on its size.
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/vector_noise.hpp>
#include <shoal/numeric/gaussian_delta.hpp>

#include <boost/math/special_functions/gamma.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace shoal::mechanism {
namespace {

std::vector<AnyMechanism> every_kind(double scale) {
  return {DiscreteLaplace{scale}, DiscreteGaussian{scale}, RoundedLaplace{scale},
          RoundedGaussian{scale}};
}

TEST(VectorSensitivity, FollowsFromOneNorm) {
  const VectorSensitivity l1 = VectorSensitivity::from_l1(Sensitivity(6), 100);
  EXPECT_EQ(l1.l1(), 6);
  EXPECT_EQ(l1.l2(), 6);
  EXPECT_EQ(l1.linf(), 6);
  const VectorSensitivity linf = VectorSensitivity::from_linf(Sensitivity(3), 100);
  EXPECT_EQ(linf.l1(), 300);
  EXPECT_EQ(linf.l2(), 30);
  EXPECT_EQ(linf.linf(), 3);
  const VectorSensitivity l2 = VectorSensitivity::from_l2(30.5, 100);
  EXPECT_EQ(l2.l1(), 305);
  EXPECT_EQ(l2.l2(), 30.5);
  EXPECT_EQ(l2.linf(), 30);
  // Of integers no more than L2^2 can differ from zero.
  EXPECT_EQ(VectorSensitivity::from_l2(2.5, 100).l1(), 6);
  EXPECT_EQ(VectorSensitivity::from_l2(1, 100).l1(), 1);
}

TEST(VectorSensitivity, IsRoundedUp) {
  const VectorSensitivity linf = VectorSensitivity::from_linf(Sensitivity(1), 2);
  EXPECT_GE(linf.l2() * linf.l2(), 2);
  EXPECT_NEAR(linf.l2(), std::sqrt(2.0), 1e-15);
  const VectorSensitivity odd = VectorSensitivity::from_l1(Sensitivity((1ll << 53) + 1), 2);
  EXPECT_EQ(odd.l1(), 0x1p53 + 2);
  const double root = std::sqrt(3.0);
  for (const double norm : {1e10, 1.1e10 / 7, root}) {
    EXPECT_LE(static_cast<long double>(norm) * std::sqrt(3.0L) - 1,
              static_cast<long double>(VectorSensitivity::from_l2(norm, 3).l1()));
  }
}

TEST(VectorSensitivity, TwoNormsSayMoreThanOne) {
  // One row of a histogram is replaced: one cell loses one, another gains one.
  const VectorSensitivity both = VectorSensitivity::from_l1(Sensitivity(2), 50)
                                     .and_also(VectorSensitivity::from_linf(Sensitivity(1), 50));
  EXPECT_EQ(both.l1(), 2);
  EXPECT_EQ(both.linf(), 1);
  EXPECT_NEAR(both.l2(), std::sqrt(2.0), 1e-15);
  EXPECT_GE(both.l2() * both.l2(), 2);
  EXPECT_EQ(both.dimension(), 50);
  EXPECT_THROW(both.and_also(VectorSensitivity::from_l1(Sensitivity(1), 49)), Error);
}

TEST(VectorSensitivity, RefusesWhatIsNone) {
  EXPECT_THROW(VectorSensitivity::from_l1(Sensitivity(1), 0), Error);
  EXPECT_THROW(VectorSensitivity::from_linf(Sensitivity(1), kMaxVectorDimension + 1), Error);
  for (const double norm :
       {0.0, 0.5, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(VectorSensitivity::from_l2(norm, 3), Error) << norm;
  }
}

TEST(VectorNoise, EventsAreThoseOfTheWholeVector) {
  const VectorSensitivity sensitivity =
      VectorSensitivity::from_l1(Sensitivity(8), 100)
          .and_also(VectorSensitivity::from_linf(Sensitivity(2), 100));  // L2 is 4
  EXPECT_EQ(vector_event(DiscreteLaplace{16}, sensitivity),
            privacy::Event(privacy::event::Pure{0.5}));
  EXPECT_EQ(vector_event(RoundedLaplace{16}, sensitivity),
            privacy::Event(privacy::event::Pure{0.5}));
  EXPECT_EQ(vector_event(DiscreteGaussian{8}, sensitivity),
            privacy::Event(privacy::event::Zcdp{0.125}));
  EXPECT_EQ(vector_event(RoundedGaussian{8}, sensitivity),
            privacy::Event(privacy::event::Gaussian{8, 4}));
  EXPECT_THROW(vector_event(RoundedGaussian{0}, sensitivity), Error);
}

TEST(VectorNoise, CalibrationMeetsWhatWasAskedAndNotMore) {
  for (const std::int64_t dimension : {1ll, 7ll, 10000ll}) {
    const VectorSensitivity sensitivity = VectorSensitivity::from_linf(Sensitivity(3), dimension);
    for (const double amount : {0.01, 0.3, 1.0, 5.0}) {
      const DiscreteLaplace laplace = calibrate_laplace(sensitivity, Epsilon(amount));
      const auto pure = vector_event(laplace, sensitivity).node();
      EXPECT_LE(std::get<privacy::event::Pure>(pure).epsilon, amount);
      EXPECT_GE(std::get<privacy::event::Pure>(pure).epsilon, amount * (1 - 1e-14));
      const DiscreteGaussian concentrated = calibrate_zcdp(sensitivity, Rho(amount));
      const auto zcdp = vector_event(concentrated, sensitivity).node();
      EXPECT_LE(std::get<privacy::event::Zcdp>(zcdp).rho, amount);
      EXPECT_GE(std::get<privacy::event::Zcdp>(zcdp).rho, amount * (1 - 1e-14));
      const RoundedGaussian gaussian =
          calibrate_gaussian(sensitivity, Epsilon(amount), Delta(1e-6));
      EXPECT_LE(numeric::gaussian_delta_up(gaussian.sigma, sensitivity.l2(), amount), 1e-6);
      EXPECT_GT(numeric::gaussian_delta_up(gaussian.sigma * (1 - 1e-14), sensitivity.l2(), amount),
                1e-6);
    }
  }
}

TEST(VectorNoise, CalibrationRefusesWhatNoNoiseCanDo) {
  const VectorSensitivity sensitivity = VectorSensitivity::from_l1(Sensitivity(1), 4);
  EXPECT_THROW(calibrate_laplace(sensitivity, Epsilon(0)), Error);
  EXPECT_THROW(calibrate_gaussian(sensitivity, Epsilon(1), Delta(0)), Error);
  EXPECT_THROW(calibrate_zcdp(sensitivity, Rho(0)), Error);
  const VectorSensitivity large = VectorSensitivity::from_l1(Sensitivity(1ll << 50), 4);
  EXPECT_THROW(calibrate_laplace(large, Epsilon(0.5)), Error);
  EXPECT_THROW(calibrate_gaussian(large, Epsilon(0.5), Delta(1e-6)), Error);
  EXPECT_THROW(calibrate_zcdp(large, Rho(0.1)), Error);
  // So little noise that the sampler's least is used.
  EXPECT_EQ(calibrate_laplace(sensitivity, Epsilon(1000)).scale, 0x1p-9 * (1024.0 / 2000));
}

TEST(VectorNoise, IsTheSameWhateverTheValues) {
  const std::vector<Int128> zeros(300, 0);
  std::vector<Int128> values(300);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Int128>(i * i) - 1000;
  for (const AnyMechanism& spec : every_kind(5)) {
    test::SeededSource first(90);
    test::SeededSource second(90);
    const std::vector<Int128> noise = add_noise(zeros, spec, first);
    const std::vector<Int128> noisy = add_noise(values, spec, second);
    bool moved = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(noisy[i] - values[i], noise[i]) << describe(spec);
      moved = moved || noise[i] != 0;
    }
    EXPECT_TRUE(moved);
    EXPECT_EQ(first.next_u64(), second.next_u64());
  }
}

TEST(VectorNoise, SaturatesTheSum) {
  test::SeededSource bits(91);
  const std::vector<Int128> ends(100, kInt128Max);
  bool touched = false;
  for (const Int128 value : add_noise(ends, DiscreteLaplace{100}, bits)) {
    EXPECT_GT(value, kInt128Max / 2);
    touched = touched || value == kInt128Max;
  }
  EXPECT_TRUE(touched);
  EXPECT_TRUE(add_noise({}, RoundedGaussian{1}, bits).empty());
}

double mass_within(const AnyMechanism& spec, Int128 width) {
  double mass = 0;
  for (Int128 x = -width; x <= width; ++x) mass += std::exp(log_pmf(spec, x));
  return mass;
}

TEST(VectorNoise, SimultaneousIntervalCoversAndIsTight) {
  for (const AnyMechanism& spec : every_kind(20)) {
    for (const std::int64_t dimension : {1ll, 10ll, 1000ll}) {
      for (const double confidence : {0.5, 0.95, 0.999}) {
        const Int128 w = simultaneous_interval(spec, dimension, Confidence(confidence));
        const auto d = static_cast<double>(dimension);
        EXPECT_GE(std::pow(mass_within(spec, w), d), confidence - 1e-9) << describe(spec);
        EXPECT_LT(std::pow(mass_within(spec, w - 1), d), confidence + 1e-9) << describe(spec);
      }
    }
  }
  EXPECT_THROW(simultaneous_interval(DiscreteLaplace{1}, 0, Confidence(0.9)), Error);
  EXPECT_THROW(simultaneous_interval(DiscreteLaplace{1}, 1ll << 40, Confidence(1 - 1e-9)), Error);
}

TEST(VectorNoise, NormIntervalCovers) {
  for (const std::int64_t dimension : {1ll, 5ll, 200ll}) {
    for (const double confidence : {0.9, 0.999}) {
      // For a fine grid the square over sigma^2 is chi-square, whose tail is known.
      const double w = norm_interval(RoundedGaussian{1e9}, dimension, Confidence(confidence)) / 1e9;
      const double tail = boost::math::gamma_q(static_cast<double>(dimension) / 2, w * w / 2);
      EXPECT_LE(tail, (1 - confidence) * (1 + 1e-7)) << dimension;
      EXPECT_GE(tail, (1 - confidence) / 100) << dimension;
    }
  }
  // 500 draws at 90 %: fewer than 400 covered has probability below 10^-11 if the bound holds.
  for (const AnyMechanism& spec : every_kind(3)) {
    const double w = norm_interval(spec, 50, Confidence(0.9));
    test::SeededSource bits(92);
    int covered = 0;
    for (int i = 0; i < 500; ++i) {
      double square = 0;
      for (const Int128 x : sample_many(spec, 50, bits)) {
        square += static_cast<double>(x) * static_cast<double>(x);
      }
      covered += std::sqrt(square) <= w;
    }
    EXPECT_GE(covered, 400) << describe(spec);
  }
}

}  // namespace
}  // namespace shoal::mechanism
