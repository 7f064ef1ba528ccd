// The digit kernel in AVX2 instructions: eight values at a time, no branch and no address that
// depends on a word.
#include "random/avx2_tree.hpp"
#include "random/digit_law.hpp"

#include <algorithm>

namespace shoal::random {

#if defined(__x86_64__)
namespace {

using avx2::half_of;
using avx2::load;
using avx2::store;

SHOAL_AVX2 __m256i widen(__m256i lanes, int half) {
  return _mm256_cvtepi32_epi64(half_of(lanes, half));
}

template <LaplaceKind Kind, int Levels>
__attribute__((target("avx2,fma"))) bool draw_groups(const DigitTables& tables,
                                                     const std::uint32_t* words,
                                                     std::size_t group_words, std::size_t groups,
                                                     std::int64_t* values,
                                                     std::uint8_t* ambiguous) {
  const std::size_t digits = tables.digits;
  const auto top_shift = _mm_cvtsi32_si128(static_cast<int>(kDigitBits * digits));
  const __m256i ones = _mm256_set1_epi32(-1);
  const __m256i sign0 = _mm256_set1_epi32(static_cast<int>(tables.sign[0] ^ 0x80000000u));
  const __m256i sign1 = _mm256_set1_epi32(static_cast<int>(tables.sign[1] ^ 0x80000000u));
  unsigned any = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::uint32_t* word = words + g * group_words;
    __m256i unsure = _mm256_setzero_si256();
    __m256i low = _mm256_setzero_si256();
    for (std::size_t i = 0; i < digits; ++i, word += kLanes) {
      const __m256i digit = avx2::descend_all<kDigitBits>(tables.packed_digit[i].data(), load(word),
                                                          _mm256_setzero_si256(), unsure);
      low = _mm256_or_si256(low, _mm256_slli_epi32(digit, static_cast<int>(kDigitBits * i)));
    }
    const __m256i top = avx2::rank<Levels>(tables.packed_top.data(), load(word), unsure);
    __m256i positive = ones;
    __m256i zero = _mm256_setzero_si256();
    if constexpr (Kind != LaplaceKind::geometric) {
      const __m256i sign = load(word + kLanes);
      positive = _mm256_cmpgt_epi32(sign, sign0);
      unsure = _mm256_or_si256(unsure, _mm256_cmpeq_epi32(sign, sign0));
      if constexpr (Kind == LaplaceKind::rounded) {
        zero = _mm256_cmpgt_epi32(sign, sign1);
        unsure = _mm256_or_si256(unsure, _mm256_cmpeq_epi32(sign, sign1));
      }
    }
    for (int half = 0; half < 2; ++half) {
      __m256i value = widen(low, half);
      value = _mm256_add_epi64(value, _mm256_sll_epi64(widen(top, half), top_shift));
      if constexpr (Kind != LaplaceKind::geometric) {
        const __m256i is_positive = widen(positive, half);
        value = _mm256_xor_si256(value, _mm256_xor_si256(is_positive, ones));
        if constexpr (Kind == LaplaceKind::rounded) {
          value = _mm256_sub_epi64(value, is_positive);
          value = _mm256_andnot_si256(widen(zero, half), value);
        }
      }
      store(values + g * kLanes + 4 * static_cast<std::size_t>(half), value);
    }
    const unsigned mask = avx2::lane_mask(unsure);
    ambiguous[g] = static_cast<std::uint8_t>(mask);
    any |= mask;
  }
  return any != 0;
}

}  // namespace

bool digit_groups_avx2(const DigitTables& tables, const std::uint32_t* words,
                       std::size_t group_words, std::size_t groups, std::int64_t* values,
                       std::uint8_t* ambiguous) {
  return avx2::with_levels(tables.top_levels, [&]<int Levels>() {
    constexpr int kLevels = std::min(Levels, 5);  // there are at most 31 thresholds
    switch (tables.kind) {
      case LaplaceKind::geometric:
        return draw_groups<LaplaceKind::geometric, kLevels>(tables, words, group_words, groups,
                                                            values, ambiguous);
      case LaplaceKind::discrete:
        return draw_groups<LaplaceKind::discrete, kLevels>(tables, words, group_words, groups,
                                                           values, ambiguous);
      default:
        return draw_groups<LaplaceKind::rounded, kLevels>(tables, words, group_words, groups,
                                                          values, ambiguous);
    }
  });
}

#else

bool digit_groups_avx2(const DigitTables& tables, const std::uint32_t* words,
                       std::size_t group_words, std::size_t groups, std::int64_t* values,
                       std::uint8_t* ambiguous) {
  return digit_groups_scalar(tables, words, group_words, groups, values, ambiguous);
}

#endif

}  // namespace shoal::random
