#include "engine/key_columns.hpp"

#include "engine/group_keys.hpp"
#include "engine/value_reader.hpp"

#include <shoal/base/error.hpp>

#include <limits>

namespace shoal::engine {

KeyColumns::KeyColumns(const GroupShape& shape, const std::vector<Storage>& storages)
    : seen_([this] { return std::make_unique<AllSeen>(columns_.size()); }) {
  SHOAL_CHECK(storages.size() == shape.keys.size());
  for (std::size_t key = 0; key < storages.size(); ++key) {
    Column& column = columns_.emplace_back();
    column.type = shape.keys[key];
    column.storage = storages[key];
    append_null(column.bytes.emplace_back());
  }
}

GroupNumber KeyColumns::share(Column& column, std::string&& bytes) {
  const std::lock_guard lock(column.mutex);
  const auto found = column.numbers.find(bytes);
  if (found != column.numbers.end()) return found->second;
  // They travel as 32-bit integers of the database.
  SHOAL_CHECK(column.bytes.size() < std::numeric_limits<std::int32_t>::max());
  const auto number = static_cast<GroupNumber>(column.bytes.size());
  column.numbers.emplace(column.bytes.emplace_back(std::move(bytes)), number);
  return number;
}

GroupNumber KeyColumns::number_text(Column& column, Seen& seen, std::string_view text) {
  const GroupNumber own = seen.texts.number(text);
  if (own == seen.shared.size()) {
    std::string bytes;
    append_text(bytes, text);
    seen.shared.push_back(share(column, std::move(bytes)));
  }
  return seen.shared[own];
}

GroupNumber KeyColumns::number_word(Column& column, Seen& seen, std::uint64_t word) {
  const GroupNumber own = seen.words.number(&word);
  if (own == seen.shared.size()) {
    std::string bytes;
    append_word(bytes, word);
    seen.shared.push_back(share(column, std::move(bytes)));
  }
  return seen.shared[own];
}

void KeyColumns::number(std::size_t key, const ChunkColumn& column, std::size_t rows,
                        GroupNumber* numbers) {
  Column& shared = columns_[key];
  Seen& seen = seen_.mine()[key];
  const auto each = [&](auto&& number_of) {
    for (std::size_t i = 0; i < rows; ++i) numbers[i] = column.valid(i) ? number_of(i) : 0;
  };
  const auto each_word = [&](const auto* data) {
    each([&](std::size_t i) {
      return number_word(shared, seen, static_cast<std::uint64_t>(std::int64_t{data[i]}));
    });
  };
  if (shared.type == KeyType::real) {
    each([&](std::size_t i) {
      const double value = column.as<double>()[i];
      return std::isnan(value) ? 0 : number_word(shared, seen, real_word(value));
    });
    return;
  }
  switch (shared.storage) {
    case Storage::bits8:
      return each_word(column.as<std::int8_t>());
    case Storage::bits32:
      return each_word(column.as<std::int32_t>());
    case Storage::bits64:
      return each_word(column.as<std::int64_t>());
    case Storage::text:
      return each([&](std::size_t i) { return number_text(shared, seen, column.text(i)); });
    case Storage::bits128:
      break;
  }
  throw Error(ErrorCode::internal, "no key is so wide");
}

std::size_t KeyColumns::known(std::size_t key) {
  const std::lock_guard lock(columns_[key].mutex);
  return columns_[key].bytes.size();
}

std::string KeyColumns::bytes(std::size_t key, GroupNumber number) {
  const std::lock_guard lock(columns_[key].mutex);
  return columns_[key].bytes.at(number);
}

}  // namespace shoal::engine
