#include "engine/chunk_reader.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::engine {
namespace {

std::uint64_t identity_word(const ChunkColumn& column, KeyType type, const HashKey& key,
                            std::size_t row) {
  switch (column.storage) {
    case Storage::bits8:
      return static_cast<std::uint64_t>(column.as<std::int8_t>()[row]);
    case Storage::bits32:
      return static_cast<std::uint64_t>(std::int64_t{column.as<std::int32_t>()[row]});
    case Storage::bits64:
      return type == KeyType::real ? real_word(column.as<double>()[row])
                                   : column.as<std::uint64_t>()[row];
    case Storage::bits128:
    case Storage::text:
      break;
  }
  return hash_text(key, column.text(row));
}

}  // namespace

// Scaling by a power of two is exact, or ends up at 0 or an infinity, which clamp as they should.
std::int64_t to_steps(double value, double steps_per_one, const catalog::GridRange& range) {
  const double scaled = std::clamp(value * steps_per_one, static_cast<double>(range.lower),
                                   static_cast<double>(range.upper));
  // At most 2^51 in size: the whole part fits, and the difference is exact.
  const auto whole = static_cast<std::int64_t>(scaled);
  const double rest = scaled - static_cast<double>(whole);
  return whole + static_cast<std::int64_t>(rest >= 0.5) - static_cast<std::int64_t>(rest <= -0.5);
}

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
    block_.units.assign(column.as<std::int64_t>(), column.as<std::int64_t>() + block_.size);
  }
}

void ChunkReader::read_value(std::size_t value, const ChunkColumn& column) {
  const ValueColumn& said = shape_.values[value];
  std::vector<std::int64_t>& steps = block_.values[value];
  const std::uint32_t bit = std::uint32_t{1} << value;
  const auto none = [&](std::size_t i) {
    // Declared free of NULLs: the middle stands in for one.
    const bool stands_in = said.use == ValueUse::steps && !said.nulls;
    steps[i] = stands_in ? said.range.middle() : 0;
    if (stands_in) block_.present[i] |= bit;
  };
  const auto each = [&](auto&& convert) {
    for (std::size_t i = 0; i < block_.size; ++i) {
      if (!column.valid(i)) {
        none(i);
        continue;
      }
      steps[i] = convert(i);
      block_.present[i] |= bit;
    }
  };
  const double scale = std::ldexp(1.0, -said.range.grid.exponent);
  if (said.use == ValueUse::identity) {
    each([&](std::size_t i) {
      return static_cast<std::int64_t>(identity_word(column, said.type, shape_.hash_key, i));
    });
    if (said.type != KeyType::real) return;
  } else if (said.whole && said.range.grid.exponent == 0) {
    const auto* data = column.as<std::int64_t>();
    each([&](std::size_t i) { return std::clamp(data[i], said.range.lower, said.range.upper); });
    return;
  } else if (said.whole) {
    const auto* data = column.as<std::int64_t>();
    each([&](std::size_t i) { return to_steps(static_cast<double>(data[i]), scale, said.range); });
    return;
  } else {
    const auto* data = column.as<double>();
    // NaN goes through as if it were 0 and is taken out below.
    each([&](std::size_t i) {
      return to_steps(std::isnan(data[i]) ? 0 : data[i], scale, said.range);
    });
  }
  for (std::size_t i = 0; i < block_.size; ++i) {
    if (!column.valid(i) || !std::isnan(column.as<double>()[i])) continue;
    block_.present[i] &= ~bit;
    none(i);
  }
}

}  // namespace shoal::engine
