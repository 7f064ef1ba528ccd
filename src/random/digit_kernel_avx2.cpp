// The digit kernel in AVX2 instructions: eight values at a time, no branch and no address that
// depends on a word.
#include "random/avx2_tree.hpp"
#include "random/digit_law.hpp"

namespace shoal::random {

#if defined(__x86_64__)
namespace {

using avx2::load;

// Ten digits of three bits fill a 32-bit lane; the others go into a second one.
constexpr std::size_t kLowDigits = 10;

SHOAL_AVX2 __m256i octal_digit(const std::int32_t* thresholds, __m256i word, __m256i& ambiguous) {
  __m256i digit = _mm256_setzero_si256();
  for (int k = 0; k < 7; ++k) {
    digit = _mm256_sub_epi32(digit, _mm256_cmpgt_epi32(word, _mm256_set1_epi32(thresholds[k])));
  }
  // The word is above `digit` thresholds, so it can only equal the next one.
  const __m256i next = _mm256_permutevar8x32_epi32(load(thresholds), digit);
  ambiguous = _mm256_or_si256(ambiguous, _mm256_cmpeq_epi32(word, next));
  return digit;
}

SHOAL_AVX2 __m256i widen(__m256i lanes, int half) {
  return _mm256_cvtepu32_epi64(half == 0 ? _mm256_castsi256_si128(lanes)
                                         : _mm256_extracti128_si256(lanes, 1));
}

SHOAL_AVX2 __m256i widen_mask(__m256i lanes, int half) {
  return _mm256_cvtepi32_epi64(half == 0 ? _mm256_castsi256_si128(lanes)
                                         : _mm256_extracti128_si256(lanes, 1));
}

template <DigitKind Kind, int Levels>
__attribute__((target("avx2,fma"))) bool draw_groups(const DigitTables& tables,
                                                     const std::uint32_t* words, std::size_t groups,
                                                     std::int64_t* values,
                                                     std::uint8_t* ambiguous) {
  const std::size_t digits = tables.digits;
  const std::size_t low_digits = digits < kLowDigits ? digits : kLowDigits;
  const auto high_shift = _mm_cvtsi32_si128(static_cast<int>(kDigitBits * low_digits));
  const auto top_shift = _mm_cvtsi32_si128(static_cast<int>(kDigitBits * digits));
  const __m256i ones = _mm256_set1_epi32(-1);
  const __m256i sign0 = _mm256_set1_epi32(static_cast<int>(tables.sign[0] ^ 0x80000000u));
  const __m256i sign1 = _mm256_set1_epi32(static_cast<int>(tables.sign[1] ^ 0x80000000u));
  unsigned any = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::uint32_t* word = words + g * tables.words * kLanes;
    __m256i unsure = _mm256_setzero_si256();
    __m256i low = _mm256_setzero_si256();
    __m256i high = _mm256_setzero_si256();
    std::size_t i = 0;
    for (; i < low_digits; ++i, word += kLanes) {
      const __m256i digit = octal_digit(tables.packed_digit[i].data(), load(word), unsure);
      low = _mm256_or_si256(low, _mm256_slli_epi32(digit, static_cast<int>(kDigitBits * i)));
    }
    for (; i < digits; ++i, word += kLanes) {
      const __m256i digit = octal_digit(tables.packed_digit[i].data(), load(word), unsure);
      high = _mm256_or_si256(
          high, _mm256_slli_epi32(digit, static_cast<int>(kDigitBits * (i - low_digits))));
    }
    const __m256i top = avx2::rank<Levels>(tables.packed_top.data(), load(word), unsure);
    __m256i positive = ones;
    __m256i zero = _mm256_setzero_si256();
    if constexpr (Kind != DigitKind::geometric) {
      const __m256i sign = load(word + kLanes);
      positive = _mm256_cmpgt_epi32(sign, sign0);
      unsure = _mm256_or_si256(unsure, _mm256_cmpeq_epi32(sign, sign0));
      if constexpr (Kind == DigitKind::rounded_laplace) {
        zero = _mm256_cmpgt_epi32(sign, sign1);
        unsure = _mm256_or_si256(unsure, _mm256_cmpeq_epi32(sign, sign1));
      }
    }
    for (int half = 0; half < 2; ++half) {
      __m256i value = widen(low, half);
      value = _mm256_add_epi64(value, _mm256_sll_epi64(widen(high, half), high_shift));
      value = _mm256_add_epi64(value, _mm256_sll_epi64(widen(top, half), top_shift));
      if constexpr (Kind != DigitKind::geometric) {
        const __m256i is_positive = widen_mask(positive, half);
        value = _mm256_xor_si256(value, _mm256_xor_si256(is_positive, ones));
        if constexpr (Kind == DigitKind::rounded_laplace) {
          value = _mm256_sub_epi64(value, is_positive);
          value = _mm256_andnot_si256(widen_mask(zero, half), value);
        }
      }
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(values + g * kLanes + 4 * half), value);
    }
    const unsigned mask = avx2::lane_mask(unsure);
    ambiguous[g] = static_cast<std::uint8_t>(mask);
    any |= mask;
  }
  return any != 0;
}

}  // namespace

bool digit_groups_avx2(const DigitTables& tables, const std::uint32_t* words, std::size_t groups,
                       std::int64_t* values, std::uint8_t* ambiguous) {
  return avx2::with_levels(tables.top_levels, [&]<int Levels>() {
    constexpr int kLevels = Levels < 5 ? Levels : 5;  // there are at most 31 thresholds
    switch (tables.kind) {
      case DigitKind::geometric:
        return draw_groups<DigitKind::geometric, kLevels>(tables, words, groups, values, ambiguous);
      case DigitKind::discrete_laplace:
        return draw_groups<DigitKind::discrete_laplace, kLevels>(tables, words, groups, values,
                                                                 ambiguous);
      default:
        return draw_groups<DigitKind::rounded_laplace, kLevels>(tables, words, groups, values,
                                                                ambiguous);
    }
  });
}

#else

bool digit_groups_avx2(const DigitTables& tables, const std::uint32_t* words, std::size_t groups,
                       std::int64_t* values, std::uint8_t* ambiguous) {
  return digit_groups_scalar(tables, words, groups, values, ambiguous);
}

#endif

}  // namespace shoal::random
