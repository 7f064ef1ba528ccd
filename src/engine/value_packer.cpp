#include "engine/value_packer.hpp"

#include "engine/step_block.hpp"

#include <limits>

namespace shoal::engine {

bool ValuePacker::fits(const GroupShape& shape) {
  if (shape.sets.size() != 1 || shape.values.size() != 1) return false;
  const ValueColumn& value = shape.values[0];
  const std::uint64_t steps =
      static_cast<std::uint64_t>(value.range.upper) - static_cast<std::uint64_t>(value.range.lower);
  return value.use == ValueUse::steps && steps < std::numeric_limits<std::uint32_t>::max();
}

const std::uint32_t* ValuePacker::pack(const BlockValues& values, std::size_t rows) {
  if (codes_.size() < rows) {
    steps_.resize(rows);
    codes_.resize(rows);
  }
  if (read_steps(reader_, values, 0, rows, steps_.data())) {
    for (std::size_t row = 0; row < rows; ++row)
      codes_[row] = static_cast<std::uint32_t>(steps_[row] - lower_ + 1);
    return codes_.data();
  }
  for (std::size_t row = 0; row < rows; ++row) {
    std::int64_t steps = 0;
    const bool there = reader_.read(values.words[row], values.valid(row), steps);
    codes_[row] = there ? static_cast<std::uint32_t>(steps - lower_ + 1) : 0;
  }
  return codes_.data();
}

}  // namespace shoal::engine
