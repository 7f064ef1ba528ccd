// The prepared coin: exact whatever the word, against all words of a short length and against MPFR.
#include "mechanism/exact_chance.hpp"
#include "support/prefix_tree.hpp"
#include "support/scripted_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/threshold_coin.hpp>

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <vector>

namespace shoal::mechanism {
namespace {

std::vector<bool> bits_of(std::initializer_list<std::uint64_t> words) {
  std::vector<bool> bits;
  for (const std::uint64_t word : words) {
    for (int i = 63; i >= 0; --i) bits.push_back(((word >> i) & 1) != 0);
  }
  return bits;
}

bool toss(const ThresholdCoin& coin, std::initializer_list<std::uint64_t> words) {
  test::ScriptedSource source(bits_of(words));
  return coin.toss(source);
}

std::size_t words_used(const ThresholdCoin& coin, std::initializer_list<std::uint64_t> words) {
  test::ScriptedSource source(bits_of(words));
  coin.toss(source);
  return source.bits_used() / 64;
}

constexpr std::uint64_t kOnes = ~std::uint64_t{0};

// floor(2^64 / (1 + others e^-epsilon)), with 300 bits.
std::uint64_t keep_threshold(double epsilon, unsigned long others) {
  mpfr_t x;
  mpfr_init2(x, 300);
  mpfr_set_d(x, -epsilon, MPFR_RNDN);
  mpfr_exp(x, x, MPFR_RNDN);
  mpfr_mul_ui(x, x, others, MPFR_RNDN);
  mpfr_add_ui(x, x, 1, MPFR_RNDN);
  mpfr_ui_div(x, 1, x, MPFR_RNDN);
  mpfr_mul_2ui(x, x, 64, MPFR_RNDN);
  mpfr_floor(x, x);
  const std::uint64_t threshold = mpfr_get_uj(x, MPFR_RNDZ);
  mpfr_clear(x);
  return threshold;
}

TEST(ThresholdCoin, DecidesAsTheExactChanceDoes) {
  for (const double epsilon : {1e-300, 0.1, 1.0, 2.5, 17.0, 40.0}) {
    for (const unsigned long others : {1ul, 2ul, 9ul, 1048575ul}) {
      const ThresholdCoin coin(keep_chance(epsilon, others));
      const std::uint64_t threshold = keep_threshold(epsilon, others);
      EXPECT_TRUE(toss(coin, {threshold - 2})) << epsilon << " " << others;
      EXPECT_FALSE(toss(coin, {threshold + 2})) << epsilon << " " << others;
      // On the threshold further digits decide.
      if (epsilon < 0.1) continue;  // so near to 1/k that it may lie where two words meet
      EXPECT_TRUE(toss(coin, {threshold, 0, 0, 0})) << epsilon << " " << others;
      EXPECT_FALSE(toss(coin, {threshold, kOnes, kOnes, kOnes})) << epsilon << " " << others;
    }
  }
}

TEST(ThresholdCoin, AThirdGoesOnForAsLongAsTheDigitsDo) {
  const ThresholdCoin coin(keep_chance(0, 2));
  constexpr std::uint64_t kThird = 0x5555555555555555;
  EXPECT_TRUE(toss(coin, {kThird - 1}));
  EXPECT_FALSE(toss(coin, {kThird + 1}));
  EXPECT_TRUE(toss(coin, {kThird, kThird, kThird - 1}));
  EXPECT_FALSE(toss(coin, {kThird, kThird, kThird + 1}));
  EXPECT_EQ(words_used(coin, {kThird, kThird, kThird + 1}), 3u);
}

TEST(ThresholdCoin, AHalfIsExact) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  for (const ThresholdCoin& coin :
       {ThresholdCoin(keep_chance(0, 1)), ThresholdCoin(exact_chance(0.5))}) {
    EXPECT_TRUE(toss(coin, {kHalf - 1, kOnes, kOnes - 1}));
    EXPECT_FALSE(toss(coin, {kHalf, 0, 1}));
  }
}

TEST(ThresholdCoin, NeverAndAlways) {
  for (const std::uint64_t word : {std::uint64_t{0}, std::uint64_t{1}, kOnes - 1, kOnes}) {
    EXPECT_FALSE(toss(ThresholdCoin(exact_chance(0)), {word}));
    EXPECT_TRUE(toss(ThresholdCoin(exact_chance(1)), {word}));
  }
  EXPECT_THROW(ThresholdCoin(exact_chance(1.5)), Error);
  EXPECT_THROW(ThresholdCoin(exact_chance(0.5), 0), Error);
  EXPECT_THROW(ThresholdCoin(exact_chance(0.5), 65), Error);
}

TEST(ThresholdCoin, ChancesBelowAWordAreKept) {
  // 2^-80: the first word must be 0, and the second below 2^48.
  const ThresholdCoin coin(exact_chance(0x1p-80));
  EXPECT_TRUE(toss(coin, {0, (std::uint64_t{1} << 48) - 1}));
  EXPECT_FALSE(toss(coin, {0, std::uint64_t{1} << 48}));
  EXPECT_FALSE(toss(coin, {1}));
  // The smallest double: 1074 bits, 17 words, the last of them below 2^14.
  const ThresholdCoin smallest(exact_chance(5e-324));
  EXPECT_FALSE(toss(smallest, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1ull << 14}));
  EXPECT_TRUE(toss(smallest, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (1ull << 14) - 1}));
}

TEST(ThresholdCoin, EveryShortWordIsDecidedOnTheRightSide) {
  constexpr int kWidth = 10;
  for (const double epsilon : {0.0, 0.3, 1.0, 4.0}) {
    for (const std::uint64_t others : {1u, 2u, 6u}) {
      const ThresholdCoin coin(keep_chance(epsilon, others), kWidth);
      const auto mass = test::decided_mass<bool>(
          [&](random::BitSource& source) { return coin.toss(source); }, kWidth);
      const double chance = 1 / (1 + static_cast<double>(others) * std::exp(-epsilon));
      EXPECT_LE(mass.of(true), chance + 1e-15);
      EXPECT_LE(mass.of(false), 1 - chance + 1e-15);
      EXPECT_LE(mass.undecided, std::ldexp(2, -kWidth));
      EXPECT_EQ(mass.of(true) + mass.of(false) + mass.undecided, 1);
    }
  }
}

}  // namespace
}  // namespace shoal::mechanism
