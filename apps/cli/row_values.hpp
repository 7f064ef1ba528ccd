// The options that say what a holdout or a leaderboard is asked, and the question that they make:
// numbers, predictions and models come from the asker's own files; private rows are read behind the
// session.
#pragma once

#include <shoal/session/row_question.hpp>

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace shoal::cli {

// What to ask. Exactly one of values, predictions, model, marginal, correlation.
struct RowOptions {
  std::string values, predictions, model, column, label, marginal;
  std::vector<std::string> correlation;
};

void add_row_options(CLI::App& command, RowOptions& options);

// Throws invalid_argument, not_found, parse_error: for the asker's files alone.
session::RowQuestion row_question(const RowOptions& options);

}  // namespace shoal::cli
