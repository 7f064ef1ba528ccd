// Opens private rows for tests. Production has one such key, in src/learn/table_rows_key.hpp; a
// test that includes this must not include that.
#pragma once

#include <shoal/data/table_rows.hpp>

#include <vector>

namespace shoal::learn {

class TableRowsKey {
 public:
  static std::vector<data::Cell> cells(const data::TableRows& rows) {
    std::vector<data::Cell> cells;
    rows.read_([&](const data::Cell* row) { cells.insert(cells.end(), row, row + rows.columns_); });
    return cells;
  }
};

}  // namespace shoal::learn

namespace shoal::test {

inline std::vector<data::Cell> open(const data::TableRows& rows) {
  return learn::TableRowsKey::cells(rows);
}

}  // namespace shoal::test
