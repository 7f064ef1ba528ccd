#include "plan/presentation.hpp"

#include "plan/key_names.hpp"
#include "plan/row_functions.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/plan/estimate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

namespace shoal::plan {
namespace {

std::string base_name(const sql::Expression& expression) {
  if (const auto* reference = expression.get_if<sql::ColumnReference>()) {
    return reference->column.name;
  }
  const auto* call = expression.get_if<sql::Call>();
  if (!call) return "value";
  std::string name = to_lower(call->name);
  for (const sql::Expression& argument : call->arguments) {
    if (const auto* reference = argument.get_if<sql::ColumnReference>()) {
      name += "_" + reference->column.name;
    }
  }
  return name;
}

class Presenter {
 public:
  Presenter(const sql::Query& query, const Grouping& grouping, const Scope& rows,
            std::vector<AggregateCall> calls, std::string_view text)
      : query_(query), text_(text) {
    made_.calls = std::move(calls);
    scope_.rows = &rows;
    for (const GroupKey& key : grouping.keys) {
      made_.keys.push_back(key.typed.type);
      scope_.inputs.push_back({key.written, key.typed.type});
    }
    for (const AggregateCall& call : made_.calls) {
      scope_.inputs.push_back({call.written, {.kind = ValueKind::number, .nullable = false}});
    }
    for (const GroupKey& key : grouping.keys) {
      const ValueType left_out{.kind = ValueKind::number, .whole = true, .nullable = false};
      scope_.inputs.push_back({sql::Expression(sql::Call{"GROUPING", {key.written}}), left_out});
    }
    for (const sql::QueryItem& item : query.items) {
      if (!item.expression) continue;
      if (item.alias) {
        scope_.aliases.push_back({item.alias->name, *item.expression});
      } else if (const auto* column = item.expression->get_if<sql::ColumnReference>();
                 column && names_column(*column, rows)) {
        scope_.aliases.push_back({column->column.name, *item.expression, true});
      }
    }
  }

  std::shared_ptr<const Presentation> make() {
    for (const sql::QueryItem& item : query_.items) add_column(item);
    name_columns();
    if (query_.having) {
      made_.having = AnswerExpression::compile(*query_.having, scope_,
                                               AnswerExpression::Clause::having, text_);
    }
    for (const sql::OrderItem& item : query_.order_by) add_order(item);
    made_.limit = count(query_.limit, "LIMIT");
    made_.offset = count(query_.offset, "OFFSET").value_or(0);
    return std::make_shared<const Presentation>(std::move(made_));
  }

 private:
  void add_column(const sql::QueryItem& item) {
    if (!item.expression) {
      throw sql::error_at(ErrorCode::unsupported, text_, item.position,
                          "SELECT * would show private rows; write an aggregate, for example "
                          "SELECT COUNT(*)");
    }
    Part part = Part::value;
    sql::Expression expression = *item.expression;
    if (const auto* call = expression.get_if<sql::Call>();
        call && (call->name == "DP_INTERVAL_LOW" || call->name == "DP_INTERVAL_HIGH")) {
      if (call->arguments.size() != 1) {
        throw sql::error_at(ErrorCode::parse_error, text_, expression.position(),
                            "DP_INTERVAL_LOW and DP_INTERVAL_HIGH take one column of the answer");
      }
      part = call->name == "DP_INTERVAL_LOW" ? Part::low : Part::high;
      const sql::Expression inner = call->arguments[0];
      expression = inner;
    }
    AnswerExpression compiled =
        AnswerExpression::compile(expression, scope_, AnswerExpression::Clause::select, text_);
    PresentedColumn column;
    column.name = item.alias ? item.alias->name : base_name(*item.expression);
    column.type = part == Part::value ? column_type(compiled.type()) : catalog::ColumnType::real;
    std::set<std::size_t> aggregates;
    for (const std::size_t at : compiled.inputs()) {
      const bool is_call = at >= made_.keys.size() && at < made_.keys.size() + made_.calls.size();
      if (is_call) aggregates.insert(made_.calls[at - made_.keys.size()].aggregate);
    }
    column.aggregates.assign(aggregates.begin(), aggregates.end());
    column.is_key = aggregates.empty();
    column.bare = part == Part::value && std::any_of(made_.calls.begin(), made_.calls.end(),
                                                     [&](const AggregateCall& call) {
                                                       return call.written == expression;
                                                     });
    made_.columns.push_back(std::move(column));
    made_.rules.push_back({std::move(compiled), part});
  }

  void name_columns() {
    std::set<std::string> taken;
    for (PresentedColumn& column : made_.columns) {
      std::string name = column.name;
      for (int i = 2; taken.contains(name); ++i) name = fmt::format("{}_{}", column.name, i);
      column.name = name;
      taken.insert(name);
    }
  }

  void add_order(const sql::OrderItem& item) {
    sql::Expression expression = item.expression;
    auto clause = AnswerExpression::Clause::order_by;
    if (const auto* literal = expression.get_if<sql::Literal>();
        literal && literal->kind == sql::LiteralKind::integer) {
      const std::size_t at = std::strtoull(literal->text.c_str(), nullptr, 10);
      if (at < 1 || at > query_.items.size() || !query_.items[at - 1].expression) {
        throw sql::error_at(ErrorCode::invalid_argument, text_, expression.position(),
                            fmt::format("ORDER BY {}: the list has {} columns",
                                        printable(literal->text, 20), query_.items.size()));
      }
      const sql::Expression meant = *query_.items[at - 1].expression;
      expression = meant;
      clause = AnswerExpression::Clause::select;  // where it was written
    }
    made_.order.push_back({AnswerExpression::compile(expression, scope_, clause, text_),
                           item.descending, item.nulls == sql::NullsOrder::first});
  }

  std::optional<std::uint64_t> count(const std::optional<sql::Expression>& written,
                                     const char* clause) const {
    if (!written) return std::nullopt;
    const auto value = literal_number(*written);
    if (!value || !(*value >= 0 && *value <= 1e15 && std::floor(*value) == *value)) {
      throw sql::error_at(ErrorCode::invalid_argument, text_, written->position(),
                          fmt::format("{} takes a whole number, such as {} 10", clause, clause));
    }
    return static_cast<std::uint64_t>(*value);
  }

  const sql::Query& query_;
  std::string_view text_;
  AnswerScope scope_;
  Presentation made_;
};

void visit_aggregates(const sql::Expression& expression,
                      const std::function<void(const sql::Expression&)>& visit) {
  const auto* call = expression.get_if<sql::Call>();
  if (call && is_aggregate(call->name)) return visit(expression);
  for (const sql::Expression& part : children(expression)) visit_aggregates(part, visit);
}

// One group on its way to a row.
class GroupView {
 public:
  GroupView(const Plan& plan, std::size_t grouping, const catalog::ReleasedGroup& group)
      : plan_(plan), shown_(*plan.presentation), grouping_(grouping), group_(group) {}

  // Intervals are wide enough for `parts` aggregates together.
  std::vector<AnswerValue> inputs(std::size_t parts) {
    std::vector<AnswerValue> values(shown_.keys.size());
    const std::vector<std::size_t>& keys = plan_.groupings[grouping_].keys;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const catalog::KeyValue& key = group_.key.at(i);
      if (!key) continue;
      AnswerValue& value = values[keys[i]];
      value.value = value_of_key(*key, shown_.keys[keys[i]].kind);
      if (const auto* number = std::get_if<double>(&value.value))
        value.lower = value.upper = *number;
    }
    for (const AggregateCall& call : shown_.calls) {
      const Estimate& one = estimated(call.aggregate, parts);
      values.push_back({one.value, one.lower, one.upper});
    }
    for (std::size_t key = 0; key < shown_.keys.size(); ++key) {
      const double left_out = std::find(keys.begin(), keys.end(), key) == keys.end() ? 1 : 0;
      values.push_back({left_out, left_out, left_out});
    }
    return values;
  }

  Cell cell(const PresentedColumn& column, const ColumnRule& rule) {
    // An aggregate by itself is shown as it was estimated: a count below 0 stays outside its
    // interval.
    if (column.bare) {
      const Estimate& one = estimated(column.aggregates.front(), 1);
      return {one.value, one.lower, one.upper};
    }
    const AnswerValue made =
        rule.expression.evaluate(inputs(std::max<std::size_t>(1, column.aggregates.size())));
    if (rule.part != Part::value) {
      const double end = rule.part == Part::low ? made.lower : made.upper;
      if (is_null(made.value) || !std::isfinite(end)) return {};
      return {end};
    }
    Cell one{made.value};
    if (!column.is_key && std::holds_alternative<double>(made.value)) {
      if (std::isfinite(made.lower)) one.lower = made.lower;
      if (std::isfinite(made.upper)) one.upper = made.upper;
    }
    return one;
  }

 private:
  const Estimate& estimated(std::size_t aggregate, std::size_t parts) {
    const auto found = estimates_.find({aggregate, parts});
    if (found != estimates_.end()) return found->second;
    const Confidence each(1 - (1 - plan_.confidence.value()) / static_cast<double>(parts));
    return estimates_
        .emplace(std::pair(aggregate, parts),
                 estimate(plan_, grouping_, plan_.aggregates[aggregate], group_, each))
        .first->second;
  }

  const Plan& plan_;
  const Presentation& shown_;
  std::size_t grouping_;
  const catalog::ReleasedGroup& group_;
  std::map<std::pair<std::size_t, std::size_t>, Estimate> estimates_;
};

bool is_true(const Value& value) {
  const bool* flag = std::get_if<bool>(&value);
  return flag && *flag;
}

struct OrderedRow {
  std::vector<Cell> cells;
  std::vector<Value> order;
};

bool comes_before(const OrderedRow& a, const OrderedRow& b, const std::vector<OrderRule>& rules) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const bool a_null = is_null(a.order[i]);
    const bool b_null = is_null(b.order[i]);
    if (a_null || b_null) {
      if (a_null == b_null) continue;
      return a_null == rules[i].nulls_first;
    }
    if (a.order[i] == b.order[i]) continue;
    return (a.order[i] < b.order[i]) != rules[i].descending;
  }
  return false;
}

}  // namespace

catalog::ColumnType column_type(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::number:
      return type.whole ? catalog::ColumnType::integer : catalog::ColumnType::real;
    case ValueKind::text:
      return catalog::ColumnType::text;
    case ValueKind::boolean:
      return catalog::ColumnType::boolean;
    case ValueKind::date:
      return catalog::ColumnType::date;
    case ValueKind::timestamp:
      break;
  }
  return catalog::ColumnType::timestamp;
}

void for_each_aggregate(const sql::Query& query,
                        const std::function<void(const sql::Expression&)>& visit) {
  for (const sql::QueryItem& item : query.items) {
    if (item.expression) visit_aggregates(*item.expression, visit);
  }
  if (query.having) visit_aggregates(*query.having, visit);
  for (const sql::OrderItem& item : query.order_by) visit_aggregates(item.expression, visit);
}

std::shared_ptr<const Presentation> make_presentation(const sql::Query& query,
                                                      const Grouping& grouping, const Scope& rows,
                                                      std::vector<AggregateCall> calls,
                                                      std::string_view text) {
  return Presenter(query, grouping, rows, std::move(calls), text).make();
}

const std::vector<PresentedColumn>& presented_columns(const Plan& plan) {
  return plan.presentation->columns;
}

std::vector<std::vector<Cell>> present(const Plan& plan,
                                       std::span<const std::vector<catalog::ReleasedGroup>> sets) {
  SHOAL_CHECK(sets.size() == plan.groupings.size());
  const Presentation& shown = *plan.presentation;
  std::vector<OrderedRow> rows;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (const catalog::ReleasedGroup& group : sets[set]) {
      GroupView view(plan, set, group);
      if (shown.having && !is_true(shown.having->evaluate(view.inputs(1)).value)) continue;
      OrderedRow& row = rows.emplace_back();
      for (std::size_t i = 0; i < shown.columns.size(); ++i) {
        row.cells.push_back(view.cell(shown.columns[i], shown.rules[i]));
      }
      for (const OrderRule& rule : shown.order) {
        row.order.push_back(rule.expression.evaluate(view.inputs(1)).value);
      }
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const OrderedRow& a, const OrderedRow& b) {
    return comes_before(a, b, shown.order);
  });
  std::vector<std::vector<Cell>> answer;
  for (std::size_t i = shown.offset; i < rows.size(); ++i) {
    if (shown.limit && answer.size() >= *shown.limit) break;
    answer.push_back(std::move(rows[i].cells));
  }
  return answer;
}

}  // namespace shoal::plan
