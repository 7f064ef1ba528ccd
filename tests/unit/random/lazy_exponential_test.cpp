// The digits of a lazy exponential number, the first ones and those drawn later. Seeded chi-square
// tests; each gives a false alarm with probability 10^-6.
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/binomial.hpp>
#include <shoal/random/lazy_exponential.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace shoal::random {
namespace {

constexpr int kDraws = 200000;
constexpr double kFalseAlarm = 1e-6;
constexpr std::size_t kCells = 32;

// p-value of cells that have equal chances.
double p_value_of_equal_cells(const std::vector<int>& counts, int draws) {
  const double expected = static_cast<double>(draws) / static_cast<double>(counts.size());
  double statistic = 0;
  for (const int count : counts) {
    statistic += (count - expected) * (count - expected) / expected;
  }
  return numeric::chi_square_tail(statistic, static_cast<int>(counts.size()) - 1);
}

// p-value of exponential numbers, each cut into one of kCells quantiles.
double p_value_of(const std::function<double(BitSource&)>& draw, int draws, std::uint64_t seed) {
  test::SeededSource source(seed);
  std::vector<int> counts(kCells, 0);
  for (int i = 0; i < draws; ++i) {
    const double below = -std::expm1(-draw(source));
    const auto cell = static_cast<std::size_t>(below * static_cast<double>(kCells));
    ++counts[std::min(cell, kCells - 1)];
  }
  return p_value_of_equal_cells(counts, draws);
}

double value_of(const LazyExponential& e) {
  // The last digits do not matter here.
  const numeric::BigInt digits = e.bits() > 100 ? e.digits() >> (e.bits() - 100) : e.digits();
  return std::ldexp(static_cast<double>(digits) + (e.bits() > 100 ? 0.0 : 0.5),
                    -std::min(e.bits(), 100));
}

TEST(LazyExponential, FirstDigitsFollowTheLaw) {
  const ExponentialSampler sampler;
  EXPECT_EQ(sampler.first_bits(), 48);
  const auto draw = [&](BitSource& bits) { return value_of(sampler.sample(bits)); };
  EXPECT_GT(p_value_of(draw, kDraws, 60), kFalseAlarm);
}

TEST(LazyExponential, LowFirstDigitsFollowTheLawWhateverTheHigh) {
  // With one high digit a coin in two needs a second look.
  for (const int first_bits : {4, 12, 25}) {
    const ExponentialSampler sampler(first_bits, 1);
    const auto draw = [&](BitSource& bits) {
      // Uniform within the last cell, which is what is left of an exponential number there; four
      // digits are too coarse for that.
      LazyExponential e = sampler.sample(bits);
      if (first_bits == 4) e.extend(bits);
      return value_of(e);
    };
    EXPECT_GT(p_value_of(draw, kDraws / 8, 68 + static_cast<std::uint64_t>(first_bits)),
              kFalseAlarm)
        << first_bits;
  }
}

TEST(LazyExponential, LaterDigitsFollowTheLawWhateverTheFirst) {
  for (const int first_bits : {0, 1, 2, 3}) {
    const ExponentialSampler sampler(first_bits);
    const auto draw = [&](BitSource& bits) {
      LazyExponential e = sampler.sample(bits);
      e.extend(bits);
      if (first_bits == 1) e.extend(bits);
      return value_of(e);
    };
    EXPECT_GT(p_value_of(draw, kDraws / 8, 61 + static_cast<std::uint64_t>(first_bits)),
              kFalseAlarm)
        << first_bits;
  }
}

TEST(LazyExponential, LaterDigitsWithoutTheCoinWouldBeSeen) {
  // Uniform digits within the cell: the test above must be able to tell.
  const ExponentialSampler sampler(0);
  const auto draw = [&](BitSource& bits) {
    const LazyExponential e = sampler.sample(bits);
    return static_cast<double>(e.digits()) + static_cast<double>(bits.next_bits(53)) * 0x1p-53;
  };
  EXPECT_LT(p_value_of(draw, kDraws / 8, 65), kFalseAlarm);
}

TEST(LazyExponential, ExtendingKeepsWhatIsKnown) {
  test::SeededSource source(66);
  LazyExponential e(123456789, 48);
  for (int i = 1; i <= 4; ++i) {
    e.extend(source);
    EXPECT_EQ(e.bits(), 48 + 64 * i);
    EXPECT_EQ(e.digits() >> (64 * i), 123456789);
  }
}

TEST(LazyExponential, DigitsDeepDownAreUniform) {
  // Within a cell of 2^-48 the density is flat but for 2^-48 of itself.
  test::SeededSource source(67);
  std::vector<int> high(16, 0);
  std::vector<int> low(16, 0);
  for (int i = 0; i < kDraws; ++i) {
    LazyExponential e(5, 48);
    e.extend(source);
    const auto digits = static_cast<std::uint64_t>(e.digits() & ~std::uint64_t{0});
    ++high[digits >> 60];
    ++low[digits & 15];
  }
  EXPECT_GT(p_value_of_equal_cells(high, kDraws), kFalseAlarm);
  EXPECT_GT(p_value_of_equal_cells(low, kDraws), kFalseAlarm);
}

TEST(ExponentialSampler, RefusesBitsOutOfRange) {
  EXPECT_THROW(ExponentialSampler(-1), Error);
  EXPECT_THROW(ExponentialSampler(49), Error);
  EXPECT_THROW(ExponentialSampler(48, 23), Error);
  EXPECT_THROW(ExponentialSampler(10, 0), Error);
}

}  // namespace
}  // namespace shoal::random
