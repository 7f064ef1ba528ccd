#include <shoal/adaptive/row_mean.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/features.hpp>
#include <shoal/plan/listed.hpp>
#include <shoal/session/row_question.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace shoal::session {
namespace {

using Cells = std::span<const data::Cell>;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

const catalog::Column& column_of(const catalog::Table& table, const std::string& name) {
  const catalog::Column* column = table.find_column(name, true);
  if (column == nullptr || column->type == catalog::ColumnType::other) {
    throw Error(ErrorCode::not_found, fmt::format("table {} has no column {} to ask about",
                                                  table.name, printable(name, 60)));
  }
  if (!column->queryable) {
    throw Error(ErrorCode::refused_by_policy,
                fmt::format("the policy keeps column {} back", column->name));
  }
  return *column;
}

void require_rows(std::size_t given, std::int64_t rows, const char* what) {
  if (given == static_cast<std::size_t>(rows)) return;
  refuse(fmt::format("there are {} {} and the table has {} rows; give one for each row", given,
                     what, rows));
}

double scored(bool right, RowScore score) { return right == (score == RowScore::right) ? 1 : 0; }

// A number as the asker writes it; none if it is no number.
std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// Whether a cell is one of the values that the asker names: numbers are compared as numbers.
class Named {
 public:
  Named(const catalog::Column& column, const std::vector<std::string>& values)
      : numeric_(catalog::is_numeric(column.type)) {
    request_.column = column.name;
    require_listed(column, values);
    for (const std::string& value : values) {
      const auto number = number_in(value);
      if (numeric_) {
        numbers_.push_back(*number);
      } else {
        const auto place = static_cast<std::int32_t>(places_.size());
        const auto [known, is_new] = places_.try_emplace(value, place);
        if (is_new) request_.categories.push_back(value);
        wanted_.push_back(known->second);
      }
    }
    // A list without a value would be read as numbers.
    if (!numeric_ && request_.categories.empty()) request_.categories.emplace_back();
  }

  const data::ColumnRequest& request() const { return request_; }
  bool is(const data::Cell& cell, std::size_t value) const {
    return numeric_ ? cell.number == numbers_[value] : cell.category == wanted_[value];
  }

 private:
  // What no row can hold would be answered, and used up, for nothing.
  void require_listed(const catalog::Column& column, const std::vector<std::string>& values) const {
    const std::vector<std::string> listed = plan::listed_values(column);
    std::set<std::string_view> known;
    for (const std::string& value : values) {
      if (!known.insert(value).second) continue;
      if (numeric_ && !number_in(value)) {
        refuse(fmt::format("{} is no number, and column {} has numbers", printable(value, 60),
                           column.name));
      }
      if (listed.empty() || plan::is_listed(value, column.type, listed)) continue;
      refuse(plan::why_not_listed(value, column.type, listed, column.name));
    }
  }

  bool numeric_;
  data::ColumnRequest request_;
  std::vector<double> numbers_;
  std::map<std::string, std::int32_t> places_;
  std::vector<std::int32_t> wanted_;
};

struct Plan {
  const catalog::Table& table;
  RowScore score;
  std::int64_t rows;

  PlannedRowQuestion operator()(RowNumbers&& question) const {
    require_rows(question.values.size(), rows, "values");
    return {{},
            [values = std::move(question.values)](std::size_t row, Cells) { return values[row]; }};
  }

  PlannedRowQuestion operator()(RowMatches&& question) const {
    require_rows(question.predictions.size(), rows, "predictions");
    const Named named(column_of(table, question.label), question.predictions);
    return {{.columns = {named.request()}}, [named, how = score](std::size_t row, Cells cells) {
              return scored(named.is(cells[0], row), how);
            }};
  }

  PlannedRowQuestion operator()(RowModel&& question) const {
    const learn::Model model = std::move(question.model);
    std::vector<data::ColumnRequest> columns = learn::column_requests(model.pipeline, model.target);
    for (const data::ColumnRequest& one : columns) {
      const catalog::Column& column = column_of(table, one.column);
      if (!one.categories.empty() || catalog::is_numeric(column.type)) continue;
      refuse(fmt::format("the model takes column {} for numbers, and in table {} it is {}",
                         column.name, table.name, catalog::to_string(column.type)));
    }
    return {{.columns = std::move(columns)}, [model, how = score](std::size_t, Cells cells) {
              const auto label = learn::label_of(model.target, cells.back());
              if (!label) return scored(false, how);
              const double told = learn::predict(model, cells.first(cells.size() - 1)).label;
              if (!model.target.categories.empty()) return scored(told == *label, how);
              const double right = 1 - std::abs(told - *label) / 2;
              return how == RowScore::right ? right : 1 - right;
            }};
  }

  PlannedRowQuestion operator()(RowShare&& question) const {
    const Named named(column_of(table, question.column), {question.value});
    return {{.columns = {named.request()}},
            [named](std::size_t, Cells cells) { return named.is(cells[0], 0) ? 1.0 : 0.0; }};
  }

  PlannedRowQuestion operator()(RowProduct&& question) const {
    const catalog::Bounds one = bounds_of(question.one);
    const catalog::Bounds other = bounds_of(question.other);
    return {{.columns = {{question.one, {}}, {question.other, {}}}},
            [one, other](std::size_t, Cells cells) {
              return adaptive::correlation_value(scaled(cells[0].number, one),
                                                 scaled(cells[1].number, other));
            }};
  }

  catalog::Bounds bounds_of(const std::string& name) const {
    const catalog::Column& column = column_of(table, name);
    if (!catalog::is_numeric(column.type)) {
      refuse(fmt::format("column {} is {}; products are of numbers", column.name,
                         catalog::to_string(column.type)));
    }
    if (!column.bounds || !(column.bounds->lower < column.bounds->upper)) {
      refuse(
          fmt::format("column {} has no public bounds to scale it by; let the owner write "
                      "bounds = [lower, upper] in the policy",
                      column.name));
    }
    return *column.bounds;
  }

  // From its bounds to [-1, 1]; what is missing becomes 0, the middle.
  static double scaled(double value, const catalog::Bounds& bounds) {
    return (value - bounds.lower) / (bounds.upper - bounds.lower) * 2 - 1;
  }
};

}  // namespace

PlannedRowQuestion plan_rows(const catalog::Table& table, RowQuestion question, RowScore score,
                             std::int64_t rows) {
  PlannedRowQuestion planned = std::visit(
      [&](auto&& one) {
        return Plan{table, score, rows}(std::move(one));
      },
      std::move(question));
  planned.rows.in_file_order = true;
  return planned;
}

}  // namespace shoal::session
