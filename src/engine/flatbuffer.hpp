// Just enough of the FlatBuffers wire format to write the metadata of an Arrow file: tables,
// vectors and texts, from front to back. Positions are from the start of the buffer; a place that
// refers to something is filled in once that is written, always behind it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::engine {

class FlatBuffer {
 public:
  // One field of a table: which slot of its schema, how many bytes (1, 2, 4 or 8), and its value.
  // A reference has four bytes and is filled in by refer().
  struct Field {
    int slot;
    int size;
    std::int64_t value = 0;
  };

  // Begins with the reference to the root table.
  FlatBuffer() { append(0, 4); }

  // Where each of the fields stands, in their order, and the table itself at the end.
  std::vector<std::size_t> table(std::initializer_list<Field> fields);

  // A vector of so many references; returns where the first of them stands, its own place is four
  // bytes before.
  std::size_t references(std::size_t count);

  // A vector of structs of 64-bit fields, already laid out; returns its place.
  std::size_t structs(std::size_t count, const std::vector<std::int64_t>& words);

  std::size_t text(std::string_view text);

  // Fills in the reference at `from`.
  void refer(std::size_t from, std::size_t to);

  const std::string& bytes() const { return bytes_; }

 private:
  void append(std::int64_t value, int size);
  void align(std::size_t to, std::size_t after = 0);

  std::string bytes_;
};

}  // namespace shoal::engine
