// A scope of columns of every kind, and the same table in DuckDB for whatever is rewritten over it.
//
// The guarded calls are given to DuckDB as macros, so that what is tested is the rewriting,
// whatever a dialect's printer makes of the calls.
#pragma once

#include "plan/row_expression.hpp"

#include <shoal/base/text.hpp>
#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <duckdb.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace shoal::test {

inline plan::ScopeColumn row_column(const char* relation, const char* name, plan::ValueType type) {
  return {relation, name, std::move(type),
          sql::Expression(sql::ColumnReference{std::nullopt, {name, true}})};
}

// people: age (whole, [0, 120]), big (whole), income (real, [0, 1000]), ratio (real), city (of
// two), name, married, birth, seen, and secret, which no query may use.
inline plan::Scope people_scope() {
  using plan::ValueKind;
  plan::Scope scope;
  const auto add = [&scope](const char* name, plan::ValueType type) {
    scope.columns.push_back(row_column("people", name, std::move(type)));
  };
  add("age", {ValueKind::number, true, catalog::Bounds{0, 120}});
  add("big", {ValueKind::number, true});
  add("income", {ValueKind::number, false, catalog::Bounds{0, 1000}});
  add("ratio", {ValueKind::number, false});
  add("city", {ValueKind::text, false, std::nullopt, {{"Paris", "Rome"}}});
  add("name", {ValueKind::text});
  add("married", {ValueKind::boolean, false, std::nullopt, {{"true", "false"}}});
  add("birth", {ValueKind::date});
  add("seen", {ValueKind::timestamp});
  add("secret", {ValueKind::text});
  scope.columns.back().queryable = false;
  return scope;
}

// The calls under names that the macros below have; GREATEST and LEAST two by two.
inline sql::Expression with_macros(const sql::Expression& expression) {
  using sql::Expression;
  const auto all = [](const std::vector<Expression>& many) {
    std::vector<Expression> result;
    for (const Expression& one : many) result.push_back(with_macros(one));
    return result;
  };
  if (const auto* call = expression.get_if<sql::Call>()) {
    std::vector<Expression> arguments = all(call->arguments);
    if (call->name == "EXTRACT") return Expression(sql::Call{"DATE_PART", arguments});
    if (call->name == "GREATEST" || call->name == "LEAST") {
      Expression result = arguments[0];
      for (std::size_t i = 1; i < arguments.size(); ++i) {
        result = Expression(sql::Call{"TEST_" + call->name, {result, arguments[i]}});
      }
      return result;
    }
    const bool guarded = call->name.starts_with("SAFE_");
    return Expression(sql::Call{guarded ? "TEST_" + call->name : call->name, arguments});
  }
  if (const auto* unary = expression.get_if<sql::Unary>())
    return Expression(sql::Unary{unary->operation, with_macros(unary->operand)});
  if (const auto* binary = expression.get_if<sql::Binary>()) {
    return Expression(
        sql::Binary{binary->operation, with_macros(binary->left), with_macros(binary->right)});
  }
  if (const auto* is_null = expression.get_if<sql::IsNull>())
    return Expression(sql::IsNull{with_macros(is_null->operand), is_null->negated});
  if (const auto* between = expression.get_if<sql::Between>()) {
    return Expression(sql::Between{with_macros(between->operand), with_macros(between->low),
                                   with_macros(between->high), between->negated});
  }
  if (const auto* in = expression.get_if<sql::InList>())
    return Expression(sql::InList{with_macros(in->operand), all(in->items), in->negated});
  if (const auto* like = expression.get_if<sql::Like>())
    return Expression(
        sql::Like{with_macros(like->operand), with_macros(like->pattern), like->negated});
  if (const auto* cast = expression.get_if<sql::Cast>())
    return Expression(sql::Cast{with_macros(cast->operand), cast->type, cast->try_});
  if (const auto* cases = expression.get_if<sql::Case>()) {
    sql::Case result;
    if (cases->operand) result.operand = with_macros(*cases->operand);
    for (const auto& [when, then] : cases->branches)
      result.branches.push_back({with_macros(when), with_macros(then)});
    if (cases->otherwise) result.otherwise = with_macros(*cases->otherwise);
    return Expression(result);
  }
  return expression;
}

inline std::string duckdb_text(const sql::Expression& expression) {
  return sql::print(with_macros(expression), sql::Dialect::duckdb);
}

// An in-memory DuckDB. Failures throw std::runtime_error with DuckDB's text.
class RowDatabase {
 public:
  using Cell = std::optional<std::string>;

  RowDatabase() {
    if (duckdb_open(nullptr, &database_) != DuckDBSuccess ||
        duckdb_connect(database_, &connection_) != DuckDBSuccess) {
      throw std::runtime_error("DuckDB does not start");
    }
    rows("SET threads = 1");
    const auto finite = [this](const std::string& name, const std::string& result) {
      rows("CREATE MACRO test_" + name + " AS CASE WHEN isfinite(" + result + ") THEN " + result +
           " END");
    };
    finite("safe_add(a, b)", "a + b");
    finite("safe_subtract(a, b)", "a - b");
    finite("safe_multiply(a, b)", "a * b");
    finite("safe_divide(a, b)", "a / nullif(b, 0)");
    finite("safe_mod(a, b)", "a % nullif(b, 0)");
    finite("safe_negate(a)", "-a");
    finite("safe_ln(a)", "ln(CASE WHEN a > 0 THEN a END)");
    finite("safe_log10(a)", "log10(CASE WHEN a > 0 THEN a END)");
    finite("safe_exp(a)", "exp(a)");
    finite("safe_sqrt(a)", "sqrt(CASE WHEN a >= 0 THEN a END)");
    finite("safe_power(a, b)", "pow(a, b)");
    for (const std::string name : {"greatest", "least"}) {
      rows("CREATE MACRO test_" + name +
           "(a, b) AS CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE " + name + "(a, b) END");
    }
    rows(
        "CREATE TABLE people (age BIGINT, big BIGINT, income DOUBLE, ratio DOUBLE, city VARCHAR, "
        "name VARCHAR, married BOOLEAN, birth DATE, seen TIMESTAMP, secret VARCHAR)");
  }
  RowDatabase(const RowDatabase&) = delete;
  RowDatabase& operator=(const RowDatabase&) = delete;
  ~RowDatabase() {
    duckdb_disconnect(&connection_);
    duckdb_close(&database_);
  }

  std::vector<std::vector<Cell>> rows(const std::string& sql) {
    duckdb_result result;
    if (duckdb_query(connection_, sql.c_str(), &result) != DuckDBSuccess) {
      const std::string why = duckdb_result_error(&result);
      duckdb_destroy_result(&result);
      throw std::runtime_error(why + " in " + sql);
    }
    std::vector<std::vector<Cell>> all(duckdb_row_count(&result));
    for (idx_t row = 0; row < all.size(); ++row) {
      for (idx_t column = 0; column < duckdb_column_count(&result); ++column) {
        // DuckDB 1.4.4 writes some doubles wrongly as text: 2^91 as 2^92.
        if (duckdb_column_type(&result, column) == DUCKDB_TYPE_DOUBLE &&
            !duckdb_value_is_null(&result, column, row)) {
          all[row].push_back(format_number(duckdb_value_double(&result, column, row)));
          continue;
        }
        char* text = duckdb_value_varchar(&result, column, row);
        all[row].push_back(text == nullptr ? Cell() : Cell(text));
        duckdb_free(text);
      }
    }
    duckdb_destroy_result(&result);
    return all;
  }

 private:
  duckdb_database database_ = nullptr;
  duckdb_connection connection_ = nullptr;
};

}  // namespace shoal::test
