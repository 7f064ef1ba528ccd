// A value in 32 bits, for rows that wait: where a question has one grouping set and one value of no
// more steps than that, a row then takes two words and not three. The value is read before it is
// stored: 0 is for none, else it is 1 and the steps above the lower bound.
#pragma once

#include "engine/group_shape.hpp"
#include "engine/row_block.hpp"
#include "engine/value_reader.hpp"

#include <cstdint>
#include <vector>

namespace shoal::engine {

class ValuePacker {
 public:
  // Whether the rows of a question can be stored so.
  static bool fits(const GroupShape& shape);

  explicit ValuePacker(const ValueColumn& column) : reader_(column), lower_(column.range.lower) {}

  // Of the rows of a block; good until the next one.
  const std::uint32_t* pack(const BlockValues& values, std::size_t rows);

  // The steps of a code that is not 0.
  std::int64_t steps(std::uint32_t code) const { return lower_ + (std::int64_t{code} - 1); }

 private:
  ValueReader reader_;
  std::int64_t lower_;
  std::vector<std::int64_t> steps_;
  std::vector<std::uint32_t> codes_;
};

}  // namespace shoal::engine
