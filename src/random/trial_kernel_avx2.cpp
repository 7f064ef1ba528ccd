// The judgement of trials in AVX2 instructions: no branch and no address that depends on a word.
#include "random/acceptance.hpp"
#include "random/avx2_tree.hpp"
#include "random/trial_law.hpp"

namespace shoal::random {

#if defined(__x86_64__)
namespace {

using avx2::half_of;
using avx2::load;
using avx2::store;

// As horner and gaussian_acceptance, operation by operation.
template <std::size_t Size>
SHOAL_AVX2 __m256d series(const std::array<double, Size>& coefficients, __m256d x) {
  __m256d sum = _mm256_set1_pd(coefficients[0]);
  for (std::size_t i = 1; i < Size; ++i) {
    sum = _mm256_fmadd_pd(sum, x, _mm256_set1_pd(coefficients[i]));
  }
  return sum;
}

SHOAL_AVX2 __m256d gaussian(__m256d y) {
  const __m256d shift = _mm256_set1_pd(kRoundingShift);
  const __m256d shifted = _mm256_fmadd_pd(y, _mm256_set1_pd(kMinusLog2E), shift);
  const __m256d k = _mm256_sub_pd(shifted, shift);
  const __m256d sum = series(kExpSeries, _mm256_fnmsub_pd(k, _mm256_set1_pd(kLn2), y));
  return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(sum),
                                              _mm256_slli_epi64(_mm256_castpd_si256(shifted), 52)));
}

// 1 + a number given by its first 52 binary digits.
SHOAL_AVX2 __m256d one_plus(__m256i digits) {
  return _mm256_castsi256_pd(_mm256_or_si256(digits, _mm256_castpd_si256(_mm256_set1_pd(1.0))));
}

// A whole number below 2^52 as a double, exactly.
SHOAL_AVX2 __m256d real(__m256i whole) {
  const __m256d shift = _mm256_set1_pd(0x1p52);
  return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(whole, _mm256_castpd_si256(shift))),
                       shift);
}

// In units of 2^-30, rounded down.
SHOAL_AVX2 __m128i acceptance_of(const TrialTables& tables, __m256i h, __m256i digits) {
  const __m256d lambda = _mm256_sub_pd(one_plus(digits), _mm256_set1_pd(1.0));
  const __m256d h_real = real(h);
  const __m256d sum = _mm256_add_pd(_mm256_add_pd(h_real, h_real), lambda);
  const __m256d y = _mm256_mul_pd(_mm256_mul_pd(lambda, sum), _mm256_set1_pd(tables.slope));
  return _mm256_cvttpd_epi32(gaussian(y));
}

template <bool Wide, bool Rounded>
__attribute__((target("avx2,fma"))) bool judge(const TrialTables& tables,
                                               const std::uint32_t* words, std::size_t groups,
                                               std::int64_t* values, std::uint8_t* accepted,
                                               std::uint8_t* ambiguous) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i lambda_mask = _mm256_set1_epi64x(static_cast<long long>(tables.lambda_mask));
  const __m256i sign_bit = _mm256_set1_epi64x(1);
  const __m128i up = _mm_cvtsi32_si128(tables.lambda_bits);
  const __m128i down = _mm_cvtsi32_si128(52 - tables.lambda_bits);
  const __m128i drop = _mm_cvtsi32_si128(tables.drop);
  const __m256i half_step = _mm256_set1_epi64x((1LL << tables.drop) >> 1);
  unsigned any = 0;
  words += tables.rank_words * kLanes;
  for (std::size_t g = 0; g < groups; ++g, words += tables.words * kLanes) {
    unsigned minus_zero = 0;
    __m128i chance[2];
    for (int half = 0; half < 2; ++half) {
      std::int64_t* place = values + g * kLanes + 4 * static_cast<std::size_t>(half);
      const __m256i h = load(place);
      const __m256i lambda_words = Wide
                                       ? load(words + kLanes + 8 * static_cast<std::size_t>(half))
                                       : _mm256_cvtepu32_epi64(half_of(load(words + kLanes), half));
      const __m256i first_digits =
          Wide ? _mm256_srli_epi64(lambda_words, 12) : _mm256_slli_epi64(lambda_words, 20);
      const __m256i digits = _mm256_and_si256(first_digits, lambda_mask);
      chance[half] = acceptance_of(tables, h, digits);
      __m256i value = _mm256_add_epi64(_mm256_sll_epi64(h, up), _mm256_srl_epi64(digits, down));
      if constexpr (Rounded) value = _mm256_srl_epi64(_mm256_add_epi64(value, half_step), drop);
      const __m256i sign = _mm256_sub_epi64(zero, _mm256_and_si256(lambda_words, sign_bit));
      if constexpr (!Rounded) {
        const __m256i both = _mm256_and_si256(_mm256_cmpeq_epi64(value, zero), sign);
        minus_zero |= static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(both)))
                      << (4 * half);
      }
      store(place, _mm256_sub_epi64(_mm256_xor_si256(value, sign), sign));
    }
    const __m256i u = _mm256_srli_epi32(load(words), 32 - kUnitBits);
    const __m256i difference = _mm256_sub_epi32(_mm256_set_m128i(chance[1], chance[0]), u);
    const unsigned above = avx2::lane_mask(_mm256_cmpgt_epi32(difference, _mm256_set1_epi32(1)));
    const unsigned below = avx2::lane_mask(_mm256_cmpgt_epi32(_mm256_set1_epi32(-1), difference));
    const unsigned unsure = ambiguous[g] | (~(above | below) & 255u);
    accepted[g] = static_cast<std::uint8_t>(above & ~minus_zero);
    ambiguous[g] = static_cast<std::uint8_t>(unsure);
    any |= unsure;
  }
  return any != 0;
}

// Which lanes to take, in order, for each mask of four accepted ones.
struct KeepTable {
  alignas(32) std::array<std::array<std::uint32_t, 8>, 16> lanes{};

  constexpr KeepTable() {
    for (unsigned mask = 0; mask < 16; ++mask) {
      std::size_t next = 0;
      for (unsigned lane = 0; lane < 4; ++lane) {
        if ((mask >> lane & 1) == 0) continue;
        lanes[mask][next++] = 2 * lane;
        lanes[mask][next++] = 2 * lane + 1;
      }
    }
  }
};
constexpr KeepTable kKeep;

}  // namespace

bool judge_trials_avx2(const TrialTables& tables, const std::uint32_t* words, std::size_t groups,
                       std::int64_t* values, std::uint8_t* accepted, std::uint8_t* ambiguous) {
  const auto chosen = tables.rounded ? judge<true, true>
                      : tables.wide  ? judge<true, false>
                                     : judge<false, false>;
  return chosen(tables, words, groups, values, accepted, ambiguous);
}

// Four at a time; what is not accepted is overwritten by the next four. Most groups are accepted
// whole.
__attribute__((target("avx2,fma"))) std::size_t keep_accepted_avx2(const std::int64_t* values,
                                                                   const std::uint8_t* accepted,
                                                                   std::size_t groups,
                                                                   std::int64_t* to) {
  std::size_t kept = 0;
  for (std::size_t g = 0; g < groups; ++g, values += kLanes) {
    const unsigned mask = accepted[g];
    if (mask == 255) {
      const __m256i low = load(values);
      const __m256i high = load(values + 4);
      store(to + kept, low);
      store(to + kept + 4, high);
      kept += kLanes;
      continue;
    }
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned part = mask >> (4 * half) & 15u;
      const __m256i lanes = load(kKeep.lanes[part].data());
      store(to + kept, _mm256_permutevar8x32_epi32(load(values + std::size_t{4} * half), lanes));
      kept += static_cast<std::size_t>(__builtin_popcount(part));
    }
  }
  return kept;
}

#else

std::size_t keep_accepted_avx2(const std::int64_t* values, const std::uint8_t* accepted,
                               std::size_t groups, std::int64_t* to) {
  return keep_accepted_scalar(values, accepted, groups, to);
}

bool judge_trials_avx2(const TrialTables& tables, const std::uint32_t* words, std::size_t groups,
                       std::int64_t* values, std::uint8_t* accepted, std::uint8_t* ambiguous) {
  return judge_trials_scalar(tables, words, groups, values, accepted, ambiguous);
}

#endif

}  // namespace shoal::random
