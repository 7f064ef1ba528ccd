#include "row_values.hpp"

#include "csv.hpp"
#include "model_rows.hpp"
#include "streams.hpp"

#include <shoal/adaptive/row_mean.hpp>
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

using Columns = std::vector<std::vector<std::string>>;

// The asker's own files are checked; of private rows nothing is said.
enum class Rows { own, held };

// The named columns of a file; an empty name is the last column.
Columns read_columns(const std::string& path, const std::vector<std::string>& names, Rows rows) {
  LineReader lines(path, "rows", Printing::at_the_end);
  CsvReader csv(lines);
  if (!csv.next()) {
    throw Error(ErrorCode::parse_error,
                fmt::format("{} is empty; it needs a header line", printable(path, 200)));
  }
  const std::vector<std::string> header(csv.fields().begin(), csv.fields().end());
  std::vector<std::size_t> places;
  for (const std::string& name : names) {
    const auto found =
        name.empty() ? header.end() - 1 : std::find(header.begin(), header.end(), name);
    if (found == header.end()) {
      throw Error(ErrorCode::not_found,
                  fmt::format("{} has no column {}; it has {}", printable(path, 200),
                              printable(name, 40), join_names(header)));
    }
    places.push_back(static_cast<std::size_t>(found - header.begin()));
  }
  Columns columns(names.size());
  while (csv.next()) {
    if (rows == Rows::own && csv.fields().size() != header.size()) {
      throw Error(ErrorCode::parse_error,
                  fmt::format("{} does not have the {} fields of the header; correct it",
                              lines.place(csv.line()), header.size()));
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      const bool there = places[i] < csv.fields().size();
      columns[i].emplace_back(there ? csv.fields()[places[i]] : std::string_view());
    }
  }
  lines.finish();
  return columns;
}

double number(const std::string& text) {
  double value = std::nan("");
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<double> numbers(const std::vector<std::string>& texts) {
  std::vector<double> values;
  for (const std::string& text : texts) values.push_back(number(text));
  return values;
}

std::vector<double> matches(const RowQuestion& question, const std::string& data, bool loss) {
  if (question.label.empty()) refuse("predictions need the column they predict; name it: --label");
  const Columns labels = read_columns(data, {question.label}, Rows::held);
  const Columns predicted = read_columns(question.predictions, {question.column}, Rows::own);
  if (labels[0].size() != predicted[0].size()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} has {} rows and the data {}; give one prediction for each row",
                    printable(question.predictions, 200), predicted[0].size(), labels[0].size()));
  }
  std::vector<double> values;
  for (std::size_t i = 0; i < labels[0].size(); ++i) {
    values.push_back((labels[0][i] == predicted[0][i]) != loss ? 1 : 0);
  }
  return values;
}

// How right a model is about each row: 1 or 0 for a class, and for a number 1 less its distance in
// parts of the target's range. About a row without a label it is wrong.
std::vector<double> model_values(const std::string& path, const std::string& data, bool loss) {
  const learn::Model model = load_model(path);
  RecordReader rows(data, learn::column_requests(model.pipeline, model.target));
  std::vector<double> values;
  while (rows.next()) {
    const auto label = learn::label_of(model.target, rows.cells().back());
    const double predicted =
        learn::predict(model, rows.cells().first(rows.cells().size() - 1)).label;
    double right = 0;
    if (label && !model.target.categories.empty()) {
      right = predicted == *label ? 1 : 0;
    } else if (label) {
      right = 1 - std::abs(predicted - *label) / 2;
    }
    values.push_back(loss ? 1 - right : right);
  }
  return values;
}

std::vector<double> marginal(const RowQuestion& question, const std::string& data) {
  const std::size_t sign = question.marginal.find('=');
  if (sign == std::string::npos || sign == 0) {
    refuse("--marginal is a column and a value, such as city=Paris");
  }
  const std::string wanted = question.marginal.substr(sign + 1);
  std::vector<double> values;
  const Columns columns = read_columns(data, {question.marginal.substr(0, sign)}, Rows::held);
  for (const std::string& text : columns[0]) values.push_back(text == wanted ? 1 : 0);
  return values;
}

std::vector<double> correlation(const RowQuestion& question, const std::string& data) {
  const Columns columns = read_columns(data, question.correlation, Rows::held);
  std::vector<double> values;
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    values.push_back(adaptive::correlation_value(number(columns[0][i]), number(columns[1][i])));
  }
  return values;
}

}  // namespace

void add_row_question(CLI::App& command, RowQuestion& question) {
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
                  "two columns of the data, from -1 to 1: the mean of (1 + product) / 2")
      ->expected(2);
}

std::vector<double> row_values(const RowQuestion& question, const std::string& data, bool loss) {
  const int asked = (question.values.empty() ? 0 : 1) + (question.predictions.empty() ? 0 : 1) +
                    (question.model.empty() ? 0 : 1) + (question.marginal.empty() ? 0 : 1) +
                    (question.correlation.empty() ? 0 : 1);
  if (asked != 1) {
    refuse(
        "say what is asked: one of --values, --predictions, --model, --marginal and --correlation");
  }
  if (!question.values.empty()) {
    return numbers(read_columns(question.values, {question.column}, Rows::own)[0]);
  }
  if (!question.predictions.empty()) return matches(question, data, loss);
  if (!question.model.empty()) return model_values(question.model, data, loss);
  if (!question.marginal.empty()) return marginal(question, data);
  return correlation(question, data);
}

std::int64_t count_rows(const std::string& data) {
  return static_cast<std::int64_t>(read_columns(data, {""}, Rows::held)[0].size());
}

}  // namespace shoal::cli
