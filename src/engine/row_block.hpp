// Rows on their way from the database to a bounded sum, column by column: groups as small numbers,
// values as they lie in memory, to be read when they turn out to count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace shoal::engine {

// A group of one grouping set, as some GroupKeys numbers it.
using GroupNumber = std::uint32_t;

// One value column: a word a row, which a ValueReader understands.
struct BlockValues {
  const std::uint64_t* words = nullptr;
  const std::uint64_t* validity = nullptr;  // a bit a row says that it is not NULL; null: none is

  bool valid(std::size_t row) const {
    return validity == nullptr || ((validity[row / 64] >> (row % 64)) & 1) != 0;
  }
};

// Points into a chunk, or into arrays of whoever made it.
struct RowBlock {
  std::size_t size = 0;
  const std::int64_t* units = nullptr;            // if units are integers
  std::vector<std::string_view> unit_texts = {};  // otherwise
  std::vector<const GroupNumber*> groups = {};    // one a grouping set
  std::vector<BlockValues> values = {};           // one a value column
};

}  // namespace shoal::engine
