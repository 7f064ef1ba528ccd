#include "engine/chunk_reader.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::engine {
namespace {

std::uint64_t identity_word(const ChunkColumn& column, const HashKey& key, std::size_t row) {
  switch (column.storage) {
    case Storage::bits8:
      return static_cast<std::uint64_t>(column.as<std::int8_t>()[row]);
    case Storage::bits32:
      return static_cast<std::uint64_t>(std::int64_t{column.as<std::int32_t>()[row]});
    case Storage::bits64:
      return column.as<std::uint64_t>()[row];
    case Storage::bits128:
    case Storage::text:
      break;
  }
  return hash_text(key, column.text(row));
}

}  // namespace

ChunkReader::ChunkReader(const GroupShape& shape) : shape_(shape), interner_(shape) {
  block_.groups.resize(shape.sets.size());
  block_.values.resize(shape.values.size());
}

const RowBlock& ChunkReader::read(const Chunk& chunk) {
  block_.resize(chunk.rows);
  read_units(chunk.columns[0]);
  interner_.number_groups(chunk, 1, block_);
  std::fill(block_.present.begin(), block_.present.end(), 0);
  for (std::size_t value = 0; value < shape_.values.size(); ++value)
    read_value(value, chunk.columns[1 + shape_.keys.size() + value]);
  return block_;
}

void ChunkReader::read_units(const ChunkColumn& column) {
  if (column.storage == Storage::text) {
    block_.unit_texts.resize(block_.size);
    for (std::size_t i = 0; i < block_.size; ++i) block_.unit_texts[i] = column.text(i);
  } else {
    SHOAL_CHECK(column.storage == Storage::bits64);
    block_.units = column.as<std::int64_t>();
  }
}

void ChunkReader::read_value(std::size_t value, const ChunkColumn& column) {
  const ValueColumn& said = shape_.values[value];
  std::int64_t* steps = block_.values[value].data();
  std::uint32_t* present = block_.present.data();
  // Declared free of NULLs: the middle stands in for one.
  const bool stands_in = said.use == ValueUse::steps && !said.nulls;
  const std::int64_t none = stands_in ? said.range.middle() : 0;
  const auto each = [&](auto&& is_there, auto&& convert) {
    for (std::size_t i = 0; i < block_.size; ++i) {
      const bool there = column.valid(i) && is_there(i);
      steps[i] = there ? convert(i) : none;
      present[i] |= static_cast<std::uint32_t>(there || stands_in) << value;
    }
  };
  const auto always = [](std::size_t) { return true; };
  const double* reals = column.as<double>();
  const auto is_number = [&](std::size_t i) { return !std::isnan(reals[i]); };
  const std::int64_t* wholes = column.as<std::int64_t>();
  const catalog::GridRange range = said.range;
  const double scale = std::ldexp(1.0, -range.grid.exponent);
  if (said.use == ValueUse::identity && said.type == KeyType::real) {
    each(is_number, [&](std::size_t i) { return static_cast<std::int64_t>(real_word(reals[i])); });
  } else if (said.use == ValueUse::identity) {
    each(always, [&](std::size_t i) {
      return static_cast<std::int64_t>(identity_word(column, shape_.hash_key, i));
    });
  } else if (!said.whole) {
    each(is_number, [&](std::size_t i) { return to_steps(reals[i], scale, range); });
  } else if (range.grid.exponent != 0) {
    each(always,
         [&](std::size_t i) { return to_steps(static_cast<double>(wholes[i]), scale, range); });
  } else {
    each(always, [&](std::size_t i) { return std::clamp(wholes[i], range.lower, range.upper); });
  }
}

}  // namespace shoal::engine
