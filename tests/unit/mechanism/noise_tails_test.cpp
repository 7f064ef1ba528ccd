// Certified tails of integer noise against sums of the pmf.
#include "mechanism/noise_tails.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::mechanism {
namespace {

template <class Noise>
long double tail_by_sum(const Noise& noise, long long t, long long reach) {
  long double sum = 0;
  for (long long x = reach; x >= t; --x)
    sum += std::exp(static_cast<long double>(log_pmf(noise, x)));
  return sum;
}

// Sums of doubles are good to about 1e-13; `slack` says how far apart the bounds may be.
template <class Noise>
void expect_brackets(const Noise& noise, long long reach, std::initializer_list<long long> points,
                     double slack) {
  const NoiseTails tails(noise);
  for (const long long t : points) {
    const auto expected = static_cast<double>(tail_by_sum(noise, t, reach));
    const double down = tails.at_least_down(t);
    const double up = tails.at_least_up(t);
    EXPECT_LE(down, expected * (1 + 1e-12)) << t;
    EXPECT_GE(up, expected * (1 - 1e-12)) << t;
    EXPECT_LE(up - down, slack * up) << t;
    EXPECT_LE(up, 1);
    EXPECT_GE(down, 0);
  }
}

TEST(NoiseTails, OfLaplaceNoiseAreItsSums) {
  expect_brackets(DiscreteLaplace{1}, 200, {-40, -3, 0, 1, 2, 14, 60}, 1e-13);
  expect_brackets(DiscreteLaplace{30}, 4000, {-300, -1, 0, 1, 40, 497, 1500}, 1e-13);
}

TEST(NoiseTails, OfNarrowGaussianNoiseAreItsSums) {
  expect_brackets(DiscreteGaussian{0.3}, 20, {-2, 0, 1, 2, 3}, 1e-12);
  expect_brackets(DiscreteGaussian{22.5}, 900, {-100, -1, 0, 1, 7, 133, 300}, 1e-11);
}

// Beyond sigma 256 integrals stand for sums: 5 sigma from the middle the relative gap is the pmf
// over the tail, halved, of the order of 5 / sigma.
TEST(NoiseTails, OfWideGaussianNoiseBracketTheirSums) {
  expect_brackets(DiscreteGaussian{300}, 12000,
                  {-900, -1, 0, 1, 100, 299, 301, 302, 900, 1500, 3000}, 0.02);
  expect_brackets(DiscreteGaussian{2000}, 80000, {-9000, 0, 5, 1999, 2003, 9000}, 0.005);
}

TEST(NoiseTails, StayBoundsFarOut) {
  const NoiseTails narrow(DiscreteGaussian{1});
  EXPECT_EQ(narrow.at_least_down(1000), 0);
  EXPECT_GT(narrow.at_least_up(1000), 0);
  EXPECT_LT(narrow.at_least_up(1000), 1e-300);
  const NoiseTails wide(DiscreteLaplace{0x1p50});
  EXPECT_EQ(wide.at_least_up(kInt128Min), 1);
  EXPECT_GT(wide.at_least_down(kInt128Min), 1 - 1e-12);
  EXPECT_LT(wide.at_least_up(kInt128Max), 1e-300);
}

TEST(NoiseTails, IntegersBecomeDoublesOnTheNamedSide) {
  const Int128 odd = (static_cast<Int128>(1) << 53) + 1;
  EXPECT_EQ(double_down(odd), 0x1p53);
  EXPECT_EQ(double_up(odd), 0x1p53 + 2);
  EXPECT_EQ(double_down(-odd), -0x1p53 - 2);
  EXPECT_EQ(double_up(-odd), -0x1p53);
  EXPECT_EQ(double_up(7), 7);
  EXPECT_LT(double_down(kInt128Max), 0x1p127);
  EXPECT_EQ(double_up(kInt128Max), 0x1p127);
}

}  // namespace
}  // namespace shoal::mechanism
