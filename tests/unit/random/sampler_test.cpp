// The exact samplers on small cases, exhaustively (see coin_test.cpp), and at the ends of their
// range. tests/contract holds the statistical part.
#include "support/prefix_tree.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/discrete_laplace.hpp>
#include <shoal/random/scale.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace shoal::random {
namespace {

double laplace_pmf(double scale, long long x) {
  return std::tanh(0.5 / scale) * std::exp(-std::fabs(static_cast<double>(x)) / scale);
}

double gaussian_pmf(double sigma, long long x) {
  const auto weight = [sigma](long long k) {
    return std::exp(-0.5 * static_cast<double>(k * k) / (sigma * sigma));
  };
  double total = weight(0);
  for (long long k = 1; k < 1000; ++k) total += 2 * weight(k);
  return weight(x) / total;
}

using Pmf = double (*)(double, long long);
using Sampler = Int128 (*)(double, BitSource&);

struct SmallCase {
  const char* name;
  Sampler sampler;
  Pmf pmf;
  double scale;
  std::size_t depth;  // length of the bit strings played
  double undecided;   // the probability that they may leave open
};

class SmallCases : public testing::TestWithParam<SmallCase> {};

TEST_P(SmallCases, DecidedMassBracketsThePmf) {
  const SmallCase& small = GetParam();
  const auto mass = test::decided_mass<long long>(
      [&](BitSource& bits) { return static_cast<long long>(small.sampler(small.scale, bits)); },
      small.depth);
  EXPECT_LT(mass.undecided, small.undecided);
  for (long long x = -40; x <= 40; ++x) {
    const double exact = small.pmf(small.scale, x);
    EXPECT_LE(mass.of(x), exact + 1e-14) << x;
    EXPECT_GE(mass.of(x) + mass.undecided, exact - 1e-14) << x;
    EXPECT_EQ(mass.of(x), mass.of(-x)) << x;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Samplers, SmallCases,
    testing::Values(SmallCase{"LaplaceOne", sample_discrete_laplace, laplace_pmf, 1, 20, 0.04},
                    SmallCase{"LaplaceHalf", sample_discrete_laplace, laplace_pmf, 0.5, 19, 0.12},
                    SmallCase{"LaplaceThree", sample_discrete_laplace, laplace_pmf, 3, 18, 0.3},
                    SmallCase{"LaplaceOneAndAHalf", sample_discrete_laplace, laplace_pmf, 1.5, 18,
                              0.4},
                    SmallCase{"GaussianOne", sample_discrete_gaussian, gaussian_pmf, 1, 17, 0.6},
                    SmallCase{"GaussianHalf", sample_discrete_gaussian, gaussian_pmf, 0.5, 17, 0.5},
                    SmallCase{"GaussianTwo", sample_discrete_gaussian, gaussian_pmf, 2, 17, 0.65}),
    [](const auto& parameter) { return parameter.param.name; });

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

}  // namespace
}  // namespace shoal::random
