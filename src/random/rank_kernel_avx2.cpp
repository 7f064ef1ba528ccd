// Ranks by search trees in AVX2 registers: no branch and no address that depends on a word.
#include "random/avx2_tree.hpp"
#include "random/folded_gaussian.hpp"
#include "random/gaussian_ranks.hpp"

namespace shoal::random {

#if defined(__x86_64__)
namespace {

using avx2::half_of;
using avx2::load;
using avx2::store;

template <int Levels>
__attribute__((target("avx2,fma"))) bool folded(const RankTables& tables,
                                                const std::uint32_t* words, std::size_t groups,
                                                std::int64_t* values, std::uint8_t* ambiguous) {
  const std::uint32_t* ranks = words + sign_words(groups);
  __m256i signs = _mm256_setzero_si256();
  unsigned any = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    if (g % 32 == 0) signs = load(words + g / 32 * kLanes);
    __m256i unsure = _mm256_setzero_si256();
    const __m256i rank = avx2::rank<Levels>(tables.packed.data(), load(ranks + g * kLanes), unsure);
    const __m256i sign = _mm256_srai_epi32(signs, 31);
    signs = _mm256_add_epi32(signs, signs);
    const __m256i value = _mm256_sub_epi32(_mm256_xor_si256(rank, sign), sign);
    store(values + g * kLanes, _mm256_cvtepi32_epi64(half_of(value, 0)));
    store(values + g * kLanes + 4, _mm256_cvtepi32_epi64(half_of(value, 1)));
    const unsigned mask = avx2::lane_mask(unsure);
    ambiguous[g] = static_cast<std::uint8_t>(mask);
    any |= mask;
  }
  return any != 0;
}

}  // namespace

bool folded_groups_avx2(const RankTables& tables, const std::uint32_t* words, std::size_t groups,
                        std::int64_t* values, std::uint8_t* ambiguous) {
  return avx2::with_levels(tables.levels, [&]<int Levels>() {
    return folded<Levels>(tables, words, groups, values, ambiguous);
  });
}

__attribute__((target("avx2,fma"))) void rank_groups_avx2(const RankTables& tables,
                                                          const std::uint32_t* words,
                                                          std::size_t group_words,
                                                          std::size_t groups, std::int64_t* values,
                                                          std::uint8_t* ambiguous) {
  for (std::size_t g = 0; g < groups; ++g) {
    __m256i unsure = _mm256_setzero_si256();
    const __m256i rank =
        avx2::rank<kTrialLevels>(tables.packed.data(), load(words + g * group_words), unsure);
    store(values + g * kLanes, _mm256_cvtepi32_epi64(half_of(rank, 0)));
    store(values + g * kLanes + 4, _mm256_cvtepi32_epi64(half_of(rank, 1)));
    ambiguous[g] = static_cast<std::uint8_t>(avx2::lane_mask(unsure));
  }
}

#else

bool folded_groups_avx2(const RankTables& tables, const std::uint32_t* words, std::size_t groups,
                        std::int64_t* values, std::uint8_t* ambiguous) {
  return folded_groups_scalar(tables, words, groups, values, ambiguous);
}

void rank_groups_avx2(const RankTables& tables, const std::uint32_t* words, std::size_t group_words,
                      std::size_t groups, std::int64_t* values, std::uint8_t* ambiguous) {
  rank_groups_scalar(tables, words, group_words, groups, values, ambiguous);
}

#endif

}  // namespace shoal::random
