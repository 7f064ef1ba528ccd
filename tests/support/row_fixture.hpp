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

// CASE WHEN each part is short THEN a || b || ... END.
inline sql::Expression joined(const std::vector<sql::Expression>& parts) {
  using sql::Expression;
  std::optional<Expression> text;
  std::optional<Expression> condition;
  for (const Expression& part : parts) {
    const Expression is_short(
        sql::Binary{sql::BinaryOperator::less_equal, Expression(sql::Call{"LENGTH", {part}}),
                    Expression(sql::Literal{sql::LiteralKind::integer, "10000"})});
    condition =
        condition ? Expression(sql::Binary{sql::BinaryOperator::logical_and, *condition, is_short})
                  : is_short;
    text = text ? Expression(sql::Binary{sql::BinaryOperator::concatenate, *text, part}) : part;
  }
  return Expression(sql::Case{std::nullopt, {{*condition, *text}}, std::nullopt});
}

// The expression with every call in it changed, from the inside out.
template <typename Change>
sql::Expression mapped(const sql::Expression& expression, const Change& change) {
  using sql::Expression;
  const auto one = [&change](const Expression& inner) { return mapped(inner, change); };
  const auto all = [&one](const std::vector<Expression>& many) {
    std::vector<Expression> result;
    for (const Expression& inner : many) result.push_back(one(inner));
    return result;
  };
  if (const auto* call = expression.get_if<sql::Call>()) {
    return change(sql::Call{call->name, all(call->arguments)});
  }
  if (const auto* unary = expression.get_if<sql::Unary>()) {
    return Expression(sql::Unary{unary->operation, one(unary->operand)});
  }
  if (const auto* binary = expression.get_if<sql::Binary>()) {
    return Expression(sql::Binary{binary->operation, one(binary->left), one(binary->right)});
  }
  if (const auto* is_null = expression.get_if<sql::IsNull>()) {
    return Expression(sql::IsNull{one(is_null->operand), is_null->negated});
  }
  if (const auto* between = expression.get_if<sql::Between>()) {
    return Expression(sql::Between{one(between->operand), one(between->low), one(between->high),
                                   between->negated});
  }
  if (const auto* in = expression.get_if<sql::InList>()) {
    return Expression(sql::InList{one(in->operand), all(in->items), in->negated});
  }
  if (const auto* like = expression.get_if<sql::Like>()) {
    return Expression(sql::Like{one(like->operand), one(like->pattern), like->negated});
  }
  if (const auto* cast = expression.get_if<sql::Cast>()) {
    return Expression(sql::Cast{one(cast->operand), cast->type, cast->try_});
  }
  if (const auto* cases = expression.get_if<sql::Case>()) {
    sql::Case result;
    if (cases->operand) result.operand = one(*cases->operand);
    for (const auto& [when, then] : cases->branches) {
      result.branches.push_back({one(when), one(then)});
    }
    if (cases->otherwise) result.otherwise = one(*cases->otherwise);
    return Expression(result);
  }
  return expression;
}

// A call under the name of its macro below; GREATEST and LEAST two by two.
inline sql::Expression macro_call(const sql::Call& call) {
  using sql::Expression;
  if (call.name == "CONCAT") return joined(call.arguments);
  if (call.name == "GREATEST" || call.name == "LEAST") {
    Expression result = call.arguments[0];
    for (std::size_t i = 1; i < call.arguments.size(); ++i) {
      result = Expression(sql::Call{"TEST_" + call.name, {result, call.arguments[i]}});
    }
    return result;
  }
  if (call.name == "DATE_TRUNC") {
    const std::string& field = call.arguments[0].get_if<sql::Literal>()->text;
    const bool time = field == "hour" || field == "minute";
    return Expression(sql::Call{time ? "TEST_TIME_TRUNC" : "TEST_DATE_TRUNC", call.arguments});
  }
  const bool guarded = call.name.starts_with("SAFE_") || call.name == "DATE_DIFF" ||
                       call.name == "REPLACE" || call.name == "EXTRACT";
  return Expression(sql::Call{guarded ? "TEST_" + call.name : call.name, call.arguments});
}

// The calls as they are, whatever a dialect makes of them.
inline std::string call_text(const sql::Expression& expression) {
  const auto renamed = [](const sql::Call& call) {
    return sql::Expression(sql::Call{"CALL_" + call.name, call.arguments});
  };
  std::string text = sql::print(mapped(expression, renamed), sql::Dialect::duckdb);
  for (std::size_t at = 0; (at = text.find("CALL_")) != std::string::npos;) text.erase(at, 5);
  return text;
}

inline std::string duckdb_text(const sql::Expression& expression) {
  return sql::print(mapped(expression, macro_call), sql::Dialect::duckdb);
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
    finite("safe_exp(a)", "CASE WHEN a < -700 THEN 0 WHEN a <= 709 THEN exp(a) END");
    finite("safe_sqrt(a)", "sqrt(CASE WHEN a >= 0 THEN a END)");
    finite("safe_power(a, b)",
           "CASE WHEN a = 0 OR b * ln(abs(a)) BETWEEN -700 AND 700 THEN pow(a, b) WHEN b * "
           "ln(abs(a)) < -700 THEN 0 END");
    make_macros();
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
  // What the guarded calls mean in DuckDB.
  void make_macros() {
    const auto macro = [this](const std::string& name, const std::string& result) {
      rows("CREATE MACRO test_" + name + " AS " + result);
    };
    const auto in_range = [](const std::string& name) {
      return name + " >= DATE '0001-01-01' AND " + name + " < DATE '9999-12-31'";
    };
    const std::string ranged = "CASE WHEN " + in_range("a") + " THEN ";
    macro("safe_text_to_double(a)",
          "CASE WHEN regexp_full_match(a, '-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?') AND "
          "length(a) <= 100 AND isfinite(TRY_CAST(a AS DOUBLE)) THEN TRY_CAST(a AS DOUBLE) END");
    macro("safe_text_to_bigint(a)",
          "CASE WHEN regexp_full_match(a, '-?[0-9]{1,19}') THEN TRY_CAST(a AS BIGINT) END");
    macro("safe_text_to_boolean(a)", "TRY_CAST(a AS BOOLEAN)");
    macro("safe_text_to_date(a)",
          "CASE WHEN regexp_full_match(a, '[0-9]{4}-[0-9]{2}-[0-9]{2}') AND a NOT LIKE '0000%' "
          "THEN TRY_CAST(a AS DATE) END");
    macro("safe_text_to_timestamp(a)",
          "CASE WHEN regexp_full_match(a, '[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9:.]+)?') AND a NOT "
          "LIKE '0000%' THEN TRY_CAST(a AS TIMESTAMP) END");
    macro("safe_double_to_bigint(a)",
          "CASE WHEN abs(a) <= 9.2e18 THEN CAST(round(a) AS BIGINT) END");
    macro("safe_bigint_to_text(a)", "CAST(a AS VARCHAR)");
    macro("safe_date_to_timestamp(a)", ranged + "CAST(a AS TIMESTAMP) END");
    macro("safe_timestamp_to_date(a)", ranged + "CAST(a AS DATE) END");
    macro("safe_date_to_text(a)", ranged + "strftime(a, '%Y-%m-%d') END");
    macro("safe_timestamp_to_text(a)", ranged + "strftime(a, '%Y-%m-%d %H:%M:%S') END");
    macro("date_trunc(f, a)", ranged + "CAST(date_trunc(f, CAST(a AS TIMESTAMP)) AS DATE) END");
    macro("time_trunc(f, a)", ranged + "date_trunc(f, CAST(a AS TIMESTAMP)) END");
    macro("extract(f, a)", ranged + "date_part(f, CAST(a AS TIMESTAMP)) END");
    macro("date_diff(f, a, b)", "CASE WHEN " + in_range("a") + " AND " + in_range("b") +
                                    " THEN date_diff(f, CAST(a AS DATE), CAST(b AS DATE)) END");
    macro("replace(a, b, c)", "CASE WHEN length(a) <= 10000 THEN replace(a, b, c) END");
  }

  duckdb_database database_ = nullptr;
  duckdb_connection connection_ = nullptr;
};

}  // namespace shoal::test
