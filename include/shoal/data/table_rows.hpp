// Rows of a table as they are, typed by public facts: numbers, and categories as places in a public
// list. They are secret: no getter, no printing, no copy. learn::training_rows() and
// adaptive::values_of_rows() alone look inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace shoal::learn {
class TableRowsKey;
}
namespace shoal::adaptive {
class TableRowsKey;
}

namespace shoal::data {

// One column to read: as a number, or, with categories, as a place in that list.
struct ColumnRequest {
  std::string column;
  std::vector<std::string> categories = {};
  bool operator==(const ColumnRequest&) const = default;
};

// The place of what is missing or not listed.
inline constexpr std::int32_t kNoCategory = -1;

// One value of one row: the number or the place, as the column is.
struct Cell {
  double number = std::numeric_limits<double>::quiet_NaN();  // NaN: missing
  std::int32_t category = kNoCategory;
};

// Rows that are read when they are looked at, one after the other: they need not fit into memory.
class TableRows {
 public:
  // Is given each row's `columns` cells.
  using Take = std::function<void(const Cell*)>;

  // `read` hands over every row, and lives no longer than what it reads from.
  TableRows(std::size_t columns, std::function<void(const Take&)> read)
      : columns_(columns), read_(std::move(read)) {}
  TableRows(TableRows&&) noexcept = default;
  TableRows& operator=(TableRows&&) = delete;
  TableRows(const TableRows&) = delete;
  TableRows& operator=(const TableRows&) = delete;
  ~TableRows() = default;

  // Public: the request says it.
  std::size_t columns() const { return columns_; }

  template <typename Stream>
  friend Stream& operator<<(Stream&, const TableRows&) = delete;

 private:
  friend class ::shoal::learn::TableRowsKey;
  friend class ::shoal::adaptive::TableRowsKey;
  std::size_t columns_;
  std::function<void(const Take&)> read_;
};

}  // namespace shoal::data
