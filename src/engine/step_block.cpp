#include "engine/step_block.hpp"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#define SHOAL_AVX2 __attribute__((target("avx2")))
#endif

namespace shoal::engine {
namespace {

#if defined(__x86_64__)

constexpr std::size_t kLanes = 4;

// A whole number of at most 2^51 in size plus this is exact, and its bits as integers are as far
// from the bits of this.
constexpr double kIntegerBits = 0x1.8p52;

// As to_steps does it, four at a time. How many rows from the first on were done, or none if one of
// them is NaN.
SHOAL_AVX2 std::size_t read_reals(const ValueReader& reader, const std::uint64_t* words,
                                  std::size_t rows, std::int64_t* steps) {
  const __m256d scale = _mm256_set1_pd(reader.scale());
  const __m256d lower = _mm256_set1_pd(reader.lower());
  const __m256d upper = _mm256_set1_pd(reader.upper());
  const __m256d half = _mm256_set1_pd(0.5);
  const __m256d one = _mm256_set1_pd(1);
  const __m256d bits = _mm256_set1_pd(kIntegerBits);
  const auto none = static_cast<long long>(std::bit_cast<std::int64_t>(kIntegerBits));
  __m256d unordered = _mm256_setzero_pd();
  std::size_t row = 0;
  for (; row + kLanes <= rows; row += kLanes) {
    const __m256d values = _mm256_loadu_pd(reinterpret_cast<const double*>(words + row));
    unordered = _mm256_or_pd(unordered, _mm256_cmp_pd(values, values, _CMP_UNORD_Q));
    const __m256d scaled = _mm256_min_pd(_mm256_max_pd(_mm256_mul_pd(values, scale), lower), upper);
    const __m256d whole = _mm256_round_pd(scaled, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __m256d rest = _mm256_sub_pd(scaled, whole);
    const __m256d up = _mm256_and_pd(_mm256_cmp_pd(rest, half, _CMP_GE_OQ), one);
    const __m256d down = _mm256_and_pd(
        _mm256_cmp_pd(rest, _mm256_sub_pd(_mm256_setzero_pd(), half), _CMP_LE_OQ), one);
    const __m256d rounded = _mm256_sub_pd(_mm256_add_pd(whole, up), down);
    const __m256i integers = _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(rounded, bits)),
                                              _mm256_set1_epi64x(none));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(steps + row), integers);
  }
  return _mm256_movemask_pd(unordered) == 0 ? row : 0;
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}

#endif

bool all_valid(const BlockValues& values, std::size_t first, std::size_t last) {
  if (values.validity == nullptr) return true;
  for (std::size_t row = first; row < last; row += 64 - row % 64) {
    const std::size_t size = std::min<std::size_t>(last - row, 64 - row % 64);
    const std::uint64_t bits = values.validity[row / 64] >> (row % 64);
    if (static_cast<std::size_t>(std::countr_one(bits)) < size) return false;
  }
  return true;
}

}  // namespace

bool read_steps_portable(const ValueReader& reader, const BlockValues& values, std::size_t first,
                         std::size_t last, std::int64_t* steps) {
  bool all = all_valid(values, first, last);
  for (std::size_t row = first; all && row < last; ++row)
    all = reader.read(values.words[row], true, steps[row - first]);
  return all;
}

bool read_steps(const ValueReader& reader, const BlockValues& values, std::size_t first,
                std::size_t last, std::int64_t* steps) {
  if (reader.is_word()) {
    std::memcpy(steps, values.words + first, (last - first) * sizeof *steps);
    return all_valid(values, first, last);
  }
#if defined(__x86_64__)
  if (reader.is_real() && has_avx2()) {
    if (!all_valid(values, first, last)) return false;
    const std::size_t done = read_reals(reader, values.words + first, last - first, steps);
    return read_steps_portable(reader, values, first + done, last, steps + done);
  }
#endif
  return read_steps_portable(reader, values, first, last, steps);
}

}  // namespace shoal::engine
