// Opens private rows for tests. Production has one such key, in src/learn/table_rows_key.hpp; a
// test that includes this must not include that.
#pragma once

#include <shoal/data/table_rows.hpp>

#include <vector>

namespace shoal::learn {

class TableRowsKey {
 public:
  static const std::vector<data::Cell>& cells(const data::TableRows& rows) { return rows.cells_; }
};

}  // namespace shoal::learn

namespace shoal::test {

inline const std::vector<data::Cell>& open(const data::TableRows& rows) {
  return learn::TableRowsKey::cells(rows);
}

}  // namespace shoal::test
