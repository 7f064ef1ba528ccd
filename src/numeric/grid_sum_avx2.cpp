// Four records at a time. The instructions are named one by one, so the compiler has no freedom to
// round differently; only these functions are compiled for AVX2, and grid_sum.cpp asks the
// processor first.
#include "numeric/grid_sum_kernels.hpp"

#include <shoal/base/error.hpp>

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>

#define SHOAL_AVX2 __attribute__((target("avx2")))

namespace shoal::numeric::grid_kernels {
namespace {

constexpr std::size_t kLanes = 4;
constexpr std::size_t kStride = 4 * kLanes;  // four accumulators hide the latency of an addition

// A whole number |n| <= 2^51 plus this is exact, and the bits of the sum, as integers, are n apart
// from the bits of this. So the bits are added up, modulo 2^64, and this is taken off at the end.
constexpr double kIntegerBits = 0x1.8p52;

// How far ahead of the sum memory is asked for, in bytes: from main memory a quarter faster than
// the processor's own guess. It may lie beyond the end: asking never faults.
constexpr std::uintptr_t kAhead = 4096;

SHOAL_AVX2 inline void ask_for(const double* values) {
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(values) + kAhead;
  // Adding to a pointer must not lead so far beyond the end.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  _mm_prefetch(reinterpret_cast<const char*>(address), _MM_HINT_T0);
}

struct Vectors {
  __m256d inverse_step;
  __m256d low;
  __m256d high;
};

// The bits of kIntegerBits plus what place_record gives. The mask makes a NaN 0 before min and max,
// whose answer for a NaN would hang on the order of their operands.
SHOAL_AVX2 inline __m256i placed_bits(const double* values, const Vectors& vectors) {
  const __m256d sign_bit = _mm256_set1_pd(-0.0);
  __m256d steps = _mm256_mul_pd(_mm256_loadu_pd(values), vectors.inverse_step);
  steps = _mm256_and_pd(steps, _mm256_cmp_pd(steps, steps, _CMP_ORD_Q));
  steps = _mm256_min_pd(_mm256_max_pd(steps, vectors.low), vectors.high);
  const __m256d below_half =
      _mm256_or_pd(_mm256_and_pd(steps, sign_bit), _mm256_set1_pd(kBelowHalf));
  steps = _mm256_round_pd(_mm256_add_pd(steps, below_half), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  return _mm256_castpd_si256(_mm256_add_pd(steps, _mm256_set1_pd(kIntegerBits)));
}

SHOAL_AVX2 inline __m256i clamped(const std::int64_t* values, __m256i low, __m256i high) {
  __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
  value = _mm256_blendv_epi8(value, low, _mm256_cmpgt_epi64(low, value));
  return _mm256_blendv_epi8(value, high, _mm256_cmpgt_epi64(value, high));
}

// The four lanes as a 128-bit number, after `excess` was taken off each, modulo 2^64.
SHOAL_AVX2 inline Int128 sum_of_lanes(__m256i lanes, std::uint64_t excess) {
  alignas(32) std::array<std::uint64_t, kLanes> stored;
  _mm256_store_si256(reinterpret_cast<__m256i*>(stored.data()), lanes);
  Int128 total = 0;
  for (const std::uint64_t lane : stored) total += static_cast<std::int64_t>(lane - excess);
  return total;
}

}  // namespace

bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }

SHOAL_AVX2 Int128 sum_avx2(std::span<const double> values, const Placement& placement) {
  const Vectors vectors{_mm256_set1_pd(placement.inverse_step), _mm256_set1_pd(placement.low),
                        _mm256_set1_pd(placement.high)};
  Int128 total = 0;
  while (values.size() >= kStride) {
    // Each lane takes `rounds` records into each of four accumulators, then all four are one.
    const std::size_t rounds = std::min(values.size() / kStride, kBlock / 4);
    const double* next = values.data();
    __m256i a = _mm256_setzero_si256();
    __m256i b = a;
    __m256i c = a;
    __m256i d = a;
    for (std::size_t i = 0; i < rounds; ++i, next += kStride) {
      ask_for(next);  // a stride is two lines of the cache
      ask_for(next + kStride / 2);
      a = _mm256_add_epi64(a, placed_bits(next, vectors));
      b = _mm256_add_epi64(b, placed_bits(next + kLanes, vectors));
      c = _mm256_add_epi64(c, placed_bits(next + 2 * kLanes, vectors));
      d = _mm256_add_epi64(d, placed_bits(next + 3 * kLanes, vectors));
    }
    const __m256i lanes = _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d));
    total += sum_of_lanes(lanes, 4 * rounds * std::bit_cast<std::uint64_t>(kIntegerBits));
    values = values.subspan(rounds * kStride);
  }
  return total + sum_portable(values, placement);
}

SHOAL_AVX2 Int128 clamped_sum_avx2(std::span<const std::int64_t> values, std::int64_t low,
                                   std::int64_t high) {
  const __m256i lows = _mm256_set1_epi64x(low);
  const __m256i highs = _mm256_set1_epi64x(high);
  Int128 total = 0;
  while (values.size() >= kStride) {
    const std::size_t rounds = std::min(values.size() / kStride, kBlock / 4);
    const std::int64_t* next = values.data();
    __m256i a = _mm256_setzero_si256();
    __m256i b = a;
    __m256i c = a;
    __m256i d = a;
    for (std::size_t i = 0; i < rounds; ++i, next += kStride) {
      a = _mm256_add_epi64(a, clamped(next, lows, highs));
      b = _mm256_add_epi64(b, clamped(next + kLanes, lows, highs));
      c = _mm256_add_epi64(c, clamped(next + 2 * kLanes, lows, highs));
      d = _mm256_add_epi64(d, clamped(next + 3 * kLanes, lows, highs));
    }
    total += sum_of_lanes(_mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d)), 0);
    values = values.subspan(rounds * kStride);
  }
  return total + clamped_sum_portable(values, low, high);
}

}  // namespace shoal::numeric::grid_kernels

#else

namespace shoal::numeric::grid_kernels {

bool has_avx2() { return false; }

Int128 sum_avx2(std::span<const double>, const Placement&) {
  SHOAL_CHECK(has_avx2());
  return 0;
}

Int128 clamped_sum_avx2(std::span<const std::int64_t>, std::int64_t, std::int64_t) {
  SHOAL_CHECK(has_avx2());
  return 0;
}

}  // namespace shoal::numeric::grid_kernels

#endif
