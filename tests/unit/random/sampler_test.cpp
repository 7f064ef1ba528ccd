// The samplers as their users see them: ranges, both ends of them, and known answers. What they do
// with every word is in digit_law_test.cpp and gaussian_law_test.cpp; tests/statistical has the
// laws.
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/discrete_laplace.hpp>
#include <shoal/random/geometric.hpp>
#include <shoal/random/rounded_laplace.hpp>
#include <shoal/random/rounded_normal.hpp>
#include <shoal/random/scale.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace shoal::random {
namespace {

TEST(DyadicScale, IsTheExactValueInLowestTerms) {
  test::SeededSource bits(7);
  for (int i = 0; i < 1000; ++i) {
    const double fraction = 1 + static_cast<double>(bits.next_bits(52)) * 0x1p-52;
    const double value = std::ldexp(fraction, static_cast<int>(bits.next_bits(6)) % 60 - 10);
    const DyadicScale exact = exact_scale(value, "scale");
    ASSERT_LE(exact.numerator, 1ull << 53);
    ASSERT_LE(exact.denominator, 1ull << 62);
    ASSERT_TRUE(exact.numerator % 2 == 1 || exact.denominator == 1);
    ASSERT_EQ(static_cast<double>(exact.numerator) / static_cast<double>(exact.denominator), value);
  }
  EXPECT_EQ(exact_scale(20, "scale").numerator, 20u);
  EXPECT_EQ(exact_scale(20, "scale").denominator, 1u);
  EXPECT_EQ(exact_scale(kMinScale, "scale").denominator, 1024u);
}

TEST(Samplers, RefuseScalesOutOfRange) {
  test::SeededSource bits(8);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double scale : {0.0, -1.0, nan, infinity, std::nextafter(kMinScale, 0.0),
                             std::nextafter(kMaxScale, infinity)}) {
    EXPECT_THROW(sample_discrete_laplace(scale, bits), Error) << scale;
    EXPECT_THROW(sample_discrete_gaussian(scale, bits), Error) << scale;
    EXPECT_THROW(sample_geometric(scale, bits), Error) << scale;
    EXPECT_THROW(sample_rounded_laplace(scale, bits), Error) << scale;
    EXPECT_THROW(sample_rounded_normal(scale, bits), Error) << scale;
  }
}

TEST(Samplers, WorkAtBothEndsOfTheRange) {
  test::SeededSource bits(9);
  double laplace_total = 0;
  double gaussian_total = 0;
  constexpr int kDraws = 2000;
  for (int i = 0; i < kDraws; ++i) {
    // Not zero with probability 2 e^-1024 and less.
    ASSERT_EQ(sample_discrete_laplace(kMinScale, bits), 0);
    ASSERT_EQ(sample_discrete_gaussian(std::nextafter(kMinScale, 1.0), bits), 0);
    laplace_total += std::fabs(static_cast<double>(sample_discrete_laplace(kMaxScale, bits)));
    gaussian_total += std::fabs(static_cast<double>(sample_discrete_gaussian(kMaxScale, bits)));
  }
  // Means of |x|: scale, and sigma sqrt(2 / pi). Six standard errors, a false alarm in 5e8.
  EXPECT_NEAR(laplace_total / kDraws / kMaxScale, 1, 6 / std::sqrt(kDraws));
  EXPECT_NEAR(gaussian_total / kDraws / kMaxScale, 0.797884560803, 6 * 0.6028 / std::sqrt(kDraws));
}

// Bits of a fixed stream and what was made of them when every threshold had been checked against
// two oracles: a change of law, of word order or of a kernel shows here first. Those of Laplace
// noise by trials (1e5, 1e6, kMaxScale) were also computed from the bits with mpmath.
template <class Sampler>
std::vector<std::int64_t> known_answer(double scale) {
  test::SeededSource bits(99);
  std::vector<std::int64_t> values(6);
  Sampler(scale).fill(values, bits);
  return values;
}

using Values = std::vector<std::int64_t>;

TEST(Samplers, GiveKnownAnswers) {
  EXPECT_EQ(known_answer<DiscreteLaplaceSampler>(1), (Values{0, 0, 1, -1, -1, 0}));
  EXPECT_EQ(known_answer<DiscreteLaplaceSampler>(10), (Values{-5, 5, 11, 1, -1, -8}));
  EXPECT_EQ(known_answer<DiscreteLaplaceSampler>(1e3), (Values{267, -430, -4407, -3206, 33, 242}));
  EXPECT_EQ(known_answer<DiscreteLaplaceSampler>(1e6),
            (Values{82987, 376659, -2660187, -1547300, -3177390, -336956}));
  EXPECT_EQ(known_answer<DiscreteLaplaceSampler>(kMaxScale),
            (Values{90252947954451, 430637443495870, -2994714178312769, -1739503649401082,
                    -3577634451752101, -380558774302979}));
  EXPECT_EQ(known_answer<DiscreteGaussianSampler>(1), (Values{0, -1, 1, 0, 0, 0}));
  EXPECT_EQ(known_answer<DiscreteGaussianSampler>(10), (Values{-5, -7, 5, -3, -1, 4}));
  EXPECT_EQ(known_answer<DiscreteGaussianSampler>(1e3),
            (Values{433, -545, -378, 164, -954, -1935}));
  EXPECT_EQ(known_answer<DiscreteGaussianSampler>(1e6),
            (Values{443593, -558441, -125541, 167969, -977742, -1982051}));
  EXPECT_EQ(known_answer<DiscreteGaussianSampler>(kMaxScale),
            (Values{636294520857188, -832549263177677, -495021345546033, 486936888251526,
                    1929698975548501, -3431809061062900}));
  EXPECT_EQ(known_answer<GeometricSampler>(2.5), (Values{1, 1, 3, 0, 0, 2}));
  EXPECT_EQ(known_answer<GeometricSampler>(1e5),
            (Values{8325, 37866, 265963, 154500, 317813, 33927}));
  EXPECT_EQ(known_answer<RoundedLaplaceSampler>(2.5), (Values{-2, 2, 0, 0, -1, -3}));
  EXPECT_EQ(known_answer<RoundedLaplaceSampler>(1e5),
            (Values{8325, 37866, -265963, -154500, -317814, -33927}));
  EXPECT_EQ(known_answer<RoundedNormalSampler>(0.75), (Values{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(known_answer<RoundedNormalSampler>(2.5), (Values{1, -1, -1, 1, 4, -7}));
  EXPECT_EQ(known_answer<RoundedNormalSampler>(1e5),
            (Values{37037, -48461, -28814, 28343, 86254, 177859}));
}

TEST(Samplers, AnEmptyRequestTakesNoBits) {
  test::SeededSource used(5);
  test::SeededSource unused(5);
  DiscreteLaplaceSampler(3).fill({}, used);
  DiscreteGaussianSampler(3).fill({}, used);
  DiscreteGaussianSampler(300).fill({}, used);
  EXPECT_EQ(used.next_u64(), unused.next_u64());
}

}  // namespace
}  // namespace shoal::random
