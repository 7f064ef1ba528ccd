#include "engine/unit_runs.hpp"

#include <algorithm>
#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#define SHOAL_AVX2 __attribute__((target("avx2,bmi")))
#endif

namespace shoal::engine {
namespace {

void start(std::size_t rows, UnitRuns& runs) {
  runs.size = 0;
  runs.ordered = true;
  if (runs.ends.size() < rows) runs.ends.resize(rows);
}

// From a row on that has one before it.
template <typename Unit>
void find_from(std::size_t from, std::span<const Unit> units, UnitRuns& runs) {
  std::size_t size = runs.size;
  std::size_t* ends = runs.ends.data();
  bool falls = false;
  for (std::size_t row = from; row < units.size(); ++row) {
    ends[size] = row;
    size += units[row] != units[row - 1] ? 1u : 0u;
    falls |= units[row] < units[row - 1];
  }
  ends[size++] = units.size();
  runs.size = size;
  runs.ordered = runs.ordered && !falls;
}

#if defined(__x86_64__)

constexpr std::size_t kLanes = 4;
constexpr std::size_t kBlock = 64;  // a bit a row

SHOAL_AVX2 void find_avx2(std::span<const std::int64_t> units, UnitRuns& runs) {
  const std::int64_t* data = units.data();
  std::size_t* ends = runs.ends.data();
  std::size_t size = 0;
  __m256i falls = _mm256_setzero_si256();
  std::size_t row = 1;
  for (; row + kBlock <= units.size(); row += kBlock) {
    std::uint64_t same = 0;
    for (std::size_t i = 0; i < kBlock; i += kLanes) {
      const auto* at = reinterpret_cast<const __m256i*>(data + row + i);
      const __m256i here = _mm256_loadu_si256(at);
      const __m256i before =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + row + i - 1));
      const __m256i equal = _mm256_cmpeq_epi64(here, before);
      falls = _mm256_or_si256(falls, _mm256_cmpgt_epi64(before, here));
      same |= static_cast<std::uint64_t>(_mm256_movemask_pd(_mm256_castsi256_pd(equal))) << i;
    }
    for (std::uint64_t new_ones = ~same; new_ones != 0; new_ones &= new_ones - 1)
      ends[size++] = row + static_cast<std::size_t>(std::countr_zero(new_ones));
  }
  runs.size = size;
  runs.ordered = _mm256_testz_si256(falls, falls) != 0;
  find_from(row, units, runs);
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0;
  return has;
}

#endif

}  // namespace

void find_runs_portable(std::span<const std::int64_t> units, UnitRuns& runs) {
  start(units.size(), runs);
  find_from(1, units, runs);
}

void find_runs(std::span<const std::int64_t> units, UnitRuns& runs) {
#if defined(__x86_64__)
  if (has_avx2()) {
    start(units.size(), runs);
    find_avx2(units, runs);
    return;
  }
#endif
  find_runs_portable(units, runs);
}

void find_runs(std::span<const std::string_view> units, UnitRuns& runs) {
  start(units.size(), runs);
  find_from(1, units, runs);
}

}  // namespace shoal::engine
