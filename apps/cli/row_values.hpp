// Values of a question on each row, from CSV files: columns of values, predictions against labels,
// a model's own predictions, marginals, correlations. What is in private rows is never printed and
// never refused: values outside of [0, 1] or that are no numbers are clamped where they are used,
// and a field that a private row lacks is empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace shoal::cli {

// What to compute. Exactly one of values, predictions, model, marginal, correlation.
struct RowQuestion {
  std::string values, predictions, model, column, label, marginal;
  std::vector<std::string> correlation;
};

void add_row_question(CLI::App& command, RowQuestion& question);

// One value a row of the data file. `loss`: predictions and models count 1 where they are wrong,
// not right.
// Throws invalid_argument, not_found, parse_error; parse_error also if the files have different
// numbers of rows.
std::vector<double> row_values(const RowQuestion& question, const std::string& data, bool loss);

// The rows below the header line.
std::int64_t count_rows(const std::string& data);

}  // namespace shoal::cli
