#include "plan/answer_expression.hpp"

#include "plan/answer_cell.hpp"
#include "plan/key_names.hpp"
#include "plan/row_build.hpp"
#include "plan/row_checker.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/calendar.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace shoal::plan {
namespace {

using sql::Expression;
using Clause = AnswerExpression::Clause;

// What names mean, by the clause that they stand in; only the first `known` aliases have a meaning.
class AnswerNames : public RowNames {
 public:
  AnswerNames(const AnswerScope& scope, std::string_view text, Clause clause, std::size_t known)
      : scope_(scope), text_(text), clause_(clause), known_(known) {}

  RowNodePointer find(const Expression& expression) const override {
    for (std::size_t i = 0; i < scope_.inputs.size(); ++i) {
      const AnswerInput& input = scope_.inputs[i];
      if (same_expression(expression, input.expression, scope_.rows)) {
        return make_input(i, input.type, expression.position());
      }
    }
    const auto* reference = expression.get_if<sql::ColumnReference>();
    if (reference == nullptr) return nullptr;
    // Only HAVING prefers an alias to a column that is no key.
    if (clause_ == Clause::having || !(scope_.rows && names_column(*reference, *scope_.rows))) {
      if (const auto meant = alias(*reference, expression.position())) return value_of(*meant);
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

  // Which alias a bare name is.
  std::optional<std::size_t> alias(const sql::ColumnReference& reference,
                                   sql::Position position) const {
    if (reference.table) return std::nullopt;
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < known_; ++i) {
      const AnswerAlias& one = scope_.aliases[i];
      if (one.implicit && clause_ != Clause::order_by) continue;
      if (!equals_ignoring_case(reference.column.name, one.name)) continue;
      if (found &&
          !same_expression(scope_.aliases[*found].expression, one.expression, scope_.rows)) {
        throw sql::error_at(ErrorCode::invalid_argument, text_, position,
                            fmt::format("{} names two columns of the answer; give one another name",
                                        printable(one.name, 60)));
      }
      if (!found) found = i;
    }
    return found;
  }

  // What an alias stands for was written in the select list, where those before it are known.
  RowNodePointer value_of(std::size_t alias) const {
    const AnswerNames names(scope_, text_, Clause::select, alias);
    return RowChecker(names, text_).value(scope_.aliases[alias].expression);
  }

 private:
  const AnswerScope& scope_;
  std::string_view text_;
  Clause clause_;
  std::size_t known_;
};

RowNodePointer check(const Expression& expression, const AnswerScope& scope, std::string_view text,
                     Clause clause) {
  const AnswerNames names(scope, text, clause, scope.aliases.size());
  const auto* reference = expression.get_if<sql::ColumnReference>();
  if (reference != nullptr && clause == Clause::order_by) {
    if (const auto meant = names.alias(*reference, expression.position())) {
      return names.value_of(*meant);
    }
  }
  const RowChecker checker(names, text);
  return clause == Clause::having ? checker.condition(expression) : checker.value(expression);
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
                                           Clause clause, std::string_view text) {
  return AnswerExpression(check(expression, scope, text, clause));
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
