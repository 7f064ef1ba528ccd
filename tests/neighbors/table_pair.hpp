// Neighbouring tables of people, as a generator makes them and the shrinker cuts them down.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/catalog/policy.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal::test {

// The columns of every generated table, in their order.
enum class Field : std::size_t { person, age, income, sex, city, member, born, seen, y, note };
inline constexpr std::array<const char*, 10> kFields = {"person", "age",  "income", "sex", "city",
                                                        "member", "born", "seen",   "y",   "note"};

// Stands for a text that is not UTF-8, which only the bytes of a finished file can hold.
inline constexpr std::string_view kNotUtf8 = "@not-utf-8@";

// A cell as text; none is NULL.
using Cell = std::optional<std::string>;

struct Row {
  std::array<Cell, kFields.size()> cells;
  // What stands in a CSV instead, line end included: a row that no writer would make. `label` says
  // which kind it is. Other formats have the cells.
  std::optional<std::string> raw = std::nullopt;
  std::string label = {};

  const Cell& operator[](Field field) const { return cells[static_cast<std::size_t>(field)]; }
  Cell& operator[](Field field) { return cells[static_cast<std::size_t>(field)]; }
  bool operator==(const Row&) const = default;
};

using Rows = std::vector<Row>;

// What both sides share: the owner's choices and how the file is written.
struct Setting {
  catalog::SourceFormat format = catalog::SourceFormat::csv;
  catalog::PrivacyUnit unit = catalog::PrivacyUnit::row;
  Neighbors neighbors = Neighbors::add_remove;
  std::string line_end = "\n";       // of a CSV
  bool byte_order_mark = false;      // at the start of a CSV
  bool last_line_ends = true;        // of a CSV
  bool milliseconds = false;         // Parquet: timestamps in milliseconds
  bool numbers_as_decimals = false;  // PostgreSQL: income is numeric
  int threads = 1;
};

// The rows at `at` are those of the row, or the person, that differs: `one` on one side, `other` on
// the other. Under add_remove either is empty.
struct TablePair {
  Setting setting;
  Rows before;  // in both
  Rows one;
  Rows other;
  Rows after;  // in both

  Rows side(bool second) const;
};

// For a report: the rows as a person reads them.
std::string describe(const TablePair& pair);

}  // namespace shoal::test
