// The Gaussian samplers: thresholds against MPFR, every short word, the acceptance polynomial
// against MPFR, scalar against AVX2, and the exact path under stress.
#include "random/gaussian_law.hpp"

#include "random/acceptance.hpp"
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

// e^(-k^2/(2t^2)).
MpfrReal weight(const MpfrReal& t, unsigned k) {
  return (MpfrReal(static_cast<double>(k) * k) / (MpfrReal(2.0) * t * t)).exp_minus();
}

void expect_thresholds_of_mpfr(double sigma, GaussianKind kind) {
  const GaussianLaw law(sigma, kind);
  const GaussianTables& tables = law.tables();
  const int j = tables.folded ? 0 : std::ilogb(sigma) - 1;
  const MpfrReal t(std::ldexp(sigma, -j));
  const MpfrReal multiplicity(tables.folded ? 2.0 : 1.0);
  std::vector<MpfrReal> at_most = {MpfrReal(1.0)};
  // To 14 standard deviations: what is left is below 2^-140.
  const auto last = static_cast<unsigned>(14 * std::ldexp(sigma, -j)) + 4;
  for (unsigned k = 1; k <= last; ++k) {
    at_most.push_back(at_most.back() + multiplicity * weight(t, k));
  }
  for (std::size_t k = 0; k < tables.count; ++k) {
    // Below one, though for small sigma by less than MPFR's 2000 bits show.
    const BigInt units = (at_most[k] / at_most.back()).units(32);
    ASSERT_EQ(std::min(units, BigInt(largest_word(32))), tables.ranks[k]) << sigma << " " << k;
  }
  ASSERT_EQ(tables.ranks[tables.count - 1], largest_word(32));
}

TEST(GaussianLaw, ThresholdsAreThoseOfMpfr) {
  test::SeededSource bits(50);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double sigma :
       {kMinScale, 0.01, 0.05,  0.0769, 0.08, 0.25,  0.37, 0.5, 1.0,  2.0,      3.7,
        10.0,      16.0, 35.99, 36.0,   64.0, 300.3, 1e3,  1e6, 1e12, kMaxScale}) {
    expect_thresholds_of_mpfr(sigma, GaussianKind::discrete);
    expect_thresholds_of_mpfr(sigma, GaussianKind::rounded);
    if (sigma < kMaxScale) {
      expect_thresholds_of_mpfr(std::nextafter(sigma, infinity), GaussianKind::discrete);
    }
  }
  for (int i = 0; i < 60; ++i) {
    const double fraction = 1 + static_cast<double>(bits.next_bits(52)) * 0x1p-52;
    const int exponent = i % 2 == 0 ? static_cast<int>(bits.next_bits(3)) - 4
                                    : static_cast<int>(bits.next_bits(6)) % 60 - 10;
    expect_thresholds_of_mpfr(std::ldexp(fraction, exponent), GaussianKind::discrete);
  }
}

TEST(GaussianLaw, ThresholdsAreThoseOfASecondOracle) {
  for (const auto& row : test::read_golden_text("thresholds")) {
    if (row.at(0) != "gaussian") continue;
    const GaussianLaw law(std::stod(row.at(1)), GaussianKind::discrete);
    EXPECT_EQ(std::stoul(row.at(4)), law.tables().ranks.at(std::stoul(row.at(3)))) << row.at(1);
  }
}

double folded_pmf(double sigma, std::int64_t x) {
  const auto w = [sigma](double k) { return std::exp(-0.5 * k * k / (sigma * sigma)); };
  double total = 1;
  for (int k = 1; k < 400; ++k) total += 2 * w(k);
  return w(static_cast<double>(x)) / total;
}

TEST(GaussianLaw, EveryShortWordIsDecidedRightly) {
  for (const double sigma : {0.3, 1.0, 2.7, 9.0}) {
    constexpr int kBits = 12;
    const GaussianLaw law(sigma, GaussianKind::discrete, kBits);
    const auto at_most = law.rank_at_most(192);
    std::vector<std::int64_t> below(law.tables().count, 0);
    for (std::uint32_t word = 0; word < (1u << kBits); ++word) {
      std::array<std::uint32_t, 2 * kLanes> words{};
      words[kLanes] = word ^ 0x80000000u;
      std::array<std::int64_t, kLanes> values{};
      std::uint8_t ambiguous = 0;
      folded_groups_scalar(law.tables(), words.data(), 1, values.data(), &ambiguous);
      if ((ambiguous & 1) != 0) continue;
      for (auto k = static_cast<std::size_t>(values[0]); k < below.size(); ++k) ++below[k];
    }
    // Of the words up to a threshold, one each is left open.
    for (std::size_t k = 0; k < below.size(); ++k) {
      const BigInt units = at_most[k].low >> (192 - kBits);
      EXPECT_LE(below[k], units);
      EXPECT_GE(below[k] + static_cast<std::int64_t>(k), units) << sigma << " " << k;
    }
  }
}

TEST(GaussianLaw, ExhaustionCatchesWrongThresholds) {
  constexpr double kSigma = 1;
  constexpr int kBits = 10;
  const GaussianLaw law(kSigma, GaussianKind::discrete, kBits);
  const auto agrees = [&](const GaussianTables& tables) {
    const auto mass = test::exhaust_words(1, kBits, [&](const std::vector<std::uint32_t>& tuple) {
      std::array<std::uint32_t, 2 * kLanes> words{};
      words[kLanes] = tuple[0] ^ 0x80000000u;
      std::array<std::int64_t, kLanes> values{};
      std::uint8_t ambiguous = 0;
      folded_groups_scalar(tables, words.data(), 1, values.data(), &ambiguous);
      return (ambiguous & 1) != 0 ? std::nullopt : std::optional(values[0]);
    });
    return mass.brackets(
        [&](std::int64_t x) { return x < 0 ? 0 : (x == 0 ? 1 : 2) * folded_pmf(kSigma, x); }, 8);
  };
  EXPECT_TRUE(agrees(law.tables()));
  GaussianTables mutant = law.tables();
  mutant.ranks[1] += 2;
  EXPECT_FALSE(agrees(mutant));
}

TEST(GaussianLaw, AcceptancePolynomialIsWithinItsBound) {
  // The claim is 2^-32 on all y that occur, h < 32 and t >= 2: y < 7.9. A fine grid and its ends.
  double worst = 0;
  for (int i = 0; i <= 8000; ++i) {
    const double y = i * 1e-3;
    worst = std::max(
        worst, std::fabs((MpfrReal(y).exp_minus() - MpfrReal(approximate_exp_minus(y))).value()));
  }
  EXPECT_LT(worst, 0x1p-32);
  EXPECT_GT(worst, 0x1p-40);  // the test can see an error of the size that it tests for
}

TEST(GaussianLaw, DecidedTrialsAreDecidedRightly) {
  // Every pair (h, lambda) of small sigmas with words around the true probability, and random ones
  // of large: where the kernel is sure, MPFR agrees; where it is not, the two are close.
  test::SeededSource bits(51);
  const auto check = [&](double sigma, GaussianKind kind, std::uint64_t lambda, unsigned h) {
    const GaussianLaw law(sigma, kind);
    const GaussianTables& tables = law.tables();
    const int j = std::ilogb(sigma) - 1;
    const MpfrReal t(std::ldexp(sigma, -j));
    const int width = tables.wide ? 64 : 32;
    const int digits = tables.rounded ? 63 : j;
    const MpfrReal position(BigInt(lambda >> (width - digits)), BigInt(1) << digits);
    const MpfrReal y = position * (MpfrReal(2.0 * h) + position) / (MpfrReal(2.0) * t * t);
    const MpfrReal probability = y.exp_minus();
    const BigInt centre = probability.units(32);
    for (const int offset : {-100, -3, -1, 0, 1, 3, 100}) {
      const BigInt u = centre + offset;
      if (u < 0 || u >= (BigInt(1) << 32)) continue;
      std::vector<std::uint32_t> words(tables.words * kLanes, 0);
      words[0] = (h == 0 ? 0 : tables.ranks[h - 1] + 1) ^ 0x80000000u;
      words[kLanes] = static_cast<std::uint32_t>(u);
      words[2 * kLanes] = static_cast<std::uint32_t>(lambda);
      if (tables.wide) words[2 * kLanes + 1] = static_cast<std::uint32_t>(lambda >> 32);
      std::array<std::int64_t, kLanes> values{};
      std::uint8_t accepted = 0;
      std::uint8_t ambiguous = 0;
      trial_groups_scalar(tables, words.data(), 1, values.data(), &accepted, &ambiguous);
      const bool minus_zero = !tables.rounded && values[0] == 0 && (lambda & 1) != 0;
      if ((ambiguous & 1) != 0) {
        EXPECT_LE(std::abs(offset), 6);
        continue;
      }
      EXPECT_EQ((accepted & 1) != 0, offset < 0 && !minus_zero) << sigma << " " << h;
      if (offset < 0) {
        const auto exact = law.resolve_trial(words[0] ^ 0x80000000u, words[kLanes], lambda, bits);
        ASSERT_EQ(exact.has_value(), !minus_zero);
        EXPECT_EQ(exact.value_or(values[0]), values[0]);
      }
    }
  };
  for (unsigned h = 0; h < 12; ++h) {
    for (std::uint64_t l = 0; l < 16; ++l) {
      check(36.5, GaussianKind::discrete, l << 28 | (l & 1), h);  // j = 4
    }
  }
  for (int i = 0; i < 300; ++i) {
    const unsigned h = static_cast<unsigned>(bits.next_bits(3));
    check(1e3 + i, GaussianKind::discrete, bits.next_bits(32), h);
    check(0x1.23p45, GaussianKind::discrete, bits.next_u64(), h);
    check(0.7 + i, GaussianKind::rounded, bits.next_u64(), h);
    check(0x1.9p40, GaussianKind::rounded, bits.next_u64(), h);
  }
}

double rounded_pmf(double sigma, std::int64_t x) {
  const double root = sigma * std::sqrt(2.0);
  const double k = std::fabs(static_cast<double>(x));
  if (k == 0) return std::erf(0.5 / root);
  return 0.5 * (std::erfc((k - 0.5) / root) - std::erfc((k + 0.5) / root));
}

TEST(GaussianLaw, ExactPathFollowsTheLaw) {
  // Ranks from words of 2 or 3 bits, so that most take more digits, and every acceptance decided by
  // enclosures. Seeded; each fails once in a million seeds.
  test::SeededSource bits(52);
  struct Case {
    double sigma;
    GaussianKind kind;
  };
  for (const Case c : {Case{0.8, GaussianKind::discrete}, Case{4, GaussianKind::discrete},
                       Case{40, GaussianKind::discrete}, Case{0.4, GaussianKind::rounded},
                       Case{5, GaussianKind::rounded}, Case{90, GaussianKind::rounded}}) {
    const GaussianLaw law(c.sigma, c.kind, 3);
    const auto sampler = [&](BitSource& source) -> Int128 {
      const auto word = [&] { return static_cast<std::uint32_t>(source.next_bits(3)); };
      if (law.tables().folded) {
        const auto rank = static_cast<Int128>(law.resolve_rank(word(), source));
        return source.next_bit() ? -rank : rank;
      }
      while (true) {
        const auto u = static_cast<std::uint32_t>(source.next_bits(32));
        const std::uint64_t lambda = source.next_bits(law.tables().wide ? 64 : 32);
        if (const auto value = law.resolve_trial(word(), u, lambda, source)) return *value;
      }
    };
    const double p = test::chi_square_p_value(
        sampler,
        [&](Int128 x) {
          const auto value = static_cast<std::int64_t>(x);
          return std::log(c.kind == GaussianKind::discrete ? folded_pmf(c.sigma, value)
                                                           : rounded_pmf(c.sigma, value));
        },
        static_cast<long long>(12 * c.sigma) + 4, 2000, bits);
    EXPECT_GT(p, 1e-6) << c.sigma;
  }
}

TEST(GaussianLaw, FillGivesTheSameFromTheSameBitsOnEveryKernel) {
  for (const GaussianKind kind : {GaussianKind::discrete, GaussianKind::rounded}) {
    for (const double sigma :
         {0.002, 0.3, 1.0, 2.0, 4.0, 10.0, 19.0, 35.9, 36.0, 1e3, 1e9, 1e10, 0x1p50}) {
      for (const std::size_t count : {1u, 7u, 8u, 9u, 257u, 1000u, 5000u}) {
        const GaussianLaw law(sigma, kind);
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
}

TEST(GaussianLaw, KernelsAgreeOnThresholdsAndCloseCalls) {
  if (best_kernel() != Kernel::avx2) GTEST_SKIP() << "no AVX2 here";
  test::SeededSource bits(54);
  constexpr std::size_t kGroups = 64;
  for (const GaussianKind kind : {GaussianKind::discrete, GaussianKind::rounded}) {
    for (const double sigma : {0.002, 0.4, 1.0, 3.0, 10.0, 30.0, 50.0, 1e6, 1e14}) {
      const GaussianLaw law(sigma, kind);
      const GaussianTables& tables = law.tables();
      const std::size_t size =
          tables.folded ? sign_words(kGroups) + kGroups * kLanes : kGroups * tables.words * kLanes;
      std::vector<std::uint32_t> words(size);
      for (std::uint32_t& word : words) {
        word = static_cast<std::uint32_t>(bits.next_bits(32));
        const std::uint64_t choice = bits.next_bits(4);
        if (choice == 0) word = tables.ranks[bits.next_bits(8) % tables.count] ^ 0x80000000u;
        if (choice == 1) word = largest_word(32);  // close to a probability of one
        if (choice == 2) word = static_cast<std::uint32_t>(bits.next_bits(2));
      }
      std::vector<std::int64_t> a(kGroups * kLanes);
      std::vector<std::int64_t> b(kGroups * kLanes);
      std::vector<std::uint8_t> a_sure(kGroups), b_sure(kGroups), a_in(kGroups), b_in(kGroups);
      if (tables.folded) {
        folded_groups_scalar(tables, words.data(), kGroups, a.data(), a_sure.data());
        folded_groups_avx2(tables, words.data(), kGroups, b.data(), b_sure.data());
      } else {
        trial_groups_scalar(tables, words.data(), kGroups, a.data(), a_in.data(), a_sure.data());
        trial_groups_avx2(tables, words.data(), kGroups, b.data(), b_in.data(), b_sure.data());
      }
      ASSERT_EQ(a_sure, b_sure) << sigma;
      for (std::size_t i = 0; i < a.size(); ++i) {
        if ((a_sure[i / kLanes] >> (i % kLanes) & 1) != 0) continue;
        ASSERT_EQ(a[i], b[i]) << sigma;
        ASSERT_EQ(a_in[i / kLanes] >> (i % kLanes) & 1, b_in[i / kLanes] >> (i % kLanes) & 1);
      }
    }
  }
}

}  // namespace
}  // namespace shoal::random
