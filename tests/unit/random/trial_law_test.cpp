// Gaussian noise by trials: the acceptance polynomial against MPFR, decisions on either side of
// every kind of probability, scalar against AVX2, and the exact path under stress.
#include "random/acceptance.hpp"
#include "random/gaussian_trials.hpp"
#include "support/chi_square.hpp"
#include "support/mpfr_real.hpp"
#include "support/seeded_source.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace shoal::random {
namespace {

using numeric::BigInt;
using test::MpfrReal;

const MpfrReal kUnits(0x1p30);

TEST(Acceptance, PolynomialIsWithinAQuarterOfAUnit) {
  // All y that occur: h < 32 and t >= 2, so y < 7.9.
  double worst = 0;
  for (int i = 0; i <= 8000; ++i) {
    const double y = i * 1e-3;
    const MpfrReal error = MpfrReal(gaussian_acceptance(y)) - kUnits * MpfrReal(y).exp_minus();
    worst = std::max(worst, std::fabs(error.value()));
  }
  EXPECT_LT(worst, 0.25);
  EXPECT_GT(worst, 0.01);  // the test sees errors of the size that it tests for
}

// A trial in lane 0 with this h, and what is around it zero.
std::vector<std::uint32_t> trial_words(const TrialLaw& law, std::uint32_t u, std::uint64_t lambda) {
  const TrialTables& tables = law.trial();
  std::vector<std::uint32_t> words(tables.words * kLanes, 0);
  words[tables.rank_words * kLanes] = u;
  words[(tables.rank_words + 1) * kLanes] = static_cast<std::uint32_t>(lambda);
  if (tables.wide) {
    words[(tables.rank_words + 1) * kLanes + 1] = static_cast<std::uint32_t>(lambda >> 32);
  }
  return words;
}

struct Verdict {
  std::int64_t value;
  bool accepted;
  bool ambiguous;
};

Verdict judge(const TrialLaw& law, std::uint64_t h, std::uint32_t u, std::uint64_t lambda) {
  const std::vector<std::uint32_t> words = trial_words(law, u, lambda);
  std::array<std::int64_t, kLanes> values{};
  values[0] = static_cast<std::int64_t>(h);
  std::uint8_t accepted = 0;
  std::uint8_t ambiguous = 0;
  judge_trials_scalar(law.trial(), words.data(), 1, values.data(), &accepted, &ambiguous);
  return {values[0], (accepted & 1) != 0, (ambiguous & 1) != 0};
}

// Words around the true probability: where the kernel is sure it is right, and it is unsure only
// next to it. `probability` is MPFR's own.
void check_decisions(const TrialLaw& law, std::uint64_t h, std::uint64_t lambda,
                     const MpfrReal& probability) {
  const BigInt centre = probability.units(32);
  for (const int offset : {-1000, -12, -9, -4, -1, 0, 1, 4, 9, 12, 1000}) {
    const BigInt u = centre + offset;
    if (u < 0 || u >= (BigInt(1) << 32)) continue;
    const Verdict verdict = judge(law, h, static_cast<std::uint32_t>(u), lambda);
    if (verdict.ambiguous) {
      EXPECT_LT(std::abs(offset), 12);
      continue;
    }
    const bool negative = (lambda & 1) != 0;
    const bool minus_zero = !law.trial().rounded && verdict.value == 0 && negative;
    ASSERT_EQ(verdict.accepted, offset < 0 && !minus_zero) << h << " " << lambda << " " << offset;
  }
}

MpfrReal position_of(const TrialLaw& law, std::uint64_t lambda) {
  const TrialTables& tables = law.trial();
  const int width = tables.wide ? 64 : 32;
  const int digits = tables.rounded ? 63 : tables.lambda_bits;
  return MpfrReal(BigInt(lambda >> (width - digits)), BigInt(1) << digits);
}

void check_gaussian(double sigma, GaussianKind kind, unsigned h, std::uint64_t lambda) {
  const GaussianTrials law(sigma, kind);
  const MpfrReal t(std::ldexp(sigma, 1 - std::ilogb(sigma)));
  const MpfrReal position = position_of(law, lambda);
  const MpfrReal y = position * (MpfrReal(2.0 * h) + position) / (MpfrReal(2.0) * t * t);
  check_decisions(law, h, lambda, y.exp_minus());
}

TEST(TrialLaw, DecidedTrialsAreDecidedRightly) {
  for (unsigned h = 0; h < 12; ++h) {
    for (std::uint64_t l = 0; l < 16; ++l) {
      check_gaussian(36.5, GaussianKind::discrete, h, l << 28 | (l & 1));  // j = 4: all of lambda
    }
  }
  test::SeededSource bits(51);
  for (int i = 0; i < 200; ++i) {
    const auto h = static_cast<unsigned>(bits.next_bits(3));
    check_gaussian(1e3 + i, GaussianKind::discrete, h, bits.next_bits(32));
    check_gaussian(0x1.23p45, GaussianKind::discrete, h, bits.next_u64());
    check_gaussian(0.7 + i, GaussianKind::rounded, h, bits.next_u64());
  }
}

double log_gaussian(double sigma, GaussianKind kind, Int128 x) {
  const double k = std::fabs(static_cast<double>(x));
  if (kind == GaussianKind::discrete) {  // the normaliser is sigma sqrt(2 pi) to 2 e^(-2 pi^2 s^2)
    return -0.5 * k * k / (sigma * sigma) - std::log(sigma * std::sqrt(2 * M_PI));
  }
  const double root = sigma * std::sqrt(2.0);
  if (k == 0) return std::log(std::erf(0.5 / root));
  return std::log(0.5 * (std::erfc((k - 0.5) / root) - std::erfc((k + 0.5) / root)));
}

// Every rank from words of 3 bits and every acceptance by enclosures. Seeded; each fails once in a
// million seeds.
template <class LogPmf>
void expect_exact_path(const TrialLaw& law, const LogPmf& log_pmf, double widths, BitSource& bits) {
  const auto sampler = [&](BitSource& source) -> Int128 {
    while (true) {
      std::array<std::uint32_t, 2> rank_words{};
      for (std::uint32_t& word : rank_words) word = static_cast<std::uint32_t>(source.next_bits(3));
      const auto u = static_cast<std::uint32_t>(source.next_bits(32));
      const std::uint64_t lambda = source.next_bits(law.trial().wide ? 64 : 32);
      if (const auto value = law.resolve(rank_words.data(), u, lambda, source)) return *value;
    }
  };
  EXPECT_GT(
      test::chi_square_p_value(sampler, log_pmf, static_cast<long long>(widths) + 4, 2000, bits),
      1e-6);
}

TEST(TrialLaw, ExactPathFollowsTheLaw) {
  test::SeededSource bits(52);
  for (const double sigma : {0.4, 5.0, 90.0}) {
    for (const GaussianKind kind : {GaussianKind::discrete, GaussianKind::rounded}) {
      if (kind == GaussianKind::discrete && sigma < 4) continue;
      expect_exact_path(
          GaussianTrials(sigma, kind, 3), [&](Int128 x) { return log_gaussian(sigma, kind, x); },
          12 * sigma, bits);
    }
  }
}

TEST(TrialLaw, KernelsFollowTheLaw) {
  // Small scales, which release builds draw otherwise: every value is seen often. Seeded; each
  // fails once in a million seeds.
  test::SeededSource bits(55);
  const auto check = [&](const TrialLaw& law, const auto& log_pmf, double widths) {
    const auto sampler = [&](BitSource& source) { return law.sample(source); };
    EXPECT_GT(test::chi_square_p_value(sampler, log_pmf, static_cast<long long>(widths) + 4, 100000,
                                       bits),
              1e-6);
  };
  for (const double sigma : {4.0, 7.3}) {
    for (const GaussianKind kind : {GaussianKind::discrete, GaussianKind::rounded}) {
      check(
          GaussianTrials(sigma, kind), [&](Int128 x) { return log_gaussian(sigma, kind, x); },
          12 * sigma);
    }
  }
}

std::vector<std::unique_ptr<const TrialLaw>> all_laws() {
  std::vector<std::unique_ptr<const TrialLaw>> laws;
  for (const double sigma : {0.002, 1.0, 5.0, 36.0, 1e6, 1e10, 0x1p50}) {
    laws.push_back(std::make_unique<GaussianTrials>(sigma, GaussianKind::rounded));
    if (sigma < 4) continue;
    laws.push_back(std::make_unique<GaussianTrials>(sigma, GaussianKind::discrete));
  }
  return laws;
}

TEST(TrialLaw, FillGivesTheSameFromTheSameBitsOnEveryKernel) {
  for (const auto& law : all_laws()) {
    for (const std::size_t count : {1u, 7u, 8u, 9u, 257u, 5000u}) {
      test::SeededSource first(53);
      test::SeededSource second(53);
      std::vector<std::int64_t> a(count);
      std::vector<std::int64_t> b(count);
      law->fill(a, first, Kernel::scalar);
      law->fill(b, second, best_kernel());
      ASSERT_EQ(a, b) << count;
      ASSERT_EQ(first.next_u64(), second.next_u64());
    }
  }
}

TEST(TrialLaw, KernelsAgreeOnThresholdsAndCloseCalls) {
  if (best_kernel() != Kernel::avx2) GTEST_SKIP() << "no AVX2 here";
  test::SeededSource bits(54);
  constexpr std::size_t kGroups = 64;
  for (const auto& law : all_laws()) {
    std::vector<std::uint32_t> words(kGroups * law->trial().words * kLanes);
    for (std::uint32_t& word : words) {
      const std::uint64_t choice = bits.next_bits(4);
      word = static_cast<std::uint32_t>(bits.next_bits(32));
      if (choice == 1) word = largest_word(32) - static_cast<std::uint32_t>(bits.next_bits(4));
      if (choice == 2) word = static_cast<std::uint32_t>(bits.next_bits(2));
      if (choice == 3) word = 0x7fffffffu;
    }
    std::vector<std::int64_t> a(kGroups * kLanes), b(kGroups * kLanes);
    std::vector<std::uint8_t> a_unsure(kGroups), b_unsure(kGroups), a_in(kGroups), b_in(kGroups);
    law->rank(words.data(), kGroups, a.data(), a_unsure.data(), Kernel::scalar);
    law->rank(words.data(), kGroups, b.data(), b_unsure.data(), Kernel::avx2);
    ASSERT_EQ(a_unsure, b_unsure);
    // A rank that is not known may be anything, and so may what follows from it.
    for (std::size_t i = 0; i < a.size(); ++i) {
      if ((a_unsure[i / kLanes] >> (i % kLanes) & 1) != 0) a[i] = b[i] = 0;
    }
    ASSERT_EQ(a, b);
    EXPECT_TRUE(judge_trials_scalar(law->trial(), words.data(), kGroups, a.data(), a_in.data(),
                                    a_unsure.data()));
    EXPECT_TRUE(judge_trials_avx2(law->trial(), words.data(), kGroups, b.data(), b_in.data(),
                                  b_unsure.data()));
    ASSERT_EQ(a_unsure, b_unsure);
    ASSERT_EQ(a, b);
    ASSERT_EQ(a_in, b_in);
    std::vector<std::int64_t> a_kept(a.size()), b_kept(b.size());
    const std::size_t kept = keep_accepted_scalar(a.data(), a_in.data(), kGroups, a_kept.data());
    ASSERT_EQ(kept, keep_accepted_avx2(b.data(), b_in.data(), kGroups, b_kept.data()));
    a_kept.resize(kept);
    b_kept.resize(kept);
    ASSERT_EQ(a_kept, b_kept);
    ASSERT_EQ(kept, keep_accepted_avx2(b.data(), b_in.data(), kGroups, b.data()));  // in place
    b.resize(kept);
    ASSERT_EQ(b, a_kept);
  }
}

}  // namespace
}  // namespace shoal::random
