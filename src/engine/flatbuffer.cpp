#include "engine/flatbuffer.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>

namespace shoal::engine {

// Little-endian, whatever the machine is.
void FlatBuffer::append(std::int64_t value, int size) {
  auto bits = static_cast<std::uint64_t>(value);
  for (int i = 0; i < size; ++i, bits >>= 8) bytes_ += static_cast<char>(bits & 0xFFU);
}

// So that what comes `after` more bytes stands at a multiple of `to`.
void FlatBuffer::align(std::size_t to, std::size_t after) {
  while ((bytes_.size() + after) % to != 0) bytes_ += '\0';
}

std::vector<std::size_t> FlatBuffer::table(std::initializer_list<Field> fields) {
  int slots = 0;
  std::vector<std::size_t> offsets;
  std::size_t size = 4;  // the way back to the list of slots
  for (const Field& field : fields) {
    slots = std::max(slots, field.slot + 1);
    const auto width = static_cast<std::size_t>(field.size);
    size = (size + width - 1) / width * width;
    offsets.push_back(size);
    size += width;
  }
  align(2);
  const std::size_t list = bytes_.size();
  append(4 + 2 * slots, 2);
  append(static_cast<std::int64_t>(size), 2);
  for (int slot = 0; slot < slots; ++slot) {
    std::size_t offset = 0;
    std::size_t at = 0;
    for (const Field& field : fields) {
      if (field.slot == slot) offset = offsets[at];
      ++at;
    }
    append(static_cast<std::int64_t>(offset), 2);
  }
  align(8);
  const std::size_t start = bytes_.size();
  append(static_cast<std::int64_t>(start - list), 4);
  std::vector<std::size_t> places;
  std::size_t at = 0;
  for (const Field& field : fields) {
    while (bytes_.size() < start + offsets[at]) bytes_ += '\0';
    places.push_back(bytes_.size());
    append(field.value, field.size);
    ++at;
  }
  places.push_back(start);
  return places;
}

std::size_t FlatBuffer::references(std::size_t count) {
  align(4);
  append(static_cast<std::int64_t>(count), 4);
  const std::size_t first = bytes_.size();
  for (std::size_t i = 0; i < count; ++i) append(0, 4);
  return first;
}

std::size_t FlatBuffer::structs(std::size_t count, const std::vector<std::int64_t>& words) {
  align(8, 4);
  const std::size_t place = bytes_.size();
  append(static_cast<std::int64_t>(count), 4);
  for (const std::int64_t word : words) append(word, 8);
  return place;
}

std::size_t FlatBuffer::text(std::string_view text) {
  align(4);
  const std::size_t place = bytes_.size();
  append(static_cast<std::int64_t>(text.size()), 4);
  bytes_.append(text);
  bytes_ += '\0';
  return place;
}

void FlatBuffer::refer(std::size_t from, std::size_t to) {
  SHOAL_CHECK(to > from && from + 4 <= bytes_.size());
  auto distance = static_cast<std::uint32_t>(to - from);
  for (std::size_t i = 0; i < 4; ++i, distance >>= 8) {
    bytes_[from + i] = static_cast<char>(distance & 0xFFU);
  }
}

}  // namespace shoal::engine
