// From DuckDB's chunks to blocks of rows: groups by number, values in whole grid steps, clamped.
// What a value becomes depends on that value alone; none can fail.
#pragma once

#include "engine/chunk.hpp"
#include "engine/key_interner.hpp"
#include "engine/row_block.hpp"

#include <algorithm>
#include <cstdint>

namespace shoal::engine {

// One thread's reader. A block's units live as long as the chunk.
class ChunkReader {
 public:
  explicit ChunkReader(const GroupShape& shape);

  // Columns: the unit, the keys, the values. No unit is NULL.
  const RowBlock& read(const Chunk& chunk);
  const std::vector<GroupKeys>& keys() const { return interner_.keys(); }

 private:
  void read_units(const ChunkColumn& column);
  void read_value(std::size_t value, const ChunkColumn& column);

  const GroupShape& shape_;
  KeyInterner interner_;
  RowBlock block_;
};

// A number in steps of the range: clamped, then rounded, halves away from zero. NaN is for the
// caller to keep out. Scaling by a power of two is exact, or ends up at 0 or an infinity, which
// clamp as they should.
inline std::int64_t to_steps(double value, double steps_per_one, const catalog::GridRange& range) {
  const double scaled = std::clamp(value * steps_per_one, static_cast<double>(range.lower),
                                   static_cast<double>(range.upper));
  // At most 2^51 in size: the whole part fits, and the difference is exact.
  const auto whole = static_cast<std::int64_t>(scaled);
  const double rest = scaled - static_cast<double>(whole);
  return whole + static_cast<std::int64_t>(rest >= 0.5) - static_cast<std::int64_t>(rest <= -0.5);
}

}  // namespace shoal::engine
