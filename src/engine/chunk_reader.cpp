#include "engine/chunk_reader.hpp"

#include <shoal/base/error.hpp>

namespace shoal::engine {

ChunkReader::ChunkReader(const GroupShape& shape, KeyColumns& columns)
    : shape_(shape),
      interner_(shape, columns),
      numbers_(shape.keys.size()),
      words_(shape.values.size()) {
  block_.groups.resize(shape.sets.size());
  block_.values.resize(shape.values.size());
}

const RowBlock& ChunkReader::read(const Chunk& chunk) {
  block_.size = chunk.rows;
  read_units(chunk.columns[0]);
  for (std::size_t key = 0; key < numbers_.size(); ++key) {
    const ChunkColumn& column = chunk.columns[1 + key];
    SHOAL_CHECK(column.storage == Storage::bits32);
    numbers_[key] = column.as<GroupNumber>();
  }
  interner_.number_groups(numbers_, block_);
  for (std::size_t value = 0; value < words_.size(); ++value)
    read_value(value, chunk.columns[1 + numbers_.size() + value]);
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
  std::vector<std::uint64_t>& words = words_[value];
  const auto fill = [&](auto&& word_of) {
    words.resize(block_.size);
    for (std::size_t i = 0; i < block_.size; ++i) words[i] = column.valid(i) ? word_of(i) : 0;
    block_.values[value] = {words.data(), column.validity};
  };
  const auto widen = [&](const auto* data) {
    fill([&](std::size_t i) { return static_cast<std::uint64_t>(std::int64_t{data[i]}); });
  };
  switch (column.storage) {
    case Storage::bits8:
      return widen(column.as<std::int8_t>());
    case Storage::bits32:
      return widen(column.as<std::int32_t>());
    case Storage::bits64:
      block_.values[value] = {column.as<std::uint64_t>(), column.validity};
      return;
    case Storage::text:
      return fill([&](std::size_t i) { return hash_text(shape_.hash_key, column.text(i)); });
    case Storage::bits128:
      break;
  }
  throw Error(ErrorCode::internal, "no value is so wide");
}

}  // namespace shoal::engine
