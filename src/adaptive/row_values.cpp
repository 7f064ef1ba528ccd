#include <shoal/adaptive/row_values.hpp>

namespace shoal::adaptive {

// This layer's one reader of private rows of a table.
class TableRowsKey {
 public:
  static void read(const data::TableRows& rows, const data::TableRows::Take& take) {
    rows.read_(take);
  }
};

std::vector<double> values_of_rows(const data::TableRows& rows, const RowFunction& value) {
  std::vector<double> values;
  TableRowsKey::read(rows, [&](const data::Cell* cells) {
    values.push_back(value(values.size(), std::span(cells, rows.columns())));
  });
  return values;
}

}  // namespace shoal::adaptive
