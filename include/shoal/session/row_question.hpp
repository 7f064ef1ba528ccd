// What a holdout or a leaderboard is asked: a number from 0 to 1 for each private row, in the order
// of the table. What the asker brings is checked and may be refused; what is in a private row never
// is: a missing value, a value outside its bounds or a label that nobody predicted has a number of
// its own, stated below.
#pragma once

#include <shoal/adaptive/row_values.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/engine/row_request.hpp>
#include <shoal/learn/model.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace shoal::session {

// Numbers that the asker brings, one a row. Those outside [0, 1] are clamped.
struct RowNumbers {
  std::vector<double> values;
};

// Whether a prediction for each row is the row's label: 1 if so, else 0. A row without a label is
// predicted wrongly.
struct RowMatches {
  std::vector<std::string> predictions;
  std::string label;
};

// How right a model is: 1 or 0 for a class; for a number, 1 less its distance in parts of the
// target's range. About a row without a label it is wrong.
struct RowModel {
  learn::Model model;
};

// Whether a column has this value.
struct RowShare {
  std::string column;
  std::string value;
};

// How two columns of numbers go together: (1 + x y) / 2 with x and y scaled from their public
// bounds to [-1, 1]. Twice the mean less 1 is the mean of x y. A missing value counts as the middle
// of its bounds.
struct RowProduct {
  std::string one;
  std::string other;
};

using RowQuestion = std::variant<RowNumbers, RowMatches, RowModel, RowShare, RowProduct>;

// What counts: being right, or being wrong.
enum class RowScore { right, wrong };

// A question that was checked against public facts: what to read of each row, and its number.
struct PlannedRowQuestion {
  engine::RowRequest rows;       // no columns: nothing is read
  adaptive::RowFunction number;  // never throws
};

// `rows` is the public number of rows. Throws not_found and invalid_argument, before anything is
// read, for a value that is none of those that the policy lists for the column, for a column that
// the table lacks or that may not be asked about, for a number of values that is not that of the
// rows, and for columns without the bounds that the question needs.
PlannedRowQuestion plan_rows(const catalog::Table& table, RowQuestion question, RowScore score,
                             std::int64_t rows);

}  // namespace shoal::session
