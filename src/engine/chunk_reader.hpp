// From the chunks that ChunkFeed brings to blocks of rows.
#pragma once

#include "engine/chunk.hpp"
#include "engine/key_interner.hpp"
#include "engine/row_block.hpp"

#include <cstdint>
#include <vector>

namespace shoal::engine {

// One thread's reader. A block points into the chunk and into the reader.
class ChunkReader {
 public:
  ChunkReader(const GroupShape& shape, KeyColumns& columns);

  // Columns: the unit, the numbers of the keys, the values. No unit is NULL.
  const RowBlock& read(const Chunk& chunk);
  const std::vector<GroupKeys>& keys() const { return interner_.keys(); }

 private:
  void read_units(const ChunkColumn& column);
  void read_value(std::size_t value, const ChunkColumn& column);

  const GroupShape& shape_;
  KeyInterner interner_;
  RowBlock block_;
  std::vector<const GroupNumber*> numbers_;        // one a key column
  std::vector<std::vector<std::uint64_t>> words_;  // of values that are not words in the chunk
};

}  // namespace shoal::engine
