// Laplace noise by trials: the looks in double precision against MPFR, decisions on either side of
// thresholds, scalar against AVX2, and the exact path under stress.
#include "random/laplace_trials.hpp"

#include "random/trial_law.hpp"
#include "support/chi_square.hpp"
#include "support/mpfr_real.hpp"
#include "support/seeded_source.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>

namespace shoal::random {
namespace {

using numeric::BigInt;
using test::MpfrReal;

constexpr std::uint64_t kWordEnd = std::uint64_t{1} << kRankBits;
constexpr std::array kKinds = {LaplaceKind::geometric, LaplaceKind::discrete, LaplaceKind::rounded};

MpfrReal whole(std::uint64_t number) { return MpfrReal(BigInt(number), BigInt(1)); }

// -t ln(x 2^-48) - y, for a y that is next to it: in the first order, which is enough.
double distance(double t, std::uint64_t x, double y) {
  const MpfrReal at_y = (MpfrReal(y) / MpfrReal(t)).exp_minus() * whole(kWordEnd);
  return ((at_y - whole(x)) / whole(x) * MpfrReal(t)).value();
}

TEST(LaplaceLook, RankBoundsHoldAndAreTight) {
  test::SeededSource bits(61);
  double least = 1;
  double most = 0;
  for (const double t : {128.0, 150.3, 181.0, std::nextafter(256.0, 0.0)}) {
    const LaplaceTables tables = laplace_tables(t, 4, LaplaceKind::discrete);
    const double margin = t * 0x1p-35;
    for (int i = 0; i < 4000; ++i) {
      std::uint64_t w = bits.next_bits(kRankBits) >> (i % 46);
      if (i % 7 == 0) w = kWordEnd - 1 - w;
      if (w == 0) w = 1;
      const RankLook look = look_at_rank(tables, w << 16 | bits.next_bits(16));
      const double below = distance(t, w + 1, look.low - kRankOffset) / margin;
      ASSERT_GE(below, 0) << t << " " << w;
      ASSERT_LE(below, 2) << t << " " << w;
      least = std::min(least, below);
      most = std::max(most, below);
      // High is above all of the word, by little; where it is far above, the word is tiny.
      const double above = -distance(t, w, look.high - kRankOffset) / margin;
      if (w < 8) {
        ASSERT_NE(rank_of(look.low), rank_of(look.high));
      } else {
        ASSERT_GE(above, 0) << t << " " << w;
        ASSERT_LE(above, 2.2 + 46 * 0x1p35 / static_cast<double>(w)) << t << " " << w;
      }
    }
  }
  // The test sees errors of the size that it tests for.
  EXPECT_LT(least, 0.35);
  EXPECT_GT(most, 1.65);
}

TEST(LaplaceLook, AcceptanceIsWithinThreeQuartersOfAUnit) {
  double worst = 0;
  for (const double t : {128.0, 150.3, 181.0, std::nextafter(256.0, 0.0)}) {
    const LaplaceTables tables = laplace_tables(t, 10, LaplaceKind::discrete);
    for (std::uint64_t digits = 0; digits < 1024; ++digits) {
      for (const std::uint64_t minus : {0u, 1u}) {
        const MpfrReal lambda(BigInt(digits + minus), BigInt(1024));
        const MpfrReal p = (lambda / MpfrReal(t)).exp_minus() * MpfrReal(0x1p30);
        const std::int32_t a = look_at_acceptance(tables, digits << 42, 0 - minus);
        worst = std::max(worst, std::fabs((MpfrReal(a) - p).value()));
      }
    }
  }
  EXPECT_LT(worst, 0.53);
  EXPECT_GT(worst, 0.49);
}

struct Verdict {
  std::int64_t value;
  bool accepted;
  bool ambiguous;
};

// One trial in lane 5, and what is around it zero.
Verdict judge(const LaplaceTrials& law, std::uint64_t rank_word, std::uint64_t place_word) {
  constexpr std::size_t kLane = 5;
  std::array<std::uint64_t, 2 * kLanes> pairs{};
  std::array<std::uint32_t, kLaplaceGroupWords> words{};
  pairs[kLane] = rank_word;
  pairs[kLanes + kLane] = place_word;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = static_cast<std::uint32_t>(pairs[i / 2] >> (32 * (i % 2)));
  }
  std::array<std::int64_t, kLanes> values{};
  std::uint8_t accepted = 0;
  std::uint8_t ambiguous = 0;
  laplace_groups_scalar(law.tables(), words.data(), 1, values.data(), &accepted, &ambiguous);
  return {values[kLane], (accepted >> kLane & 1) != 0, (ambiguous >> kLane & 1) != 0};
}

TEST(LaplaceTrials, RanksNextToThresholdsAreDecidedRightly) {
  int decided = 0;
  for (const double t : {128.0, 200.7, 255.9}) {
    const LaplaceTrials law(8 * t, LaplaceKind::discrete);
    for (const int k : {1, 2, 3, 17, 100, 999, 2000, 3000}) {
      const BigInt units = (MpfrReal(static_cast<double>(k)) / MpfrReal(t)).exp_minus().units(48);
      const auto threshold = static_cast<std::uint64_t>(units);
      // Beyond this, everything must be decided.
      const std::int64_t far = static_cast<std::int64_t>(threshold >> 33) + 60;
      for (const std::int64_t part : {0, 1, 2, 5, 20, 40, 60, 80, 100, 101}) {
        for (const std::int64_t side : {-1, 1}) {
          const std::int64_t offset = side * (part == 101 ? far + 1 : far * part / 100);
          const std::uint64_t word = threshold + static_cast<std::uint64_t>(offset);
          const Verdict verdict = judge(law, word << 16, 0);
          if (part == 0 || part == 101) {
            EXPECT_EQ(verdict.ambiguous, part == 0) << t << " " << k << " " << offset;
          }
          if (verdict.ambiguous) continue;
          ++decided;
          ASSERT_EQ(verdict.value, 8 * (offset < 0 ? k : k - 1)) << t << " " << k << " " << offset;
        }
      }
    }
  }
  EXPECT_GT(decided, 100);
  const LaplaceTrials law(1e6, LaplaceKind::geometric);
  for (std::uint64_t word = 0; word < 8; ++word) EXPECT_TRUE(judge(law, word << 16, 0).ambiguous);
  EXPECT_TRUE(judge(law, (kWordEnd - 1) << 16, 0).ambiguous);
}

// Digits of u around the true probability: where the kernel is sure it is right, and it is unsure
// only next to it.
void check_acceptance(double scale, LaplaceKind kind, std::uint64_t place, BitSource& bits) {
  const LaplaceTrials law(scale, kind);
  double t = scale;
  while (t >= 256) t /= 2;
  const int count = kind == LaplaceKind::rounded ? kPlaceBits : law.tables().lambda_bits;
  const std::uint64_t digits = count == 0 ? 0 : place << 1 >> (64 - count);
  const bool minus = kind == LaplaceKind::discrete && place >> 63 != 0;
  const MpfrReal lambda(BigInt(digits + static_cast<std::uint64_t>(minus)), BigInt(1) << count);
  const BigInt centre = (lambda / MpfrReal(t)).exp_minus().units(kUnitBits);
  const std::uint64_t rank = bits.next_bits(kRankBits) | 1u << 20;
  for (const int offset : {-1000, -2, -1, 0, 1, 2, 1000}) {
    const BigInt wanted = centre + offset;
    if (wanted < 0 || wanted >= (BigInt(1) << kUnitBits)) continue;
    const auto u = static_cast<std::uint64_t>(wanted);
    const std::uint64_t rank_word = rank << 16 | u >> 14;
    const std::uint64_t place_word = (place & ~std::uint64_t{0xffff}) | (u & 0x3fff) << 2;
    ASSERT_EQ(accept_digits(rank_word, place_word), u);
    const Verdict verdict = judge(law, rank_word, place_word);
    if (verdict.ambiguous) {
      EXPECT_LT(std::abs(offset), 3);
      continue;
    }
    ASSERT_NE(offset, 0) << scale << " " << place;
    ASSERT_EQ(verdict.accepted, offset < 0) << scale << " " << place << " " << offset;
  }
}

TEST(LaplaceTrials, AcceptancesNextToTheProbabilityAreDecidedRightly) {
  test::SeededSource bits(62);
  for (int i = 0; i < 300; ++i) {
    for (const LaplaceKind kind : kKinds) {
      check_acceptance(128 + i, kind, bits.next_u64(), bits);
      check_acceptance(1.1e3 + i, kind, bits.next_u64(), bits);
      check_acceptance(0x1.23p45, kind, bits.next_u64(), bits);
      check_acceptance(0x1p50, kind, bits.next_u64(), bits);
    }
  }
}

double log_laplace(double scale, LaplaceKind kind, Int128 x) {
  const double k = std::fabs(static_cast<double>(x));
  const double log_rest = std::log(-std::expm1(-1 / scale));
  if (kind == LaplaceKind::geometric) {
    return x < 0 ? -1e300 : log_rest - k / scale;
  }
  if (kind == LaplaceKind::discrete) {
    return log_rest - std::log1p(std::exp(-1 / scale)) - k / scale;
  }
  return k == 0 ? std::log(-std::expm1(-0.5 / scale))
                : log_rest - (k - 0.5) / scale - std::log(2.0);
}

template <class Draw>
void expect_law(double scale, LaplaceKind kind, int draws, const Draw& draw, BitSource& bits) {
  const auto log_pmf = [&](Int128 x) { return log_laplace(scale, kind, x); };
  const auto radius = static_cast<long long>(40 * scale) + 4;
  EXPECT_GT(test::chi_square_p_value(draw, log_pmf, radius, draws, bits), 1e-6) << scale;
}

TEST(LaplaceTrials, ExactPathFollowsTheLaw) {
  // Three digits of U and of u to begin with, so that nearly every draw needs more. Seeded; each
  // fails once in a million seeds.
  test::SeededSource bits(63);
  for (const double scale : {128.0, 300.0}) {
    for (const LaplaceKind kind : kKinds) {
      const LaplaceTrials law(scale, kind);
      const auto draw = [&](BitSource& source) -> Int128 {
        while (true) {
          const LazyUniform rank(source.next_bits(3), 3);
          const LazyUniform u(source.next_bits(3), 3);
          if (const auto value = law.resolve(rank, u, source.next_u64(), source)) return *value;
        }
      };
      expect_law(scale, kind, 2000, draw, bits);
    }
  }
}

TEST(LaplaceTrials, ExactPathGivesWhatTheKernelGives) {
  test::SeededSource bits(69);
  int rejected = 0;
  for (int i = 0; i < 400; ++i) {
    for (const LaplaceKind kind : kKinds) {
      const double scale = std::ldexp(128.0 + i % 128, i % 43);
      const LaplaceTrials law(scale, kind);
      std::uint64_t rank_word = bits.next_u64();
      if (i % 2 == 0) rank_word |= 0xff80;  // so that some are rejected
      const std::uint64_t place_word = bits.next_u64();
      const Verdict verdict = judge(law, rank_word, place_word);
      ASSERT_FALSE(verdict.ambiguous);
      const auto exact = law.resolve(LazyUniform(rank_word >> 16, kRankBits),
                                     LazyUniform(accept_digits(rank_word, place_word), kUnitBits),
                                     place_word, bits);
      ASSERT_EQ(verdict.accepted, exact.has_value());
      if (exact) {
        ASSERT_EQ(verdict.value, *exact);
      }
      rejected += static_cast<int>(!exact);
    }
  }
  EXPECT_GT(rejected, 50);
}

TEST(LaplaceTrials, KernelsFollowTheLaw) {
  // Small scales, which release builds draw otherwise: every value is seen often. Seeded; each
  // fails once in a million seeds.
  test::SeededSource bits(64);
  for (const double scale : {128.0, 300.0}) {
    for (const LaplaceKind kind : kKinds) {
      const LaplaceTrials law(scale, kind);
      expect_law(
          scale, kind, 400000, [&](BitSource& source) { return law.sample(source); }, bits);
    }
  }
}

// At a small scale zero is frequent enough to tell whether a minus is accepted with the probability
// of the next magnitude.
TEST(LaplaceTrials, ZeroAndItsNeighboursHaveTheirShare) {
  test::SeededSource bits(65);
  const double scale = 128;
  const LaplaceTrials law(scale, LaplaceKind::discrete);
  constexpr std::size_t kDraws = 4000000;
  std::vector<std::int64_t> values(kDraws);
  law.fill(values, bits, best_kernel());
  std::array<double, 3> seen{};
  for (const std::int64_t value : values) {
    if (value >= -1 && value <= 1) ++seen[static_cast<std::size_t>(value + 1)];
  }
  // Five standard errors each: a false alarm once in 400,000 seeds.
  for (std::int64_t x = -1; x <= 1; ++x) {
    const double expected = kDraws * std::exp(log_laplace(scale, LaplaceKind::discrete, x));
    EXPECT_NEAR(seen[static_cast<std::size_t>(x + 1)], expected, 5 * std::sqrt(expected)) << x;
  }
  // Below zero and above are alike: P(X > 0) = P(X < 0).
  const auto minus = std::count_if(values.begin(), values.end(), [](auto v) { return v < 0; });
  const auto plus = std::count_if(values.begin(), values.end(), [](auto v) { return v > 0; });
  EXPECT_NEAR(static_cast<double>(plus - minus), 0, 5 * std::sqrt(kDraws));
}

std::vector<std::unique_ptr<const LaplaceTrials>> all_laws() {
  std::vector<std::unique_ptr<const LaplaceTrials>> laws;
  for (const double scale : {128.0, 1100.0, 1e6, 1e12, 0x1p50}) {
    for (const LaplaceKind kind : kKinds) {
      laws.push_back(std::make_unique<LaplaceTrials>(scale, kind));
    }
  }
  return laws;
}

TEST(LaplaceTrials, FillGivesTheSameFromTheSameBitsOnEveryKernel) {
  for (const auto& law : all_laws()) {
    for (const std::size_t count : {1u, 7u, 8u, 9u, 64u, 257u, 5000u}) {
      test::SeededSource first(66);
      test::SeededSource second(66);
      std::vector<std::int64_t> a(count);
      std::vector<std::int64_t> b(count);
      law->fill(a, first, Kernel::scalar);
      law->fill(b, second, best_kernel());
      ASSERT_EQ(a, b) << count;
      ASSERT_EQ(first.next_u64(), second.next_u64());
    }
  }
}

// Words with many of the awkward cases: U on a threshold, small or next to one; u next to one.
std::vector<std::uint32_t> planted_words(double t, std::size_t groups, BitSource& bits) {
  std::vector<std::uint64_t> pairs(groups * 2 * kLanes);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const bool is_rank = i / kLanes % 2 == 0;
    const std::uint64_t choice = bits.next_bits(3);
    pairs[i] = bits.next_u64();
    if (is_rank && choice == 1) {
      const double k = static_cast<double>(1 + bits.next_bits(9));
      const std::uint64_t w = static_cast<std::uint64_t>(std::exp(-k / t) * 0x1p48);
      pairs[i] = (w + bits.next_bits(12) - 2048) << 16 | bits.next_bits(16);
    }
    if (is_rank && choice == 2) pairs[i] >>= 20 + bits.next_bits(5);
    if (is_rank && choice == 3) pairs[i] |= 0xffff;
    if (is_rank && choice == 4) pairs[i] = ~std::uint64_t{0} - (bits.next_bits(4) << 16);
    if (!is_rank && choice == 1) pairs[i] &= 0x800000000000ffffu;
    if (!is_rank && choice == 2) pairs[i] |= 0x7fffffffffffffffu;
    if (!is_rank && choice == 3) pairs[i] = (pairs[i] & ~std::uint64_t{0xffff}) >> 5 << 5;
  }
  std::vector<std::uint32_t> words(2 * pairs.size());
  std::memcpy(words.data(), pairs.data(), 4 * words.size());
  return words;
}

TEST(LaplaceTrials, KernelsAgreeOnThresholdsAndCloseCalls) {
  if (best_kernel() != Kernel::avx2) GTEST_SKIP() << "no AVX2 here";
  test::SeededSource bits(67);
  constexpr std::size_t kGroups = 1023;  // not a multiple of what the kernel does at once
  for (const auto& law : all_laws()) {
    const double t = law->tables().margin.lane[0] * 0x1p35 * 8 / 17;
    const std::vector<std::uint32_t> words = planted_words(t, kGroups, bits);
    std::vector<std::int64_t> a(kGroups * kLanes), b(kGroups * kLanes);
    std::vector<std::uint8_t> a_unsure(kGroups), b_unsure(kGroups), a_in(kGroups), b_in(kGroups);
    EXPECT_TRUE(laplace_groups_scalar(law->tables(), words.data(), kGroups, a.data(), a_in.data(),
                                      a_unsure.data()));
    EXPECT_TRUE(laplace_groups_avx2(law->tables(), words.data(), kGroups, b.data(), b_in.data(),
                                    b_unsure.data()));
    ASSERT_EQ(a_unsure, b_unsure);
    ASSERT_EQ(a, b);
    ASSERT_EQ(a_in, b_in);
    std::size_t unsure = 0;
    for (const std::uint8_t mask : a_unsure) unsure += static_cast<std::size_t>(mask != 0);
    EXPECT_GT(unsure, kGroups / 8);
    EXPECT_LT(unsure, kGroups);
  }
}

// Given words first, then a seeded stream for whatever is continued.
class PlantedSource final : public BitSource {
 public:
  explicit PlantedSource(std::vector<std::uint32_t> words) : words_(std::move(words)) {}

  void fill(std::span<unsigned char> bytes) override {
    if (words_.size() * 4 < bytes.size()) return rest_.fill(bytes);
    std::memcpy(bytes.data(), words_.data(), bytes.size());
    words_.clear();
  }
  std::uint64_t next_bits(int count) override { return rest_.next_bits(count); }

 private:
  std::vector<std::uint32_t> words_;
  test::SeededSource rest_{68};
};

TEST(LaplaceTrials, AmbiguousTrialsAreResolved) {
  // U on the threshold of rank 1 in every lane, u = 0: each value is 0 or 1 rank by digits that
  // come later.
  const double t = 200;
  const BigInt units = (MpfrReal(1.0) / MpfrReal(t)).exp_minus().units(kRankBits);
  const std::uint64_t threshold = static_cast<std::uint64_t>(units) << 16;
  std::vector<std::uint32_t> words(2 * kLaplaceGroupWords, 0);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i / (2 * kLanes) % 2 != 0) continue;
    words[i] = static_cast<std::uint32_t>(threshold >> (32 * (i % 2)));
  }
  const LaplaceTrials law(16 * t, LaplaceKind::discrete);
  for (const Kernel kernel : {Kernel::scalar, best_kernel()}) {
    PlantedSource source(words);
    PlantedSource again(words);
    std::vector<std::int64_t> values(kLanes);
    law.fill(values, source, kernel);
    int above = 0;
    for (const std::int64_t value : values) {
      const auto exact =
          law.resolve(LazyUniform(threshold >> 16, kRankBits), LazyUniform(0, 30), 0, again);
      ASSERT_TRUE(exact.has_value());
      EXPECT_EQ(value, *exact);
      EXPECT_TRUE(value == 0 || value == 16) << value;
      above += static_cast<int>(value == 16);
    }
    EXPECT_GT(above, 0);
    EXPECT_LT(above, 8);
  }
}

}  // namespace
}  // namespace shoal::random
