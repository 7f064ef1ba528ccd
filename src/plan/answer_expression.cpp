#include "plan/answer_expression.hpp"

#include "plan/answer_cell.hpp"
#include "plan/row_build.hpp"
#include "plan/row_checker.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/calendar.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::plan {
namespace {

using sql::Expression;

// Names mean inputs, or the expressions that the select list gives a name.
class AnswerNames : public RowNames {
 public:
  AnswerNames(const AnswerScope& scope, std::string_view text, bool aliases)
      : scope_(scope), text_(text), aliases_(aliases) {}

  RowNodePointer find(const Expression& expression) const override {
    for (std::size_t i = 0; i < scope_.inputs.size(); ++i) {
      const AnswerInput& input = scope_.inputs[i];
      if (same_expression(expression, input.expression, scope_.rows)) {
        return make_input(i, input.type, expression.position());
      }
    }
    const auto* reference = expression.get_if<sql::ColumnReference>();
    if (reference == nullptr) return nullptr;
    if (const Expression* meant = alias(*reference, expression.position())) {
      const AnswerNames inputs_only(scope_, text_, false);
      return RowChecker(inputs_only, text_).value(*meant);
    }
    const std::string name = printable(reference->column.name, 60);
    throw sql::error_at(ErrorCode::invalid_argument, text_, expression.position(),
                        fmt::format("{} is neither in GROUP BY nor inside an aggregate; add it to "
                                    "GROUP BY, or write for example AVG({})",
                                    name, name));
  }

  std::string aggregate_refusal(const sql::Call& call) const override {
    return fmt::format(
        "this aggregate {} is not among those that the query releases; an aggregate cannot stand "
        "inside another one, nor beside a DISTINCT",
        call.name);
  }

  bool has_engine() const override { return false; }

  // The expression that a bare name stands for.
  const Expression* alias(const sql::ColumnReference& reference, sql::Position position) const {
    if (!aliases_ || reference.table) return nullptr;
    const Expression* found = nullptr;
    for (const AnswerAlias& one : scope_.aliases) {
      if (!sql::matches(reference.column, one.name)) continue;
      if (found != nullptr && !same_expression(*found, one.expression, scope_.rows)) {
        throw sql::error_at(ErrorCode::invalid_argument, text_, position,
                            fmt::format("{} names two columns of the answer; give one another name",
                                        printable(one.name, 60)));
      }
      found = &one.expression;
    }
    return found;
  }

 private:
  const AnswerScope& scope_;
  std::string_view text_;
  bool aliases_;
};

// An alias that stands alone is looked up before the keys: ORDER BY speaks of the answer.
RowNodePointer check(const Expression& expression, const AnswerScope& scope, std::string_view text,
                     bool condition) {
  const AnswerNames names(scope, text, true);
  const auto* reference = expression.get_if<sql::ColumnReference>();
  if (reference != nullptr) {
    if (const Expression* meant = names.alias(*reference, expression.position())) {
      const AnswerNames inputs_only(scope, text, false);
      const RowChecker checker(inputs_only, text);
      return condition ? checker.condition(*meant) : checker.value(*meant);
    }
  }
  const RowChecker checker(names, text);
  return condition ? checker.condition(expression) : checker.value(expression);
}

void collect_inputs(const RowNode& node, std::vector<std::size_t>& inputs) {
  if (node.operation == Operation::input) inputs.push_back(node.input);
  for (const RowNodePointer& argument : node.arguments) collect_inputs(*argument, inputs);
}

// What is given may hold anything; within, numbers are finite and intervals hold their values.
AnswerCell cell_of(const AnswerValue& given) {
  AnswerCell cell{given.value, {}, true};
  const double* number = std::get_if<double>(&given.value);
  if (number == nullptr) return cell;
  if (!std::isfinite(*number)) return {};
  const double lower = std::isnan(given.lower) ? Interval{}.lower : given.lower;
  const double upper = std::isnan(given.upper) ? Interval{}.upper : given.upper;
  cell.interval = {std::min(lower, *number), std::max(upper, *number)};
  return cell;
}

}  // namespace

AnswerExpression::AnswerExpression(std::shared_ptr<const RowNode> root) : root_(std::move(root)) {
  collect_inputs(*root_, inputs_);
  std::sort(inputs_.begin(), inputs_.end());
  inputs_.erase(std::unique(inputs_.begin(), inputs_.end()), inputs_.end());
}

AnswerExpression AnswerExpression::compile(const Expression& expression, const AnswerScope& scope,
                                           std::string_view text) {
  return AnswerExpression(check(expression, scope, text, false));
}

AnswerExpression AnswerExpression::compile_condition(const Expression& expression,
                                                     const AnswerScope& scope,
                                                     std::string_view text) {
  return AnswerExpression(check(expression, scope, text, true));
}

ValueType AnswerExpression::type() const { return type_of(*root_); }

AnswerValue AnswerExpression::evaluate(std::span<const AnswerValue> inputs) const {
  std::vector<AnswerCell> cells;
  cells.reserve(inputs.size());
  for (const AnswerValue& input : inputs) cells.push_back(cell_of(input));
  const AnswerCell cell = evaluate_cell(*root_, cells);
  if (!std::holds_alternative<double>(cell.value)) return {cell.value, 0, 0};
  return {cell.value, cell.interval.lower, cell.interval.upper};
}

}  // namespace shoal::plan
