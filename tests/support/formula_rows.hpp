// The rows of tests/golden/accounting_formulas.csv that belong to one formula.
#pragma once

#include "support/golden.hpp"

#include <shoal/privacy/profile.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::test {

struct FormulaRow {
  double first;
  double second;
  std::int64_t count;
  double at;
  double value;
  double tolerance;
  std::string name;
};

inline std::vector<FormulaRow> formula_rows(const std::string& formula) {
  std::vector<FormulaRow> rows;
  for (const std::vector<std::string>& fields : read_golden_text("accounting_formulas")) {
    if (fields.at(0) != formula) continue;
    rows.push_back({std::stod(fields.at(1)), std::stod(fields.at(2)), std::stoll(fields.at(3)),
                    std::stod(fields.at(4)), std::stod(fields.at(5)), std::stod(fields.at(6)),
                    fields.at(0) + " " + fields.at(1) + " " + fields.at(2) + " " + fields.at(3) +
                        " " + fields.at(4)});
  }
  if (rows.empty()) throw std::runtime_error("no golden row for " + formula);
  return rows;
}

// Both bounds near the value, and on their side of it but for its own rounding.
inline void expect_around(const privacy::Bounds& bounds, const FormulaRow& row) {
  EXPECT_LE(bounds.lower, bounds.upper) << row.name;
  EXPECT_LE(bounds.lower, row.value * (1 + row.tolerance)) << row.name;
  EXPECT_GE(bounds.upper, row.value * (1 - row.tolerance)) << row.name;
  EXPECT_NEAR(bounds.lower, row.value, row.tolerance * row.value) << row.name;
  EXPECT_NEAR(bounds.upper, row.value, row.tolerance * row.value) << row.name;
}

inline void expect_just_above(double value, const FormulaRow& row) {
  EXPECT_GE(value, row.value * (1 - 1e-15 - 5e-15)) << row.name;
  EXPECT_NEAR(value, row.value, row.tolerance * row.value) << row.name;
}

}  // namespace shoal::test
