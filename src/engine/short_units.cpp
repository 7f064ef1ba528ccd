// UnitBounder's shortest way: units of a few rows each, many in a row, with vectors of 16-bit
// words.
//
// A row's rank is the first 16 bits of its group's hash. The rows with the smallest rank, then
// those with the next, and so on, are those of the groups that count, unless two groups have one
// rank. That is seen when the groups' numbers are compared, and then the unit goes a longer way.
#include "engine/step_block.hpp"
#include "engine/unit_words.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#define SHOAL_AVX2 __attribute__((target("avx2,bmi,popcnt")))
#endif

namespace shoal::engine {

#if defined(__x86_64__)

namespace {

constexpr std::size_t kRowsOfVector = 16;
constexpr std::size_t kVectors = 4;
constexpr std::size_t kMostRows = kVectors * kRowsOfVector;  // of a unit that goes this way
constexpr std::size_t kEight = 8;
constexpr std::uint16_t kNoRow = 0xFFFF;  // may be a rank too: what has no row is masked out

// No row from the 64th on; what begins n words before the middle has no row from the nth on.
struct Edge {
  std::array<std::uint16_t, 2 * kMostRows> words = {};
  constexpr Edge() { std::fill(words.begin() + kMostRows, words.end(), kNoRow); }
};
constexpr Edge kEdge;

SHOAL_AVX2 inline __m256i load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

// Rows still to be chosen from.
template <std::size_t kCount>
struct Ranks {
  __m256i words[kCount];
  std::uint64_t rows;
};

// How a unit's hash turns those of keys into ranks.
struct UnitMix {
  __m256i flip;
  __m256i factor;
};

SHOAL_AVX2 inline UnitMix mix_of(std::uint64_t unit_hash) {
  return {_mm256_set1_epi32(static_cast<int>(unit_hash)),
          _mm256_set1_epi32(static_cast<int>(unit_hash >> 32 | 1))};
}

SHOAL_AVX2 inline __m256i eight_ranks(const std::uint32_t* key_words, const UnitMix& mix) {
  return _mm256_srli_epi32(
      _mm256_mullo_epi32(_mm256_xor_si256(load(key_words), mix.flip), mix.factor), 16);
}

template <std::size_t kCount>
SHOAL_AVX2 inline void load_ranks(const std::uint32_t* key_words, std::size_t size,
                                  const UnitMix& mix, Ranks<kCount>& ranks) {
  const std::uint16_t* edge = kEdge.words.data() + kMostRows - size;
  for (std::size_t i = 0; i < kCount; ++i, key_words += kRowsOfVector) {
    // Packing goes by halves of vectors: put in order again.
    const __m256i words = _mm256_permute4x64_epi64(
        _mm256_packus_epi32(eight_ranks(key_words, mix), eight_ranks(key_words + kEight, mix)),
        0b11011000);
    ranks.words[i] = _mm256_or_si256(words, load(edge + i * kRowsOfVector));
  }
  ranks.rows = size == kMostRows ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
}

// The rows with the smallest rank, a bit each; they are not chosen from any more. 0 if none is
// left.
template <std::size_t kCount>
SHOAL_AVX2 inline std::uint64_t take_smallest(Ranks<kCount>& ranks) {
  __m256i least = ranks.words[0];
  for (std::size_t i = 1; i < kCount; ++i) least = _mm256_min_epu16(least, ranks.words[i]);
  const __m128i smallest = _mm_minpos_epu16(
      _mm_min_epu16(_mm256_castsi256_si128(least), _mm256_extracti128_si256(least, 1)));
  const __m256i everywhere = _mm256_broadcastw_epi16(smallest);
  std::uint64_t rows = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const __m256i equal = _mm256_cmpeq_epi16(ranks.words[i], everywhere);
    ranks.words[i] = _mm256_or_si256(ranks.words[i], equal);
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(equal), _mm256_extracti128_si256(equal, 1));
    rows |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(bytes)))
            << (i * kRowsOfVector);
  }
  rows &= ranks.rows;
  ranks.rows ^= rows;
  return rows;
}

template <std::size_t kCount, std::size_t kGroups>
SHOAL_AVX2 inline void choose_rows_of(const std::uint32_t* key_words, std::size_t size,
                                      const UnitMix& mix, std::uint64_t (&rows)[kGroups]) {
  Ranks<kCount> ranks;
  load_ranks(key_words, size, mix, ranks);
  for (std::uint64_t& of_group : rows) of_group = take_smallest(ranks);
}

template <std::size_t kGroups>
SHOAL_AVX2 inline void choose_rows(const std::uint32_t* key_words, std::size_t size,
                                   const UnitMix& mix, std::uint64_t (&rows)[kGroups]) {
  if (size <= kRowsOfVector) return choose_rows_of<1>(key_words, size, mix, rows);
  if (size <= 2 * kRowsOfVector) return choose_rows_of<2>(key_words, size, mix, rows);
  choose_rows_of<kVectors>(key_words, size, mix, rows);
}

// The upper halves of the hashes of rows' keys, for rows [first, last) of a block.
SHOAL_AVX2 inline void gather_keys(const std::uint64_t* key_hashes, const RowBlock& block,
                                   const GroupNumber* groups, std::size_t first, std::size_t last,
                                   std::uint32_t* key_words) {
  const int* upper = reinterpret_cast<const int*>(key_hashes) + 1;
  std::size_t row = first;
  for (; row < last && row + kEight <= block.size; row += kEight) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(key_words + (row - first)),
                        _mm256_i32gather_epi32(upper, load(groups + row), 8));
  }
  for (; row < last; ++row)
    key_words[row - first] = static_cast<std::uint32_t>(key_hashes[groups[row]] >> 32);
}

}  // namespace

// Adds the rows of each group, if each has rows of one group alone.
template <std::size_t kGroups>
SHOAL_AVX2 inline bool UnitBounder::add_quick(QuickSums* sums, const GroupNumber* groups,
                                              const std::int64_t* steps,
                                              const std::uint64_t (&rows)[kGroups]) const {
  GroupNumber group_of[kGroups];
  std::int64_t sum_of[kGroups];
  bool clash = false;
  std::size_t places = 0;
  for (; places < kGroups && rows[places] != 0; ++places) {
    std::uint64_t left = rows[places];
    auto row = static_cast<std::size_t>(std::countr_zero(left));
    const GroupNumber group = groups[row];
    std::int64_t sum = steps[row];
    while ((left &= left - 1) != 0) {
      row = static_cast<std::size_t>(std::countr_zero(left));
      clash |= groups[row] != group;
      sum += steps[row];
    }
    group_of[places] = group;
    sum_of[places] = sum;
  }
  if (clash) return false;
  const std::int64_t rows_per_group = shape_.rows_per_group;
  for (std::size_t place = 0; place < places; ++place) {
    QuickSums& to = sums[group_of[place]];
    const auto count = static_cast<std::int64_t>(std::popcount(rows[place]));
    const std::int64_t counted = std::min(count, rows_per_group);
    ++to.units;
    to.rows += counted;
    if (quick_sum_) to.sum += quick_sum_->bounded(count, sum_of[place], rows_per_group);
  }
  return true;
}

// The same for any statistics.
template <std::size_t kGroups>
SHOAL_AVX2 inline bool UnitBounder::add_rows(std::size_t at, const RowBlock& block,
                                             std::size_t first,
                                             const std::uint64_t (&rows)[kGroups]) {
  const GroupNumber* groups = block.groups[at] + first;
  const std::size_t stride = words_at_once();
  std::fill_n(words_.data(), kGroups * stride, 0);
  GroupNumber group_of[kGroups];
  bool clash = false;
  std::size_t places = 0;
  for (; places < kGroups && rows[places] != 0; ++places) {
    std::uint64_t left = rows[places];
    group_of[places] = groups[std::countr_zero(left)];
    for (; left != 0; left &= left - 1) {
      const auto row = static_cast<std::size_t>(std::countr_zero(left));
      clash |= groups[row] != group_of[places];
      add_to_words(block, first + row, words_.data() + places * stride);
    }
  }
  if (clash) return false;
  for (std::size_t place = 0; place < places; ++place)
    add_bounded_words(at, group_of[place], words_.data() + place * stride);
  return true;
}

bool UnitBounder::read_quick(const RowBlock& block, std::size_t first, std::size_t last) {
  if (!quick_ || last - first > kRankedRows) return false;
  return readers_.empty() || read_steps(readers_[0], block.values[0], first, last, steps_.data());
}

template <std::size_t kGroups>
SHOAL_AVX2 void UnitBounder::add_short_units(std::size_t at, const RowBlock& block,
                                             const WholeUnits& units) {
  const GroupNumber* groups = block.groups[at];
  const std::uint64_t* key_hashes = keys_[at]->hashes();
  for (std::size_t from = 0, to = 0; from < units.ends.size(); from = to) {
    const std::size_t start = units.begin(from);
    // As many as have room, or one that is too long anyway: of that one as many rows as have room,
    // and nobody asks for them.
    for (to = from + 1; to < units.ends.size() && units.ends[to] - start <= kRankedRows;) ++to;
    gather_keys(key_hashes, block, groups, start, std::min(units.ends[to - 1], start + kRankedRows),
                key_words_.data());
    const bool quick = read_quick(block, start, units.ends[to - 1]);
    QuickSums* sums = quick ? tables_[at].quick(keys_[at]->size()) : nullptr;
    for (std::size_t unit = from; unit < to; ++unit) {
      const std::size_t first = units.begin(unit);
      const std::size_t size = units.ends[unit] - first;
      bool done = false;
      if (size <= kMostRows) {
        std::uint64_t rows[kGroups];
        choose_rows(key_words_.data() + (first - start), size, mix_of(units.hashes[unit]), rows);
        done = quick ? add_quick(sums, groups + first, steps_.data() + (first - start), rows)
                     : add_rows(at, block, first, rows);
      }
      if (!done) add_unit(at, units.hashes[unit], block, first, units.ends[unit]);
    }
  }
}

bool UnitBounder::try_short_units(std::size_t set, const RowBlock& block, const WholeUnits& units) {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0 &&
                               __builtin_cpu_supports("bmi") != 0 &&
                               __builtin_cpu_supports("popcnt") != 0;
  // Vectors take the numbers of groups for signed ones.
  const auto most = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (!has_avx2 || has_lists_ || keys_[set]->size() > most) return false;
  return with_groups(std::make_index_sequence<kGroupsAtOnce>(), sets_[set].max_groups,
                     [&](auto groups) {
                       add_short_units<groups>(set, block, units);
                       return true;
                     });
}

#else

bool UnitBounder::try_short_units(std::size_t, const RowBlock&, const WholeUnits&) { return false; }

#endif

}  // namespace shoal::engine
