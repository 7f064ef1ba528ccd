// The rows of tests/golden/accounting.csv: questions about whole events, with independent bounds.
#pragma once

#include "support/golden.hpp"

#include <shoal/base/neighbors.hpp>

#include <string>
#include <vector>

namespace shoal::test {

struct AccountingRow {
  bool epsilon_asked;
  std::string direction;  // removed, added or both
  Neighbors neighbors;
  double at;
  double lower;
  double upper;
  std::string event;

  std::string name() const { return event + " " + direction + " at " + std::to_string(at); }
};

inline std::vector<AccountingRow> accounting_rows() {
  std::vector<AccountingRow> rows;
  for (const std::vector<std::string>& fields : read_golden_text("accounting")) {
    std::string event = fields.at(8);
    for (std::size_t i = 9; i < fields.size(); ++i) event += "," + fields[i];
    rows.push_back({fields.at(0) == "epsilon", fields.at(1), parse_neighbors(fields.at(2)),
                    std::stod(fields.at(3)), std::stod(fields.at(5)), std::stod(fields.at(6)),
                    event});
  }
  return rows;
}

}  // namespace shoal::test
