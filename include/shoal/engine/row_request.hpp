// What learning asks of a table: some columns of every unit's row.
#pragma once

#include <shoal/data/table_rows.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace shoal::engine {

struct RowRequest {
  std::vector<data::ColumnRequest> columns = {};
  // If the unit is a person: of her rows the one with the smallest keyed hash counts, and rows
  // without a person do not. Empty: every row is a unit.
  std::string person_column = {};
  std::array<std::uint64_t, 2> hash_key = {};  // secret, new for each request
  // Every row in the place that it has in the source, where a row is a unit: for whoever brings
  // something for each row. Not together with person_column.
  bool in_file_order = false;
};

}  // namespace shoal::engine
