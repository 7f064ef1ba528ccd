// Rows on their way from the database to a bounded sum, column by column: groups as small numbers,
// values as whole steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace shoal::engine {

// A group of one grouping set, as some GroupKeys numbers it.
using GroupNumber = std::uint32_t;

struct RowBlock {
  std::size_t size = 0;
  const std::int64_t* units = nullptr;                 // if units are integers: those of the chunk
  std::vector<std::string_view> unit_texts = {};       // otherwise
  std::vector<std::vector<GroupNumber>> groups = {};   // one a grouping set
  std::vector<std::vector<std::int64_t>> values = {};  // one a value column; 0 where there is none
  std::vector<std::uint32_t> present = {};             // bit j: value j is not NULL

  void resize(std::size_t rows) {
    size = rows;
    for (auto& column : groups) column.resize(rows);
    for (auto& column : values) column.resize(rows);
    present.resize(rows);
  }
};

}  // namespace shoal::engine
