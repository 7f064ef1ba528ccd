// Rows as small integers, before anything is counted: in column j each row has a code below the
// public size of that column. Secret: no getter, no printing, no JSON, no copy, no comparison.
// Only counting leads on, and counts are secret too (marginal_tables.hpp).
//
// Columns are packed, one byte a row where 256 codes are enough and two otherwise: ten million rows
// of thirty such columns take 300 megabytes.
#pragma once

#include <shoal/data/attribute_set.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace shoal::data {

class MarginalTables;

// The largest size of a column.
inline constexpr std::uint32_t kMaxCodes = 65536;

class CodedTable {
 public:
  // No rows yet. Throws invalid_argument unless there are 1 to 64 columns, each with 1 to kMaxCodes
  // codes.
  explicit CodedTable(std::vector<std::uint32_t> sizes);
  CodedTable(CodedTable&& other) noexcept = default;
  CodedTable& operator=(CodedTable&&) = delete;
  CodedTable(const CodedTable&) = delete;
  CodedTable& operator=(const CodedTable&) = delete;
  ~CodedTable();  // wipes the codes

  // Appends to one column. Throws internal, without a word about the code, if one is too large.
  // All columns must have the same length again before anything is counted.
  void append(std::size_t column, std::span<const std::uint16_t> codes);

  // Makes it a table of exactly so many rows: leaves out the last ones, or adds rows of code 0.
  // Whether it had to stays unknown.
  void pad_or_cut(std::size_t rows);

  // Public: the policy says them.
  const std::vector<std::uint32_t>& sizes() const { return sizes_; }

  template <typename Stream>
  friend Stream& operator<<(Stream&, const CodedTable&) = delete;

 private:
  friend class MarginalCounter;
  using Narrow = std::vector<std::uint8_t>;
  using Wide = std::vector<std::uint16_t>;

  std::vector<std::uint32_t> sizes_;
  std::vector<std::variant<Narrow, Wide>> columns_;
};

}  // namespace shoal::data
