// The Gaussian kernels in AVX2 instructions: eight values at a time, no branch and no address that
// depends on a word.
#include "random/acceptance.hpp"
#include "random/avx2_tree.hpp"
#include "random/gaussian_law.hpp"

namespace shoal::random {

#if defined(__x86_64__)
namespace {

using avx2::load;

SHOAL_AVX2 __m128i half_of(__m256i lanes, int half) {
  return half == 0 ? _mm256_castsi256_si128(lanes) : _mm256_extracti128_si256(lanes, 1);
}

SHOAL_AVX2 void store(std::int64_t* to, __m256i value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}

// As approximate_exp_minus, operation by operation.
SHOAL_AVX2 __m256d exp_minus(__m256d y) {
  const __m256d shift = _mm256_set1_pd(kRoundingShift);
  const __m256d shifted = _mm256_fmadd_pd(y, _mm256_set1_pd(kMinusLog2E), shift);
  const __m256d k = _mm256_sub_pd(shifted, shift);
  const __m256d r = _mm256_fnmsub_pd(k, _mm256_set1_pd(kLn2), y);
  __m256d sum = _mm256_set1_pd(kExpSeries[0]);
  for (std::size_t i = 1; i < kExpSeries.size(); ++i) {
    sum = _mm256_fmadd_pd(sum, r, _mm256_set1_pd(kExpSeries[i]));
  }
  return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(sum),
                                              _mm256_slli_epi64(_mm256_castpd_si256(shifted), 52)));
}

SHOAL_AVX2 __m256d fraction(__m256i digits) {
  const __m256d one = _mm256_set1_pd(1.0);
  return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(digits, _mm256_castpd_si256(one))), one);
}

template <int Levels>
__attribute__((target("avx2,fma"))) bool folded(const GaussianTables& tables,
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

// First pass: h of every trial, kept where its value will be. Apart from the second because a
// search and a series one after the other would leave the processor waiting for results.
__attribute__((target("avx2,fma"))) void rank_trials(const GaussianTables& tables,
                                                     const std::uint32_t* words, std::size_t groups,
                                                     std::int64_t* values,
                                                     std::uint8_t* ambiguous) {
  for (std::size_t g = 0; g < groups; ++g, words += tables.words * kLanes) {
    __m256i unsure = _mm256_setzero_si256();
    const __m256i h = avx2::rank<kTrialLevels>(tables.packed.data(), load(words), unsure);
    store(values + g * kLanes, h);
    ambiguous[g] = static_cast<std::uint8_t>(avx2::lane_mask(unsure));
  }
}

template <bool Wide, bool Rounded>
__attribute__((target("avx2,fma"))) bool trials(const GaussianTables& tables,
                                                const std::uint32_t* words, std::size_t groups,
                                                std::int64_t* values, std::uint8_t* accepted,
                                                std::uint8_t* ambiguous) {
  const __m256i lambda_mask = _mm256_set1_epi64x(static_cast<long long>(tables.lambda_mask));
  const __m128i up = _mm_cvtsi32_si128(tables.lambda_bits);
  const __m128i down = _mm_cvtsi32_si128(52 - tables.lambda_bits);
  const __m128i drop = _mm_cvtsi32_si128(tables.drop);
  const __m256i half_step = _mm256_set1_epi64x((1ll << tables.drop) >> 1);
  const __m256d slope = _mm256_set1_pd(tables.half_slope);
  const __m256d margin = _mm256_set1_pd(kAcceptMargin);
  const __m256d minus_margin = _mm256_set1_pd(-kAcceptMargin);
  unsigned any = 0;
  rank_trials(tables, words, groups, values, ambiguous);
  for (std::size_t g = 0; g < groups; ++g, words += tables.words * kLanes) {
    const __m256i h = load(values + g * kLanes);
    const __m256i u_words = load(words + kLanes);
    unsigned accepted_mask = 0;
    unsigned ambiguous_mask = ambiguous[g];
    for (int half = 0; half < 2; ++half) {
      const __m256i lambda_words =
          Wide ? load(words + 2 * kLanes + 8 * half)
               : _mm256_cvtepu32_epi64(half_of(load(words + 2 * kLanes), half));
      const __m256i first_digits =
          Wide ? _mm256_srli_epi64(lambda_words, 12) : _mm256_slli_epi64(lambda_words, 20);
      const __m256i digits = _mm256_and_si256(first_digits, lambda_mask);
      const __m256d lambda = fraction(digits);
      const __m128i h_half = half_of(h, half);
      const __m256d h_real = _mm256_cvtepi32_pd(h_half);
      const __m256d twice_h = _mm256_add_pd(h_real, h_real);
      const __m256d y = _mm256_mul_pd(_mm256_mul_pd(lambda, _mm256_add_pd(twice_h, lambda)), slope);
      const __m256d u =
          fraction(_mm256_slli_epi64(_mm256_cvtepu32_epi64(half_of(u_words, half)), 20));
      const __m256d difference = _mm256_sub_pd(exp_minus(y), u);
      const __m256d above = _mm256_cmp_pd(difference, margin, _CMP_GT_OQ);
      const __m256d below = _mm256_cmp_pd(difference, minus_margin, _CMP_LT_OQ);
      __m256i value = _mm256_add_epi64(_mm256_sll_epi64(_mm256_cvtepi32_epi64(h_half), up),
                                       _mm256_srl_epi64(digits, down));
      if constexpr (Rounded) value = _mm256_srl_epi64(_mm256_add_epi64(value, half_step), drop);
      const __m256i zero = _mm256_setzero_si256();
      const __m256i sign =
          _mm256_sub_epi64(zero, _mm256_and_si256(lambda_words, _mm256_set1_epi64x(1)));
      __m256i accept = _mm256_castpd_si256(above);
      if constexpr (!Rounded) {
        const __m256i minus_zero = _mm256_and_si256(_mm256_cmpeq_epi64(value, zero), sign);
        accept = _mm256_andnot_si256(minus_zero, accept);
      }
      store(values + g * kLanes + 4 * static_cast<std::size_t>(half),
            _mm256_sub_epi64(_mm256_xor_si256(value, sign), sign));
      const auto accept_bits =
          static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(accept)));
      const auto sure_bits = static_cast<unsigned>(_mm256_movemask_pd(_mm256_or_pd(above, below)));
      accepted_mask |= accept_bits << (4 * half);
      ambiguous_mask |= (~sure_bits & 15u) << (4 * half);
    }
    accepted[g] = static_cast<std::uint8_t>(accepted_mask);
    ambiguous[g] = static_cast<std::uint8_t>(ambiguous_mask);
    any |= ambiguous_mask;
  }
  return any != 0;
}

}  // namespace

bool folded_groups_avx2(const GaussianTables& tables, const std::uint32_t* words,
                        std::size_t groups, std::int64_t* values, std::uint8_t* ambiguous) {
  return avx2::with_levels(tables.levels, [&]<int Levels>() {
    return folded<Levels>(tables, words, groups, values, ambiguous);
  });
}

bool trial_groups_avx2(const GaussianTables& tables, const std::uint32_t* words, std::size_t groups,
                       std::int64_t* values, std::uint8_t* accepted, std::uint8_t* ambiguous) {
  const auto draw = tables.rounded ? trials<true, true>
                    : tables.wide  ? trials<true, false>
                                   : trials<false, false>;
  return draw(tables, words, groups, values, accepted, ambiguous);
}

#else

bool folded_groups_avx2(const GaussianTables& tables, const std::uint32_t* words,
                        std::size_t groups, std::int64_t* values, std::uint8_t* ambiguous) {
  return folded_groups_scalar(tables, words, groups, values, ambiguous);
}

bool trial_groups_avx2(const GaussianTables& tables, const std::uint32_t* words, std::size_t groups,
                       std::int64_t* values, std::uint8_t* accepted, std::uint8_t* ambiguous) {
  return trial_groups_scalar(tables, words, groups, values, accepted, ambiguous);
}

#endif

}  // namespace shoal::random
