// Rewritten expressions in the real engine: no value makes them fail, their types are what is
// stated, and they give what the same expression gives here.
#include "plan/answer_expression.hpp"
#include "plan/row_expression.hpp"
#include "support/row_fixture.hpp"
#include "support/row_generator.hpp"

#include <shoal/base/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace shoal::plan {
namespace {

using test::RowDatabase;

std::string engine_type(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::number:
      return type.whole ? "BIGINT" : "DOUBLE";
    case ValueKind::text:
      return "VARCHAR";
    case ValueKind::boolean:
      return "BOOLEAN";
    case ValueKind::date:
      return "DATE";
    case ValueKind::timestamp:
      break;
  }
  return "TIMESTAMP";
}

// Every column takes each of these, the other columns being drawn among theirs.
void fill_with_nasty_rows(RowDatabase& database) {
  database.rows(
      "CREATE TABLE wholes AS SELECT * FROM (VALUES (NULL), (0), (1), (-1), "
      "(9223372036854775807), (-9223372036854775807 - 1), (9007199254740993)) t(v)");
  database.rows(
      "CREATE TABLE reals AS SELECT * FROM (VALUES (NULL), (0e0), (-0e0), ('nan'::DOUBLE), "
      "('inf'::DOUBLE), ('-inf'::DOUBLE), (1.7976931348623157e308), (-1.7976931348623157e308), "
      "(4.9e-324), (0.5e0), (-2.5e0), (1e19)) t(v)");
  database.rows(
      "CREATE TABLE texts AS SELECT * FROM (VALUES (NULL), (''), (' '), ('Paris'), "
      "('12'), ('1e999'), ('nan'), ('-0'), ('2024-02-30'), ('infinity'), ('é中'), "
      "(repeat('ab', 40000)), ('true'), ('%'), (chr(128512))) t(v)");
  database.rows(
      "CREATE TABLE dates AS SELECT * FROM (VALUES (NULL), ('infinity'::DATE), "
      "('-infinity'::DATE), (DATE '5877642-06-25 (BC)'), (DATE '5881580-07-10'), "
      "(DATE '1970-01-01'), (DATE '2000-02-29'), (DATE '0001-01-01 (BC)')) t(v)");
  database.rows(
      "CREATE TABLE moments AS SELECT * FROM (VALUES (NULL), ('infinity'::TIMESTAMP), "
      "('-infinity'::TIMESTAMP), (TIMESTAMP '290309-12-22 (BC) 00:00:00'), "
      "(TIMESTAMP '294247-01-10 04:00:54.775806'), (TIMESTAMP '1970-01-01 00:00:00'), "
      "(TIMESTAMP '2024-01-31 23:59:59.999999')) t(v)");
  const auto nth = [](const std::string& table, const std::string& index) {
    return "(SELECT list(v) FROM " + table + ")[1 + (" + index + ") % (SELECT count(*) FROM " +
           table + ")]";
  };
  // Products of coprime strides: each pair of columns meets in many combinations.
  database.rows("INSERT INTO people SELECT " + nth("wholes", "i") + ", " + nth("wholes", "i // 7") +
                ", " + nth("reals", "i") + ", " + nth("reals", "i // 12") + ", " +
                nth("texts", "i") + ", " + nth("texts", "i // 15") +
                ", CASE i % 3 WHEN 0 THEN TRUE WHEN 1 THEN FALSE END, " + nth("dates", "i // 2") +
                ", " + nth("moments", "i // 3") + ", 'hidden' FROM range(0, 211) t(i)");
}

struct Drawn {
  std::string text;
  TypedExpression typed;
};

// An expression that the checker accepts.
Drawn draw(test::RowGenerator& generator, const Scope& scope, int& refused) {
  for (;;) {
    const std::string text =
        generator.expression(generator.kind(), 1 + static_cast<int>(generator.below(4)));
    try {
      return {text, RowExpressions(scope, text).value(sql::parse_expression(text))};
    } catch (const Error& error) {
      // Only what the generator cannot foresee: comparisons with NULL, texts that are no dates.
      EXPECT_TRUE(error.code() == ErrorCode::invalid_argument ||
                  error.code() == ErrorCode::unsupported)
          << text << ": " << error.what();
      ++refused;
    }
  }
}

TEST(RowEngine, NoValueMakesAnExpressionFail) {
  RowDatabase database;
  fill_with_nasty_rows(database);
  const Scope scope = test::people_scope();
  test::RowGenerator generator(4242, true);
  int refused = 0;
  for (int round = 0; round < 1'000; ++round) {
    const Drawn drawn = draw(generator, scope, refused);
    const std::string sql = test::duckdb_text(drawn.typed.expression);
    std::vector<std::vector<RowDatabase::Cell>> rows;
    ASSERT_NO_THROW(rows = database.rows("SELECT count(*), count(v), any_value(typeof(v)) FROM "
                                         "(SELECT " +
                                         sql + " AS v FROM people)"))
        << drawn.text;
    // DuckDB folds what is always NULL to a NULL of no type.
    if (rows[0][1] != "0") {
      EXPECT_EQ(rows[0][2], engine_type(drawn.typed.type)) << drawn.text << "\n" << sql;
    }
    if (!drawn.typed.type.nullable && drawn.text.find("CASE") == std::string::npos) {
      EXPECT_EQ(rows[0][0], rows[0][1]) << drawn.text << " is NULL on some row";
    }
  }
  EXPECT_LT(refused, 1'000);
}

// Ordinary rows, all within what is declared of the columns.
void fill_with_ordinary_rows(RowDatabase& database) {
  database.rows(
      "INSERT INTO people SELECT CASE WHEN i % 11 = 0 THEN NULL ELSE (i * 37) % 121 END, "
      "CASE WHEN i % 13 = 0 THEN NULL ELSE (i * 7919) % 2001 - 1000 END, "
      "CASE WHEN i % 7 = 0 THEN NULL ELSE ((i * 53) % 4001) / 4.0 END, "
      "CASE WHEN i % 5 = 0 THEN NULL ELSE ((i * 97) % 101 - 50) / 8.0 END, "
      "CASE i % 3 WHEN 0 THEN 'Paris' WHEN 1 THEN 'Rome' END, "
      "['', 'a', ' is ', '12', '-3.5', 'Basil', '中a', NULL, 'true', 'xyz%'][1 + i % 10], "
      "CASE i % 4 WHEN 0 THEN TRUE WHEN 1 THEN FALSE WHEN 2 THEN TRUE END, "
      "CASE WHEN i % 9 > 0 THEN DATE '1999-12-25' + CAST((i * 31) % 900 AS INTEGER) END, "
      "CASE WHEN i % 8 > 0 THEN TIMESTAMP '2000-02-27 22:15:30' + INTERVAL (i * 4567) SECOND END, "
      "'hidden' FROM range(0, 60) t(i)");
}

Value value_of(const RowDatabase::Cell& cell, ValueKind kind) {
  return cell ? value_of_key(*cell, kind) : Value();
}

// What the rows look like to an expression that is evaluated here.
AnswerScope as_answers(const Scope& scope) {
  AnswerScope answers;
  for (const ScopeColumn& column : scope.columns) {
    answers.inputs.push_back({column.reference, column.type});
  }
  answers.rows = &scope;
  return answers;
}

bool agree(const Value& here, const Value& there) {
  const double* a = std::get_if<double>(&here);
  const double* b = std::get_if<double>(&there);
  if (a == nullptr || b == nullptr) return here == there;
  return std::fabs(*a - *b) <= 1e-9 * std::max(1.0, std::fabs(*a));
}

// The engine and this code agree on every operation; results keep to bounds, lists and NULLs.
TEST(RowEngine, GivesWhatIsComputedHere) {
  RowDatabase database;
  fill_with_ordinary_rows(database);
  const Scope scope = test::people_scope();
  const AnswerScope answers = as_answers(scope);
  std::vector<std::vector<AnswerValue>> inputs;
  for (const auto& row : database.rows("SELECT * FROM people ORDER BY rowid")) {
    std::vector<AnswerValue> values;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Value value = value_of(row[i], scope.columns[i].type.kind);
      const double* number = std::get_if<double>(&value);
      values.push_back({value, number != nullptr ? *number : 0, number != nullptr ? *number : 0});
    }
    inputs.push_back(values);
  }
  test::RowGenerator generator(99, false);
  int refused = 0;
  std::size_t numbers = 0;
  std::size_t nulls = 0;
  for (int round = 0; round < 1'500; ++round) {
    const Drawn drawn = draw(generator, scope, refused);
    const AnswerExpression here = AnswerExpression::compile(
        sql::parse_expression(drawn.text), answers, AnswerExpression::Clause::select, drawn.text);
    const ValueType& type = drawn.typed.type;
    const auto rows = database.rows("SELECT " + test::duckdb_text(drawn.typed.expression) +
                                    " FROM people ORDER BY rowid");
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const Value there = value_of(rows[row][0], type.kind);
      Value expected = here.evaluate(inputs[row]).value;
      const double* number = std::get_if<double>(&expected);
      if (type.whole && number != nullptr && std::fabs(*number) > 9.2e18) expected = Value();
      ASSERT_TRUE(agree(expected, there)) << drawn.text << "\n"
                                          << test::duckdb_text(drawn.typed.expression) << "\nrow "
                                          << row << ": " << key_text(expected).value_or("NULL")
                                          << " here, " << rows[row][0].value_or("NULL") << " there";
      const double* found = std::get_if<double>(&there);
      if (is_null(there)) ++nulls;
      if (found != nullptr) ++numbers;
      if (found != nullptr && type.bounds) {
        ASSERT_TRUE(*found >= type.bounds->lower && *found <= type.bounds->upper)
            << drawn.text << " = " << *found << " outside [" << type.bounds->lower << ", "
            << type.bounds->upper << "]";
      }
      if (type.values && !is_null(there)) {
        ASSERT_NE(std::find(type.values->begin(), type.values->end(), key_text(there).value()),
                  type.values->end())
            << drawn.text << " gives " << *rows[row][0] << ", which is not in its list";
      }
      if (!type.nullable) {
        const bool declared = drawn.text.find("CAST(NULL") == std::string::npos;
        ASSERT_FALSE(is_null(there) && declared) << drawn.text;
      }
    }
  }
  EXPECT_GT(numbers, 10'000u);
  EXPECT_GT(nulls, 10'000u);
}

}  // namespace
}  // namespace shoal::plan
