// The digit sampler: thresholds against two oracles, every short word, scalar against AVX2, words
// on a threshold, and mutants that the checks must catch.
#include "random/digit_law.hpp"

#include "support/chi_square.hpp"
#include "support/golden.hpp"
#include "support/mpfr_real.hpp"
#include "support/seeded_source.hpp"
#include "support/word_exhaustion.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::random {
namespace {

using test::MpfrReal;

double pmf(LaplaceKind kind, double scale, std::int64_t x) {
  const double q = std::exp(-1 / scale);
  const double magnitude = std::fabs(static_cast<double>(x));
  switch (kind) {
    case LaplaceKind::geometric:
      return x < 0 ? 0 : -std::expm1(-1 / scale) * std::exp(-magnitude / scale);
    case LaplaceKind::discrete:
      return -std::expm1(-1 / scale) / (1 + q) * std::exp(-magnitude / scale);
    default:
      return x == 0 ? -std::expm1(-0.5 / scale)
                    : -std::expm1(-1 / scale) * std::exp(-(magnitude - 0.5) / scale) / 2;
  }
}

constexpr std::array kKinds = {LaplaceKind::geometric, LaplaceKind::discrete, LaplaceKind::rounded};

// What the portable kernel makes of one tuple of words; nothing if one is on a threshold.
std::optional<std::int64_t> decide(const DigitTables& tables,
                                   const std::vector<std::uint32_t>& tuple) {
  std::vector<std::uint32_t> words(tables.words * kLanes);
  for (std::size_t i = 0; i < tuple.size(); ++i) words[i * kLanes] = tuple[i] ^ 0x80000000u;
  std::array<std::int64_t, kLanes> values{};
  std::uint8_t ambiguous = 0;
  digit_groups_scalar(tables, words.data(), words.size(), 1, values.data(), &ambiguous);
  return (ambiguous & 1) != 0 ? std::nullopt : std::optional(values[0]);
}

bool exhaustion_agrees(const DigitTables& tables, double scale, int word_bits) {
  const auto mass = test::exhaust_words(
      tables.words, word_bits,
      [&](const std::vector<std::uint32_t>& tuple) { return decide(tables, tuple); });
  return mass.brackets([&](std::int64_t x) { return pmf(tables.kind, scale, x); }, 60);
}

// One word at a time, all of them: those that decide "at most d" must bracket its probability
// within the one word that is left open.
bool words_agree(const DigitLaw& law, const DigitTables& tables, int word_bits) {
  const std::uint32_t words = 1u << word_bits;
  const auto agrees = [&](const std::uint32_t* thresholds, std::size_t count, const auto& at_most) {
    for (std::size_t d = 0; d < count; ++d) {
      std::uint32_t below = 0;
      std::uint32_t open = 0;
      for (std::uint32_t word = 0; word < words; ++word) {
        below += static_cast<std::uint32_t>(word < thresholds[d]);
        open += static_cast<std::uint32_t>(word == thresholds[d]);
      }
      const numeric::Enclosure p = at_most(d);
      const int shift = p.precision - word_bits;
      if (p.high < numeric::BigInt(below) << shift) return false;
      if (p.low > numeric::BigInt(below + open) << shift) return false;
    }
    return true;
  };
  for (std::size_t i = 0; i < tables.digits; ++i) {
    const auto at_most = [&](std::size_t d) {
      return law.digit_at_most(i, static_cast<unsigned>(d), 128);
    };
    if (!agrees(tables.digit[i].data(), kRadix - 1, at_most)) return false;
  }
  const auto top = [&](std::size_t d) { return law.top_at_most(d, 128); };
  const auto sign = [&](std::size_t k) { return law.sign_threshold(k, 128); };
  const std::size_t signs = tables.kind == LaplaceKind::geometric  ? 0
                            : tables.kind == LaplaceKind::discrete ? 1
                                                                   : 2;
  return agrees(tables.top.data(), tables.top_count, top) &&
         agrees(tables.sign.data(), signs, sign);
}

TEST(DigitLaw, EveryShortWordIsDecidedRightly) {
  struct Case {
    double scale;
    int word_bits;
  };
  for (const Case c : {Case{0.3, 8}, Case{1, 8}, Case{0.999, 7}, Case{2.5, 6}, Case{7.9, 7},
                       Case{20, 6}, Case{32, 6}, Case{40, 5}}) {
    for (const LaplaceKind kind : kKinds) {
      const DigitLaw law(c.scale, kind, c.word_bits);
      EXPECT_TRUE(exhaustion_agrees(law.tables(), c.scale, c.word_bits)) << c.scale;
      EXPECT_TRUE(words_agree(law, law.tables(), c.word_bits)) << c.scale;
    }
  }
}

TEST(DigitLaw, ExhaustionCatchesWrongThresholds) {
  const DigitLaw law(2.5, LaplaceKind::discrete, 6);
  const auto caught = [&](const DigitTables& mutant) { return !words_agree(law, mutant, 6); };
  EXPECT_FALSE(caught(law.tables()));
  for (std::size_t d = 0; d + 1 < kRadix; ++d) {
    DigitTables mutant = law.tables();
    ++mutant.digit[0][d];
    EXPECT_TRUE(caught(mutant)) << "digit threshold one too large: " << d;
    mutant = law.tables();
    --mutant.digit[0][d];
    EXPECT_TRUE(caught(mutant)) << "digit threshold one too small: " << d;
  }
  DigitTables top = law.tables();
  ++top.top[0];
  EXPECT_TRUE(caught(top));
  DigitTables fair = law.tables();
  fair.sign[0] = 1u << 5;  // a fair sign, where -1 - g must be rarer than g
  EXPECT_TRUE(caught(fair));
}

TEST(DigitLaw, ExhaustionCatchesATruncatedContinuation) {
  // Words on a threshold count as below it, as if no further digits existed.
  const double scale = 2.5;
  const DigitLaw law(scale, LaplaceKind::geometric, 6);
  const auto mass =
      test::exhaust_words(law.tables().words, 6, [&](const std::vector<std::uint32_t>& tuple) {
        std::int64_t value = 0;
        for (std::size_t d = 0; d + 1 < kRadix; ++d) value += tuple[0] > law.tables().digit[0][d];
        for (std::size_t d = 0; d < law.tables().top_count; ++d) {
          value += static_cast<std::int64_t>(kRadix) * (tuple[1] > law.tables().top[d] ? 1 : 0);
        }
        return std::optional(value);
      });
  EXPECT_FALSE(
      mass.brackets([&](std::int64_t x) { return pmf(LaplaceKind::geometric, scale, x); }, 60));
}

TEST(DigitLaw, ResolvedWordsFollowTheLaw) {
  // Words of 3 bits: nearly every draw takes more digits. Seeded; fails once in a million seeds.
  test::SeededSource bits(40);
  for (const LaplaceKind kind : kKinds) {
    for (const double scale : {0.4, 1.0, 9.0, 70.0, 1000.0}) {
      const DigitLaw law(scale, kind, 3);
      const auto sampler = [&](BitSource& source) {
        std::array<std::uint32_t, kMaxDigits + 2> words{};
        for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(source.next_bits(3));
        return law.resolve(words.data(), 1, source);
      };
      const double p = test::chi_square_p_value(
          sampler,
          [&](Int128 x) { return std::log(pmf(kind, scale, static_cast<std::int64_t>(x))); },
          static_cast<long long>(40 * scale) + 40, 3000, bits);
      EXPECT_GT(p, 1e-6) << scale;
    }
  }
}

// All thresholds of a law from MPFR, by formulas written anew: sums of the pmf, not ratios.
void expect_thresholds_of_mpfr(double scale, std::optional<std::size_t> digits = {}) {
  const DyadicScale exact = exact_scale(scale, "scale");
  const auto power = [&](const numeric::BigInt& exponent) {
    return MpfrReal(exponent * exact.denominator, exact.numerator).exp_minus();
  };
  const MpfrReal one(1.0);
  for (const LaplaceKind kind : {LaplaceKind::discrete, LaplaceKind::rounded}) {
    const DigitLaw usual(scale, kind);
    const DigitLaw law(scale, kind, kWordBits, digits.value_or(usual.tables().digits));
    const DigitTables& tables = law.tables();
    for (std::size_t i = 0; i < tables.digits; ++i) {
      const numeric::BigInt unit = numeric::BigInt(1) << (kDigitBits * static_cast<int>(i));
      MpfrReal whole(0.0);
      std::array<MpfrReal, kRadix> at_most;
      for (unsigned d = 0; d < kRadix; ++d) {
        whole = whole + power(unit * d);
        at_most[d] = whole;
      }
      for (unsigned d = 0; d + 1 < kRadix; ++d) {
        ASSERT_EQ((at_most[d] / whole).units(32), tables.digit[i][d])
            << scale << " " << i << " " << d;
      }
    }
    const numeric::BigInt top = numeric::BigInt(1)
                                << (kDigitBits * static_cast<int>(tables.digits));
    for (std::size_t d = 0; d < tables.top_count; ++d) {
      const numeric::BigInt expected = (one - power(top * (d + 1))).units(32);
      ASSERT_EQ(expected, tables.top[d]) << scale << " top " << d;
    }
    if (kind == LaplaceKind::discrete) {
      ASSERT_EQ((power(1) / (one + power(1))).units(32), tables.sign[0]) << scale;
    } else {
      const MpfrReal half_power =
          MpfrReal(exact.denominator, numeric::BigInt(exact.numerator) * 2).exp_minus();
      ASSERT_EQ((half_power / MpfrReal(2.0)).units(32), tables.sign[0]) << scale;
      ASSERT_EQ(half_power.units(32), tables.sign[1]) << scale;
    }
  }
}

TEST(DigitLaw, ThresholdsAreThoseOfMpfrAtAwkwardScales) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (int exponent = -10; exponent <= 10; ++exponent) {
    const double power = std::ldexp(1.0, exponent);
    expect_thresholds_of_mpfr(power);
    if (power < kLargestDigitScale) expect_thresholds_of_mpfr(std::nextafter(power, infinity));
    if (power > kMinScale) expect_thresholds_of_mpfr(std::nextafter(power, 0.0));
  }
  for (const double scale : {3.0, 7.0, 10.0, 20.0, 100.0, 1e3, 1 / 3.0}) {
    expect_thresholds_of_mpfr(scale);
  }
}

TEST(DigitLaw, ThresholdsAreThoseOfMpfrAtRandomScales) {
  test::SeededSource bits(41);
  for (int i = 0; i < 100; ++i) {
    const double fraction = 1 + static_cast<double>(bits.next_bits(52)) * 0x1p-52;
    expect_thresholds_of_mpfr(std::ldexp(fraction, static_cast<int>(bits.next_bits(6)) % 20 - 10));
  }
}

TEST(DigitLaw, ThresholdsAreThoseOfASecondOracle) {
  int rows = 0;
  for (const auto& row : test::read_golden_text("thresholds")) {
    if (row.at(0) != "laplace") continue;
    const DigitLaw law(std::stod(row.at(1)), LaplaceKind::discrete);
    const DigitTables& tables = law.tables();
    const std::size_t index = std::stoul(row.at(3));
    const std::uint32_t actual = row.at(2) == "top"    ? tables.top.at(index)
                                 : row.at(2) == "sign" ? tables.sign.at(index)
                                                       : tables.digit.at(index / 31)[index % 31];
    EXPECT_EQ(std::stoul(row.at(4)), actual) << row.at(1) << " " << row.at(2) << " " << index;
    ++rows;
  }
  EXPECT_GT(rows, 200);
}

TEST(DigitLaw, ThresholdsOfOneDigitForTrialsAreThoseOfMpfr) {
  test::SeededSource bits(45);
  expect_thresholds_of_mpfr(22, 1);
  expect_thresholds_of_mpfr(std::nextafter(44.0, 0.0), 1);
  for (int i = 0; i < 40; ++i) {
    expect_thresholds_of_mpfr(22 * (1 + static_cast<double>(bits.next_bits(50)) * 0x1p-50), 1);
  }
}

std::vector<std::uint32_t> random_words(std::size_t count, BitSource& bits) {
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(bits.next_bits(32));
  return words;
}

TEST(DigitLaw, KernelsAgreeAlsoOnThresholds) {
  if (best_kernel() != Kernel::avx2) GTEST_SKIP() << "no AVX2 here";
  test::SeededSource bits(42);
  constexpr std::size_t kGroups = 64;
  for (const LaplaceKind kind : kKinds) {
    for (const double scale : {0.002, 0.05, 0.3, 1.0, 2.0, 10.0, 33.0, 1e3, 1024.0}) {
      const DigitLaw law(scale, kind);
      const DigitTables& tables = law.tables();
      std::vector<std::uint32_t> words = random_words(kGroups * tables.words * kLanes, bits);
      for (std::size_t k = 0; k < 40; ++k) {  // plant thresholds, their neighbours and the ends
        const std::size_t where = bits.next_bits(20) % words.size();
        const std::size_t i = where / kLanes % tables.words;
        const std::uint32_t offset = static_cast<std::uint32_t>(bits.next_bits(2)) - 1;
        std::uint32_t value = i < tables.digits ? tables.digit[i][bits.next_bits(5) % (kRadix - 1)]
                              : i == tables.digits
                                  ? tables.top[bits.next_bits(5) % tables.top_count]
                                  : tables.sign[bits.next_bits(1)];
        if (k % 8 == 0) value = largest_word(32);
        words[where] = (value + offset) ^ 0x80000000u;
      }
      std::vector<std::int64_t> scalar(kGroups * kLanes);
      std::vector<std::int64_t> vector(kGroups * kLanes);
      std::vector<std::uint8_t> scalar_mask(kGroups);
      std::vector<std::uint8_t> vector_mask(kGroups);
      EXPECT_EQ(digit_groups_scalar(tables, words.data(), tables.words * kLanes, kGroups,
                                    scalar.data(), scalar_mask.data()),
                digit_groups_avx2(tables, words.data(), tables.words * kLanes, kGroups,
                                  vector.data(), vector_mask.data()));
      ASSERT_EQ(scalar_mask, vector_mask) << scale;
      for (std::size_t i = 0; i < scalar.size(); ++i) {
        if ((scalar_mask[i / kLanes] >> (i % kLanes) & 1) == 0) {
          ASSERT_EQ(scalar[i], vector[i]) << scale;
        }
      }
    }
  }
}

TEST(DigitLaw, FillGivesTheSameFromTheSameBitsOnEveryKernel) {
  for (const LaplaceKind kind : kKinds) {
    for (const double scale : {0.5, 1.0, 10.0, 33.0, 1e3}) {
      for (const std::size_t count : {1u, 7u, 8u, 9u, 1000u, 5000u}) {
        const DigitLaw law(scale, kind);
        test::SeededSource first(43);
        test::SeededSource second(43);
        std::vector<std::int64_t> a(count);
        std::vector<std::int64_t> b(count);
        law.fill(a, first, Kernel::scalar);
        law.fill(b, second, best_kernel());
        EXPECT_EQ(a, b) << scale << " " << count;
        EXPECT_EQ(first.next_u64(), second.next_u64());  // and both took as many bits
      }
    }
  }
}

TEST(DigitLaw, WordsOnAThresholdAreContinued) {
  // Zero bits forever put U on the threshold's lower edge: below it. Ones: above.
  const DigitLaw law(1, LaplaceKind::discrete);
  struct Constant final : BitSource {
    explicit Constant(unsigned char value) : value_(value) {}
    void fill(std::span<unsigned char> bytes) override {
      for (unsigned char& byte : bytes) byte = value_;
    }
    unsigned char value_;
  };
  for (std::size_t d = 0; d < 20; ++d) {
    const std::array<std::uint32_t, 2> words = {law.tables().top[d], largest_word(32)};
    Constant zeros(0);
    Constant ones(255);
    EXPECT_EQ(law.resolve(words.data(), 1, zeros), static_cast<Int128>(d));
    EXPECT_EQ(law.resolve(words.data(), 1, ones), static_cast<Int128>(d + 1));
  }
}

}  // namespace
}  // namespace shoal::random
