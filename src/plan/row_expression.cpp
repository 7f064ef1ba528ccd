#include "plan/row_expression.hpp"

#include "plan/row_build.hpp"
#include "plan/row_checker.hpp"
#include "plan/row_lower.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::plan {

using sql::Expression;

namespace {

std::string full_name(const ScopeColumn& column) {
  return column.relation ? fmt::format("{}.{}", *column.relation, column.name) : column.name;
}

std::vector<std::string> relations(const Scope& scope) {
  std::vector<std::string> names;
  for (const ScopeColumn& column : scope.columns) {
    if (column.relation && std::find(names.begin(), names.end(), *column.relation) == names.end()) {
      names.push_back(*column.relation);
    }
  }
  return names;
}

[[noreturn]] void refuse_unknown(const sql::ColumnReference& reference, sql::Position position,
                                 const Scope& scope, std::string_view text) {
  const std::vector<std::string> tables = relations(scope);
  std::vector<std::string> names;
  bool known_table = !reference.table;
  for (const ScopeColumn& column : scope.columns) {
    const bool here =
        !reference.table || (column.relation && sql::matches(*reference.table, *column.relation));
    known_table = known_table || here;
    if (here) names.push_back(column.name);
  }
  if (!known_table) {
    throw sql::error_at(
        ErrorCode::not_found, text, reference.table->position,
        fmt::format("the query reads {}, not {}", tables.empty() ? "no table" : join_names(tables),
                    printable(reference.table->name, 60)));
  }
  const auto meant = nearest_name(reference.column.name, names);
  const std::string holder = reference.table
                                 ? fmt::format("table {} has", printable(reference.table->name, 60))
                             : tables.size() == 1 ? fmt::format("table {} has", tables.front())
                                                  : std::string("the query has");
  throw sql::error_at(
      ErrorCode::not_found, text, position,
      fmt::format("{} no column {}; {}", holder, printable(reference.column.name, 60),
                  meant ? fmt::format("did you mean {}?", *meant)
                        : fmt::format("it has {}", join_names(names))));
}

// Names mean columns, and nothing else is an input.
class ScopeNames : public RowNames {
 public:
  ScopeNames(const Scope& scope, std::string_view text) : scope_(scope), text_(text) {}

  RowNodePointer find(const Expression& expression) const override {
    const auto* reference = expression.get_if<sql::ColumnReference>();
    if (reference == nullptr) return nullptr;
    const std::size_t index = resolve(*reference, expression.position(), scope_, text_);
    return make_input(index, scope_.columns[index].type, expression.position());
  }

  std::string aggregate_refusal(const sql::Call& call) const override {
    return fmt::format(
        "the aggregate {} cannot stand in WHERE, in GROUP BY or inside another aggregate; use "
        "HAVING to choose groups by it",
        call.name);
  }

  bool has_engine() const override { return true; }

 private:
  const Scope& scope_;
  std::string_view text_;
};

std::vector<Expression> engine_names(const Scope& scope) {
  std::vector<Expression> names;
  for (const ScopeColumn& column : scope.columns) names.push_back(column.reference);
  return names;
}

}  // namespace

namespace {

std::size_t resolve_any(const sql::ColumnReference& reference, sql::Position position,
                        const Scope& scope, std::string_view text) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < scope.columns.size(); ++i) {
    const ScopeColumn& column = scope.columns[i];
    const bool here =
        !reference.table || (column.relation && sql::matches(*reference.table, *column.relation));
    if (here && sql::matches(reference.column, column.name)) found.push_back(i);
  }
  if (found.empty()) refuse_unknown(reference, position, scope, text);
  if (found.size() > 1) {
    std::vector<std::string> names;
    for (const std::size_t index : found) names.push_back(full_name(scope.columns[index]));
    throw sql::error_at(ErrorCode::invalid_argument, text, position,
                        fmt::format("{} may mean {}; write which, with its table before it",
                                    printable(reference.column.name, 60), join_names(names)));
  }
  return found.front();
}

}  // namespace

std::size_t resolve(const sql::ColumnReference& reference, sql::Position position,
                    const Scope& scope, std::string_view text) {
  const std::size_t found = resolve_any(reference, position, scope, text);
  const ScopeColumn& column = scope.columns[found];
  if (!column.queryable) {
    throw sql::error_at(
        ErrorCode::refused_by_policy, text, position,
        fmt::format("the policy does not let queries use column {}; leave it out", column.name));
  }
  return found;
}

const ScopeColumn* find_unit(const Expression& expression, const Scope& scope,
                             std::string_view text) {
  const auto* reference = expression.get_if<sql::ColumnReference>();
  if (reference == nullptr) return nullptr;
  const ScopeColumn& column =
      scope.columns[resolve_any(*reference, expression.position(), scope, text)];
  return column.is_unit ? &column : nullptr;
}

TypedExpression RowExpressions::value(const Expression& expression) const {
  const ScopeNames names(scope_, text_);
  RowNodePointer node = RowChecker(names, text_).value(expression);
  const bool number = node->kind == ValueKind::number && !node->constant;
  if (number && node->integral && !node->whole) node = to_whole(std::move(node));
  return {lower(*node, engine_names(scope_)), type_of(*node)};
}

Expression RowExpressions::condition(const Expression& expression) const {
  const ScopeNames names(scope_, text_);
  return lower(*RowChecker(names, text_).condition(expression), engine_names(scope_));
}

}  // namespace shoal::plan
