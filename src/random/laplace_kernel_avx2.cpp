// Trials of Laplace noise in AVX2 instructions: no branch and no address that depends on a word.
// Operation by operation as in laplace_kernel_scalar.cpp.
#include "random/avx2_tree.hpp"
#include "random/laplace_trials.hpp"

namespace shoal::random {

#if defined(__x86_64__)
namespace {

using avx2::load;
using avx2::store;

SHOAL_AVX2 __m256d load(const Fourfold<double>& number) {
  return _mm256_load_pd(number.lane.data());
}

SHOAL_AVX2 __m256i bits_of(__m256d reals) { return _mm256_castpd_si256(reals); }
SHOAL_AVX2 __m256d with_bits(__m256i bits) { return _mm256_castsi256_pd(bits); }

// The given bits, and those of `number` above them.
SHOAL_AVX2 __m256d join(__m256i low_bits, double number) {
  return with_bits(_mm256_or_si256(low_bits, bits_of(_mm256_set1_pd(number))));
}

SHOAL_AVX2 unsigned mask_of(__m256i lanes) {
  return static_cast<unsigned>(_mm256_movemask_pd(with_bits(lanes)));
}

// h, still with the offset, of Size registers side by side: so many chains of multiplications hide
// the latency of one, and share the loads of coefficients.
template <std::size_t Size>
SHOAL_AVX2 void rank_registers(const LaplaceTables& tables, const std::uint32_t* words,
                               std::int64_t* ranks, std::uint8_t* ambiguous) {
  __m256i x_bits[Size];
  __m256d z[Size];
  __m256d sum[Size];
  for (std::size_t i = 0; i < Size; ++i) {
    const __m256i word = load(words + i / 2 * kLaplaceGroupWords + i % 2 * kLanes);
    const __m256d x = _mm256_sub_pd(join(_mm256_srli_epi64(word, 64 - kRankBits), 0x1p52),
                                    _mm256_set1_pd(0x1p52 - 1));
    x_bits[i] = bits_of(x);
    const __m256i mantissa = _mm256_set1_epi64x(static_cast<long long>(kMantissaMask));
    z[i] = _mm256_sub_pd(join(_mm256_and_si256(x_bits[i], mantissa), 1.0), _mm256_set1_pd(1.5));
    sum[i] = load(tables.log[0]);
  }
  for (std::size_t k = 1; k < tables.log.size(); ++k) {
    const __m256d coefficient = load(tables.log[k]);
    for (std::size_t i = 0; i < Size; ++i) sum[i] = _mm256_fmadd_pd(sum[i], z[i], coefficient);
  }
  for (std::size_t i = 0; i < Size; ++i) {
    const __m256d with_exponent = join(_mm256_srli_epi64(x_bits[i], 12), 1.0);
    const __m256d linear = _mm256_fmadd_pd(with_exponent, load(tables.slope), load(tables.start));
    const __m256d low = _mm256_fmadd_pd(sum[i], z[i], linear);
    const __m256d reach = with_bits(_mm256_sub_epi64(load(tables.reach.lane.data()), x_bits[i]));
    const __m256d high = _mm256_add_pd(low, _mm256_max_pd(reach, load(tables.margin)));
    const __m256i low_rank = _mm256_srli_epi64(bits_of(low), kRankPoint);
    const __m256i high_rank = _mm256_srli_epi64(bits_of(high), kRankPoint);
    store(ranks + 4 * i, low_rank);
    const unsigned unsure = mask_of(_mm256_cmpeq_epi64(low_rank, high_rank)) ^ 15u;
    if (i % 2 == 0) {
      ambiguous[i / 2] = static_cast<std::uint8_t>(unsure);
    } else {
      ambiguous[i / 2] = static_cast<std::uint8_t>(ambiguous[i / 2] | unsure << 4);
    }
  }
}

__attribute__((target("avx2,fma"))) void rank_groups(const LaplaceTables& tables,
                                                     const std::uint32_t* words, std::size_t groups,
                                                     std::int64_t* ranks, std::uint8_t* ambiguous) {
  constexpr std::size_t kAtOnce = 4;
  std::size_t g = 0;
  for (; g + kAtOnce <= groups; g += kAtOnce) {
    rank_registers<2 * kAtOnce>(tables, words + g * kLaplaceGroupWords, ranks + g * kLanes,
                                ambiguous + g);
  }
  for (; g < groups; ++g) {
    rank_registers<2>(tables, words + g * kLaplaceGroupWords, ranks + g * kLanes, ambiguous + g);
  }
}

// The first 32 bits of each lane of two registers in one. Its order is that of in_order.
SHOAL_AVX2 __m256i low_words(const __m256i (&halves)[2]) {
  return _mm256_castps_si256(
      _mm256_shuffle_ps(_mm256_castsi256_ps(halves[0]), _mm256_castsi256_ps(halves[1]), 0x88));
}

// A mask of lanes 0 1 4 5 2 3 6 7 as one of 0 to 7.
unsigned in_order(unsigned mask) {
  return (mask & 0xc3u) | (mask & 0x0cu) << 2 | (mask & 0x30u) >> 2;
}

// Makes h the value.
template <LaplaceKind Kind>
__attribute__((target("avx2,fma"))) bool judge(const LaplaceTables& tables,
                                               const std::uint32_t* words, std::size_t groups,
                                               std::int64_t* values, std::uint8_t* accepted,
                                               std::uint8_t* ambiguous) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i one = bits_of(_mm256_set1_pd(1.0));
  const __m256i offset = _mm256_srli_epi64(bits_of(_mm256_set1_pd(kRankOffset)), kRankPoint);
  const __m256i lambda_mask = load(tables.lambda_mask.lane.data());
  const __m256i step = load(tables.step.lane.data());
  const __m128i up = _mm_cvtsi32_si128(tables.lambda_bits);
  const __m128i down = _mm_cvtsi32_si128(52 - tables.lambda_bits);
  unsigned any = 0;
  for (std::size_t g = 0; g < groups; ++g, words += kLaplaceGroupWords) {
    __m256i chance[2];
    __m256i uniform[2];
    for (std::size_t half = 0; half < 2; ++half) {
      std::int64_t* place = values + g * kLanes + 4 * half;
      const __m256i rank_word = load(words + kLanes * half);
      const __m256i place_word = load(words + 2 * kLanes + kLanes * half);
      const __m256i minus =
          Kind == LaplaceKind::geometric ? zero : _mm256_cmpgt_epi64(zero, place_word);
      const __m256i digits = _mm256_and_si256(_mm256_srli_epi64(place_word, 11), lambda_mask);
      __m256i one_plus = _mm256_add_epi64(digits, one);
      if constexpr (Kind == LaplaceKind::discrete) {
        one_plus = _mm256_add_epi64(one_plus, _mm256_and_si256(minus, step));
      }
      const __m256d lambda = _mm256_sub_pd(with_bits(one_plus), load(tables.centre));
      __m256d sum = load(tables.acceptance[0]);
      for (std::size_t i = 1; i < tables.acceptance.size(); ++i) {
        sum = _mm256_fmadd_pd(sum, lambda, load(tables.acceptance[i]));
      }
      chance[half] = bits_of(sum);
      const __m256i h = _mm256_sub_epi64(load(place), offset);
      __m256i value = _mm256_add_epi64(_mm256_sll_epi64(h, up), _mm256_srl_epi64(digits, down));
      if constexpr (Kind == LaplaceKind::rounded) {
        value = _mm256_srli_epi64(_mm256_add_epi64(value, _mm256_set1_epi64x(1)), 1);
      }
      value = _mm256_xor_si256(value, minus);
      if constexpr (Kind == LaplaceKind::rounded) value = _mm256_sub_epi64(value, minus);
      store(place, value);
      // In 32 bits: the last 16 of the rank word, then those of the place word.
      uniform[half] = _mm256_blend_epi16(_mm256_slli_epi64(rank_word, 16), place_word, 0x11);
    }
    const __m256i u = _mm256_srli_epi32(low_words(uniform), 32 - kUnitBits);
    const __m256i difference = _mm256_sub_epi32(low_words(chance), u);
    const __m256i close = _mm256_cmpeq_epi32(_mm256_srli_epi32(difference, 1), zero);
    const __m256i above = _mm256_cmpgt_epi32(difference, _mm256_set1_epi32(1));
    const unsigned unsure = in_order(avx2::lane_mask(close)) | ambiguous[g];
    accepted[g] = static_cast<std::uint8_t>(in_order(avx2::lane_mask(above)));
    ambiguous[g] = static_cast<std::uint8_t>(unsure);
    any |= unsure;
  }
  return any != 0;
}

}  // namespace

bool laplace_groups_avx2(const LaplaceTables& tables, const std::uint32_t* words,
                         std::size_t groups, std::int64_t* values, std::uint8_t* accepted,
                         std::uint8_t* ambiguous) {
  rank_groups(tables, words, groups, values, ambiguous);
  const auto chosen = tables.kind == LaplaceKind::geometric  ? judge<LaplaceKind::geometric>
                      : tables.kind == LaplaceKind::discrete ? judge<LaplaceKind::discrete>
                                                             : judge<LaplaceKind::rounded>;
  return chosen(tables, words, groups, values, accepted, ambiguous);
}

#else

bool laplace_groups_avx2(const LaplaceTables& tables, const std::uint32_t* words,
                         std::size_t groups, std::int64_t* values, std::uint8_t* accepted,
                         std::uint8_t* ambiguous) {
  return laplace_groups_scalar(tables, words, groups, values, accepted, ambiguous);
}

#endif

}  // namespace shoal::random
