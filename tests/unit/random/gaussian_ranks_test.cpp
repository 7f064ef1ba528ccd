// Ranks of the Gaussian samplers: thresholds against two oracles, every short word, scalar against
// AVX2, and the exact path under stress.
#include "random/gaussian_ranks.hpp"

#include "random/folded_gaussian.hpp"
#include "support/chi_square.hpp"
#include "support/golden.hpp"
#include "support/mpfr_real.hpp"
#include "support/seeded_source.hpp"
#include "support/word_exhaustion.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::random {
namespace {

using numeric::BigInt;
using test::MpfrReal;
using Weights = GaussianRanks::Weights;

void expect_thresholds_of_mpfr(double t, Weights weights) {
  const GaussianRanks ranks(t, weights, kWordBits);
  const RankTables& tables = ranks.tables();
  const MpfrReal exact(t);
  const MpfrReal multiplicity(weights == Weights::once ? 1.0 : 2.0);
  std::vector<MpfrReal> at_most = {MpfrReal(1.0)};
  // To 14 standard deviations: what is left is below 2^-140.
  const auto last = static_cast<unsigned>(14 * t) + 4;
  for (unsigned k = 1; k <= last; ++k) {
    const MpfrReal square(static_cast<double>(k) * k);
    at_most.push_back(at_most.back() +
                      multiplicity * (square / (MpfrReal(2.0) * exact * exact)).exp_minus());
  }
  for (std::size_t k = 0; k < tables.count; ++k) {
    // Below one, though for small t by less than MPFR's 2000 bits show.
    const BigInt units = (at_most[k] / at_most.back()).units(32);
    ASSERT_EQ(std::min(units, BigInt(largest_word(32))), tables.ranks[k]) << t << " " << k;
  }
  ASSERT_EQ(tables.ranks[tables.count - 1], largest_word(32));
}

TEST(GaussianRanks, ThresholdsAreThoseOfMpfr) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double t :
       {kMinScale, 0.01, 0.05, 0.0769, 0.08, 0.25, 0.37, 0.5, 1.0, 2.0, 3.7, 10.0, 16.0, 35.99}) {
    expect_thresholds_of_mpfr(t, Weights::twice_but_zero);
    expect_thresholds_of_mpfr(std::nextafter(t, infinity), Weights::twice_but_zero);
  }
  test::SeededSource bits(50);
  for (int i = 0; i < 60; ++i) {
    const double fraction = 1 + static_cast<double>(bits.next_bits(52)) * 0x1p-52;
    expect_thresholds_of_mpfr(std::ldexp(fraction, i % 15 - 10), Weights::twice_but_zero);
    expect_thresholds_of_mpfr(2 * fraction, Weights::once);
  }
  expect_thresholds_of_mpfr(2, Weights::once);
  expect_thresholds_of_mpfr(std::nextafter(4.0, 0.0), Weights::once);
}

TEST(GaussianRanks, ThresholdsAreThoseOfASecondOracle) {
  int rows = 0;
  for (const auto& row : test::read_golden_text("thresholds")) {
    if (row.at(0) != "gaussian") continue;
    const GaussianRanks ranks(std::stod(row.at(1)), Weights::twice_but_zero, kWordBits);
    EXPECT_EQ(std::stoul(row.at(4)), ranks.tables().ranks.at(std::stoul(row.at(3)))) << row.at(1);
    ++rows;
  }
  EXPECT_GT(rows, 80);
}

double pmf(double sigma, std::int64_t x) {
  const auto w = [sigma](double k) { return std::exp(-0.5 * k * k / (sigma * sigma)); };
  double total = 1;
  for (int k = 1; k < 400; ++k) total += 2 * w(k);
  return w(static_cast<double>(x)) / total;
}

std::optional<std::int64_t> decide(const RankTables& tables, std::uint32_t word) {
  std::array<std::uint32_t, 2 * kLanes> words{};
  words[kLanes] = word ^ 0x80000000u;
  std::array<std::int64_t, kLanes> values{};
  std::uint8_t ambiguous = 0;
  folded_groups_scalar(tables, words.data(), 1, values.data(), &ambiguous);
  return (ambiguous & 1) != 0 ? std::nullopt : std::optional(values[0]);
}

TEST(GaussianRanks, EveryShortWordIsDecidedRightly) {
  for (const double sigma : {0.3, 1.0, 2.7, 9.0}) {
    constexpr int kBits = 12;
    const GaussianRanks ranks(sigma, Weights::twice_but_zero, kBits);
    const auto at_most = ranks.at_most(192);
    std::vector<std::int64_t> below(ranks.tables().count, 0);
    for (std::uint32_t word = 0; word < (1u << kBits); ++word) {
      const auto value = decide(ranks.tables(), word);
      if (!value) continue;
      for (auto k = static_cast<std::size_t>(*value); k < below.size(); ++k) ++below[k];
    }
    // Of the words up to a threshold, one each is left open.
    for (std::size_t k = 0; k < below.size(); ++k) {
      const BigInt units = at_most[k].low >> (192 - kBits);
      EXPECT_LE(below[k], units);
      EXPECT_GE(below[k] + static_cast<std::int64_t>(k), units) << sigma << " " << k;
    }
  }
}

TEST(GaussianRanks, ExhaustionCatchesWrongThresholds) {
  constexpr int kBits = 10;
  const GaussianRanks ranks(1, Weights::twice_but_zero, kBits);
  const auto agrees = [&](const RankTables& tables) {
    const auto mass = test::exhaust_words(1, kBits, [&](const std::vector<std::uint32_t>& tuple) {
      return decide(tables, tuple[0]);
    });
    return mass.brackets([&](std::int64_t x) { return x < 0 ? 0 : (x == 0 ? 1 : 2) * pmf(1, x); },
                         8);
  };
  EXPECT_TRUE(agrees(ranks.tables()));
  RankTables mutant = ranks.tables();
  mutant.ranks[1] += 2;
  EXPECT_FALSE(agrees(mutant));
}

TEST(GaussianRanks, ExactPathFollowsTheLaw) {
  // Words of 3 bits, so that most take more digits. Seeded; fails once in a million seeds.
  test::SeededSource bits(52);
  for (const double sigma : {0.8, 4.0}) {
    const GaussianRanks ranks(sigma, Weights::twice_but_zero, 3);
    const auto sampler = [&](BitSource& source) -> Int128 {
      const auto word = static_cast<std::uint32_t>(source.next_bits(3));
      const auto rank = static_cast<Int128>(ranks.resolve(word, source));
      return source.next_bit() ? -rank : rank;
    };
    const double p = test::chi_square_p_value(
        sampler, [&](Int128 x) { return std::log(pmf(sigma, static_cast<std::int64_t>(x))); },
        static_cast<long long>(12 * sigma) + 4, 2000, bits);
    EXPECT_GT(p, 1e-6) << sigma;
  }
}

TEST(FoldedGaussian, FillGivesTheSameFromTheSameBitsOnEveryKernel) {
  for (const double sigma : {0.002, 0.3, 1.0, 2.0, 4.0, 10.0, 19.0, 35.9}) {
    for (const std::size_t count : {1u, 7u, 8u, 9u, 257u, 1000u, 5000u}) {
      const FoldedGaussian law(sigma);
      test::SeededSource first(53);
      test::SeededSource second(53);
      std::vector<std::int64_t> a(count);
      std::vector<std::int64_t> b(count);
      law.fill(a, first, Kernel::scalar);
      law.fill(b, second, best_kernel());
      ASSERT_EQ(a, b) << sigma << " " << count;
      ASSERT_EQ(first.next_u64(), second.next_u64());
    }
  }
}

TEST(FoldedGaussian, KernelsAgreeOnThresholds) {
  if (best_kernel() != Kernel::avx2) GTEST_SKIP() << "no AVX2 here";
  test::SeededSource bits(54);
  constexpr std::size_t kGroups = 64;
  for (const double sigma : {0.002, 0.3, 0.4, 1.0, 3.0, 10.0, 19.0, 30.0}) {
    const GaussianRanks ranks(sigma, Weights::twice_but_zero, kWordBits);
    const RankTables& tables = ranks.tables();
    std::vector<std::uint32_t> words(sign_words(kGroups) + kGroups * kLanes);
    for (std::uint32_t& word : words) {
      word = static_cast<std::uint32_t>(bits.next_bits(32));
      if (bits.next_bits(3) == 0)
        word = tables.ranks[bits.next_bits(8) % tables.count] ^ 0x80000000u;
    }
    std::vector<std::int64_t> a(kGroups * kLanes);
    std::vector<std::int64_t> b(kGroups * kLanes);
    std::vector<std::uint8_t> a_unsure(kGroups);
    std::vector<std::uint8_t> b_unsure(kGroups);
    EXPECT_TRUE(folded_groups_scalar(tables, words.data(), kGroups, a.data(), a_unsure.data()));
    EXPECT_TRUE(folded_groups_avx2(tables, words.data(), kGroups, b.data(), b_unsure.data()));
    ASSERT_EQ(a_unsure, b_unsure) << sigma;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if ((a_unsure[i / kLanes] >> (i % kLanes) & 1) == 0) {
        ASSERT_EQ(a[i], b[i]) << sigma;
      }
    }
  }
}

}  // namespace
}  // namespace shoal::random
