// Search trees of thresholds in AVX2 registers: eight words at once find their rank without a
// branch or an address that depends on them, because the tables are looked up inside registers.
//
// Both neighbours of a leaf are among its ancestors in a perfect search tree, so a word that equals
// any threshold meets it on its way down: comparing on the path alone finds every ambiguous word.
#pragma once

#include "random/threshold.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#define SHOAL_AVX2 __attribute__((target("avx2,fma"), always_inline)) inline

namespace shoal::random::avx2 {

SHOAL_AVX2 __m256i load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

SHOAL_AVX2 void store(std::int64_t* to, __m256i value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}

SHOAL_AVX2 __m128i half_of(__m256i lanes, int half) {
  return half == 0 ? _mm256_castsi256_si128(lanes) : _mm256_extracti128_si256(lanes, 1);
}

// entry[index] for each lane, from a table of 2^Level entries.
template <int Level>
SHOAL_AVX2 __m256i look_up(const std::int32_t* table, __m256i index) {
  if constexpr (Level <= 2) {
    // Four entries, in both halves of the register: cheaper to choose from than eight.
    return _mm256_castps_si256(_mm256_permutevar_ps(_mm256_castsi256_ps(load(table)), index));
  } else if constexpr (Level == 3) {
    return _mm256_permutevar8x32_epi32(load(table), index);
  } else {
    constexpr int kHalf = 1 << (Level - 1);
    const __m256i low = look_up<Level - 1>(table, index);
    const __m256i high = look_up<Level - 1>(table + kHalf, index);
    // The bit that chooses the half, moved to where the blend looks for it.
    const __m256i bit = _mm256_slli_epi32(index, 32 - Level);
    return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high),
                                                _mm256_castsi256_ps(bit)));
  }
}

// One level down: index becomes 2 index + (word > entry).
template <int Level>
SHOAL_AVX2 __m256i descend(const std::int32_t* tree, __m256i word, __m256i index,
                           __m256i& ambiguous) {
  const std::int32_t* table = tree + kLevelOffset[Level];
  const __m256i entry = Level == 0 ? _mm256_set1_epi32(table[0]) : look_up<Level>(table, index);
  ambiguous = _mm256_or_si256(ambiguous, _mm256_cmpeq_epi32(word, entry));
  const __m256i above = _mm256_cmpgt_epi32(word, entry);
  return _mm256_sub_epi32(_mm256_add_epi32(index, index), above);
}

template <int Levels, int Level = 0>
SHOAL_AVX2 __m256i descend_all(const std::int32_t* tree, __m256i word, __m256i index,
                               __m256i& ambiguous) {
  if constexpr (Level == Levels) {
    return index;
  } else {
    return descend_all<Levels, Level + 1>(tree, word, descend<Level>(tree, word, index, ambiguous),
                                          ambiguous);
  }
}

// How many thresholds each word is above. The largest word, always a threshold, is not in the tree.
template <int Levels>
SHOAL_AVX2 __m256i rank(const std::int32_t* tree, __m256i word, __m256i& ambiguous) {
  const __m256i largest = _mm256_set1_epi32(0x7fffffff);
  ambiguous = _mm256_or_si256(ambiguous, _mm256_cmpeq_epi32(word, largest));
  return descend_all<Levels>(tree, word, _mm256_setzero_si256(), ambiguous);
}

SHOAL_AVX2 unsigned lane_mask(__m256i lanes) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
}

// Calls draw.template operator()<Levels>() for a number of levels known only now.
template <class Draw>
bool with_levels(int levels, const Draw& draw) {
  switch (levels) {
    case 1:
      return draw.template operator()<1>();
    case 2:
      return draw.template operator()<2>();
    case 3:
      return draw.template operator()<3>();
    case 4:
      return draw.template operator()<4>();
    case 5:
      return draw.template operator()<5>();
    case 6:
      return draw.template operator()<6>();
    case 7:
      return draw.template operator()<7>();
    default:
      return draw.template operator()<8>();
  }
}

}  // namespace shoal::random::avx2
#endif
