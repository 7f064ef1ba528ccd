// The one reader of private rows of a table.
#pragma once

#include <shoal/data/table_rows.hpp>

namespace shoal::learn {

class TableRowsKey {
 public:
  static void read(const data::TableRows& rows, const data::TableRows::Take& take) {
    rows.read_(take);
  }
};

}  // namespace shoal::learn
