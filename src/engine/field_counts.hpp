// Counts what fields of a file hold while they pass to a snapshot, so that its owner can be told
// without a second reading.
#pragma once

#include "engine/duckdb_connection.hpp"

#include <shoal/catalog/policy.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace shoal::engine {

struct FieldCount {
  std::int64_t present = 0;      // not NULL
  std::int64_t not_numbers = 0;  // NaN, of a column of real numbers
  std::int64_t line_breaks = 0;  // of a column of text, as are blanks
  std::int64_t blanks = 0;       // begin or end with a blank
};

class FieldCounts {
 public:
  // Makes shoal_field known to the connection. `types` are those of the columns, by number.
  FieldCounts(DuckdbConnection& connection, const std::vector<catalog::ColumnType>& types);

  // The text of a column's field as it is, counted.
  static std::string counted(std::size_t column, const std::string& text);

  // Once the statement is done.
  FieldCount of(std::size_t column) const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace shoal::engine
