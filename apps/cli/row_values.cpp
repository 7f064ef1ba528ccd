#include "row_values.hpp"

#include "model_rows.hpp"
#include "row_file.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace shoal::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

// One column of the asker's file; an empty name is the last.
std::vector<std::string> read_column(const std::string& path, const std::string& name) {
  RowFile rows(path, "rows");
  const std::vector<std::string>& header = rows.header();
  if (header.empty()) {
    throw Error(ErrorCode::parse_error,
                fmt::format("{} is empty; it needs a header line", printable(path, 200)));
  }
  const auto found =
      name.empty() ? header.end() - 1 : std::find(header.begin(), header.end(), name);
  if (found == header.end()) {
    throw Error(ErrorCode::not_found,
                fmt::format("{} has no column {}; it has {}", printable(path, 200),
                            printable(name, 40), join_names(header)));
  }
  std::vector<std::string> column;
  while (rows.next()) {
    if (rows.fields().size() != header.size()) {
      throw Error(ErrorCode::parse_error,
                  fmt::format("{} does not have the {} fields of the header; correct it",
                              rows.place(), header.size()));
    }
    column.emplace_back(rows.fields()[static_cast<std::size_t>(found - header.begin())]);
  }
  rows.finish();
  return column;
}

std::vector<double> numbers(const std::vector<std::string>& texts) {
  std::vector<double> values;
  for (const std::string& text : texts) {
    double value = std::nan("");
    std::from_chars(text.data(), text.data() + text.size(), value);
    values.push_back(value);
  }
  return values;
}

session::RowShare share(const std::string& marginal) {
  const std::size_t sign = marginal.find('=');
  if (sign == std::string::npos || sign == 0) {
    refuse("--marginal is a column and a value, such as city=Paris");
  }
  return {marginal.substr(0, sign), marginal.substr(sign + 1)};
}

}  // namespace

void add_row_options(CLI::App& command, RowOptions& question) {
  command.add_option("--values", question.values,
                     "a CSV with a value from 0 to 1 for each row of the data, in its order; "
                     "others are clamped");
  command.add_option("--predictions", question.predictions,
                     "a CSV with a prediction for each row, in the data's order");
  command.add_option("--model", question.model,
                     "a model file: how often it is right about its target; of a number, 1 less "
                     "the error in parts of the range");
  command.add_option("--column", question.column,
                     "the column of --values or --predictions (default: the last)");
  command.add_option("--label", question.label, "the data's column that is predicted");
  command.add_option("--marginal", question.marginal,
                     "the share of rows with this value: column=value");
  command
      .add_option("--correlation", question.correlation,
                  "two columns of numbers, scaled from their public bounds to [-1, 1]: the mean of "
                  "(1 + product) / 2")
      ->expected(2);
}

session::RowQuestion row_question(const RowOptions& options) {
  const int asked = (options.values.empty() ? 0 : 1) + (options.predictions.empty() ? 0 : 1) +
                    (options.model.empty() ? 0 : 1) + (options.marginal.empty() ? 0 : 1) +
                    (options.correlation.empty() ? 0 : 1);
  if (asked != 1) {
    refuse(
        "say what is asked: one of --values, --predictions, --model, --marginal and --correlation");
  }
  if (!options.values.empty())
    return session::RowNumbers{numbers(read_column(options.values, options.column))};
  if (!options.predictions.empty()) {
    if (options.label.empty()) refuse("predictions need the column they predict; name it: --label");
    return session::RowMatches{read_column(options.predictions, options.column), options.label};
  }
  if (!options.model.empty()) return session::RowModel{load_model(options.model)};
  if (!options.marginal.empty()) return share(options.marginal);
  return session::RowProduct{options.correlation.at(0), options.correlation.at(1)};
}

}  // namespace shoal::cli
