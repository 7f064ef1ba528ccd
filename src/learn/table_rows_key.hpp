// The one reader of private rows of a table.
#pragma once

#include <shoal/data/table_rows.hpp>

#include <vector>

namespace shoal::learn {

class TableRowsKey {
 public:
  static const std::vector<data::Cell>& cells(const data::TableRows& rows) { return rows.cells_; }
};

}  // namespace shoal::learn
