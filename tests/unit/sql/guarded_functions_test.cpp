// Guarded functions on DuckDB: no value makes one fail, and each gives what it should.
#include "duckdb_runner.hpp"
#include "nasty_values.hpp"

#include <shoal/sql/guarded_functions.hpp>
#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shoal::sql {
namespace {

class GuardedFunctionsTest : public ::testing::Test {
 protected:
  GuardedFunctionsTest() {
    for (const testing::NastyValues& values : testing::nasty_values()) {
      std::string rows;
      for (const char* value : values.values) {
        rows += fmt::format("{}(CAST({} AS {}))", rows.empty() ? "" : ", ", value, values.type);
      }
      for (std::size_t i = 0; i < values.columns.size(); ++i) {
        duckdb_.run(fmt::format("CREATE TABLE {}{} ({} {})", values.table, i, values.columns[i],
                                values.type));
        duckdb_.run(fmt::format("INSERT INTO {}{} VALUES {}", values.table, i, rows));
      }
    }
  }

  std::optional<std::string> value_of(const std::string& expression) {
    return duckdb_.run("SELECT " + print(parse_expression(expression), Dialect::duckdb))[0][0];
  }

  testing::DuckdbRunner duckdb_;
};

TEST_F(GuardedFunctionsTest, NoValueMakesThemFail) {
  for (const char* optimizer : {"PRAGMA enable_optimizer", "PRAGMA disable_optimizer"}) {
    duckdb_.run(optimizer);
    for (const testing::NastyCall& nasty : testing::nasty_calls()) {
      const std::string query =
          fmt::format("SELECT COUNT({0}), COUNT(*) FROM {1}",
                      print(parse_expression(nasty.call), Dialect::duckdb), nasty.from);
      try {
        const auto rows = duckdb_.run(query);
        EXPECT_NE(rows[0][0], "0") << nasty.call << " is NULL for every value";
        EXPECT_NE(rows[0][0], rows[0][1]) << nasty.call << " is NULL for no value";
      } catch (const std::exception& error) {
        ADD_FAILURE() << nasty.call << '\n' << query.substr(0, 2'000) << '\n' << error.what();
      }
    }
  }
}

// The plain forms do fail on the same tables, so the test above could.
TEST_F(GuardedFunctionsTest, PlainFormsFail) {
  for (const char* query :
       {"SELECT LN(x) FROM n0", "SELECT SQRT(x) FROM n0", "SELECT ABS(i) FROM i0",
        "SELECT i % j FROM i0 CROSS JOIN i1", "SELECT i + j FROM i0 CROSS JOIN i1",
        "SELECT CAST(x AS BIGINT) FROM n0", "SELECT CAST(s AS BIGINT) FROM t0",
        "SELECT CAST(s AS DATE) FROM t0", "SELECT CAST(d AS TIMESTAMP) FROM d0"}) {
    EXPECT_THROW(duckdb_.run(query), std::runtime_error) << query;
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

using Model = std::function<double(double, double)>;

// Where the model is not finite, NULL is meant.
void expect_model(testing::DuckdbRunner& duckdb, const std::string& call, const Model& model) {
  const auto rows =
      duckdb.run(fmt::format("SELECT CAST(x AS VARCHAR), CAST(y AS VARCHAR), CAST({} AS VARCHAR) "
                             "FROM n0 CROSS JOIN n1",
                             print(parse_expression(call), Dialect::duckdb)));
  for (const auto& row : rows) {
    const double x = row[0] ? number(*row[0]) : kInfinity;
    const double y = row[1] ? number(*row[1]) : kInfinity;
    const double expected = model(x, y);
    if (!std::isfinite(expected)) {
      EXPECT_FALSE(row[2]) << call << ' ' << x << ' ' << y << " gives " << *row[2];
    } else if (row[2]) {
      EXPECT_NEAR(number(*row[2]), expected, 1e-14 * std::abs(expected))
          << call << ' ' << x << ' ' << y;
    } else {
      ADD_FAILURE() << call << ' ' << x << ' ' << y << " is NULL, not " << expected;
    }
  }
}

// An argument that is not finite makes the result NULL, also where IEEE 754 has a finite one.
Model of_finite(const Model& model) {
  return [model](double x, double y) {
    return std::isfinite(x) && std::isfinite(y) ? model(x, y) : kInfinity;
  };
}
Model of_one(const std::function<double(double)>& model) {
  return [model](double x, double) { return std::isfinite(x) ? model(x) : kInfinity; };
}

TEST_F(GuardedFunctionsTest, CalculateAsTheirModels) {
  const auto divide = [](double x, double y) { return y == 0 ? kInfinity : x / y; };
  const std::vector<std::pair<std::string, Model>> models = {
      {"SAFE_ADD(x, y)", of_finite([](double x, double y) { return x + y; })},
      {"SAFE_SUBTRACT(x, y)", of_finite([](double x, double y) { return x - y; })},
      {"SAFE_MULTIPLY(x, y)", of_finite([](double x, double y) { return x * y; })},
      {"SAFE_DIVIDE(x, y)", of_finite(divide)},
      {"SAFE_DIVIDE(1, SAFE_ADD(x, y))", of_finite([&](double x, double y) {
         return std::isfinite(x + y) ? divide(1, x + y) : kInfinity;
       })},
      {"SAFE_SUBTRACT(SAFE_MULTIPLY(x, x), SAFE_DIVIDE(y, x))",
       of_finite([&](double x, double y) { return x * x - divide(y, x); })},
      {"SAFE_MOD(x, y)",
       of_finite([](double x, double y) { return y == 0 ? kInfinity : std::fmod(x, y); })},
      {"SAFE_POWER(x, y)", of_finite([](double x, double y) {
         if (x == 0) return y > 0 ? 0.0 : y == 0 ? 1.0 : kInfinity;
         if (x < 0 && (y != std::floor(y) || std::abs(y) > 0x1p53)) return kInfinity;
         const double logarithm = y * std::log(std::abs(x));
         return logarithm > 700 ? kInfinity : logarithm < -700 ? 0.0 : std::pow(x, y);
       })},
      {"SAFE_NEGATE(x)", of_one([](double x) { return -x; })},
      {"ABS(x)", of_one([](double x) { return std::abs(x); })},
      {"SAFE_LN(x)", of_one([](double x) { return x > 0 ? std::log(x) : kInfinity; })},
      {"SAFE_LOG10(x)", of_one([](double x) { return x > 0 ? std::log10(x) : kInfinity; })},
      {"SAFE_EXP(x)", of_one([](double x) {
         return x < -700 ? 0 : x <= 709 ? std::exp(x) : kInfinity;
       })},
      {"SAFE_SQRT(x)", of_one([](double x) { return x >= 0 ? std::sqrt(x) : kInfinity; })},
      {"SIGN(x)", of_one([](double x) { return x > 0   ? 1
                                               : x < 0 ? -1
                                                       : 0; })},
      {"FLOOR(x)", of_one([](double x) { return std::floor(x); })},
      {"CEIL(x)", of_one([](double x) { return std::ceil(x); })},
      {"ROUND(x)", of_one([](double x) { return std::round(x); })},
      {"ROUND(x, 2)",
       of_one([](double x) { return std::abs(x) >= 1e16 ? x : std::round(x * 100) / 100; })},
      {"ROUND(x, -2)",
       of_one([](double x) { return std::abs(x) >= 1e300 ? x : std::round(x / 100) * 100; })},
      {"SAFE_DOUBLE_TO_BIGINT(x)",
       of_one([](double x) { return std::abs(x) <= 9.2e18 ? std::round(x) : kInfinity; })},
  };
  for (const auto& [call, model] : models) expect_model(duckdb_, call, model);
}

TEST_F(GuardedFunctionsTest, GiveWhatTheyShould) {
  const std::vector<std::pair<std::string, std::optional<std::string>>> cases = {
      {"SAFE_ADD(1, NULL)", std::nullopt},
      {"SAFE_DIVIDE(1, 0)", std::nullopt},
      {"SAFE_DIVIDE(1, 0.0)", std::nullopt},
      {"SAFE_DIVIDE(1, 4)", "0.25"},
      {"GREATEST(1, 3, 2)", "3"},
      {"GREATEST(1, NULL, 2)", std::nullopt},
      {"LEAST('b', 'a')", "a"},
      {"LEAST(1, NULL)", std::nullopt},
      {"IF(1 < 2, 'a', 'b')", "a"},
      {"IF(NULL, 'a', 'b')", "b"},
      {"SAFE_INTEGER_MOD(-7, 3)", "-1"},
      {"SAFE_INTEGER_MOD(7, 0)", std::nullopt},
      {"SAFE_INTEGER_MOD(CAST(NULL AS BIGINT), -1)", std::nullopt},
      {"SAFE_INTEGER_MOD(7, -1)", "0"},
      {"LENGTH('größe')", "5"},
      {"TRIM('  a b ')", "a b"},
      {"TRIM('\ta')", "\ta"},
      {"SUBSTR('größe', 2, 2)", "rö"},
      {"SUBSTRING('größe', 4)", "ße"},
      {"SUBSTR('abc', 0, 2)", std::nullopt},
      {"SUBSTR('abc', 1, -1)", std::nullopt},
      {"SUBSTR('abc', 9, 9)", ""},
      {"LEFT('größe', 3)", "grö"},
      {"RIGHT('größe', 2)", "ße"},
      {"LEFT('abc', -1)", std::nullopt},
      {"STARTS_WITH('abc', 'ab')", "true"},
      {"ENDS_WITH('abc', 'ab')", "false"},
      {"ENDS_WITH('abc', '')", "true"},
      {"CONTAINS('abc', 'b')", "true"},
      {"REPLACE('abab', 'ab', 'c')", "cc"},
      {"REPLACE('abab', '', 'c')", "abab"},
      {"CONCAT('a', 'b', 'c')", "abc"},
      {"CONCAT('a', NULL)", std::nullopt},
      {"REGEXP_MATCHES('a\nb', '^a.b$')", "true"},
      {"REGEXP_MATCHES('xaby', 'ab')", "true"},
      {"REGEXP_MATCHES('xaby', '^ab')", "false"},
      {"SAFE_TEXT_TO_BIGINT('-0012')", "-12"},
      {"SAFE_TEXT_TO_BIGINT('+12')", std::nullopt},
      {"SAFE_TEXT_TO_BIGINT(' 12')", std::nullopt},
      {"SAFE_TEXT_TO_BIGINT('12\n')", std::nullopt},
      {"SAFE_TEXT_TO_BIGINT('9223372036854775807')", "9223372036854775807"},
      {"SAFE_TEXT_TO_BIGINT('9223372036854775808')", std::nullopt},
      {"SAFE_TEXT_TO_DOUBLE('-1.5e3')", "-1500.0"},
      {"SAFE_TEXT_TO_DOUBLE('1e400')", std::nullopt},
      {"SAFE_TEXT_TO_DOUBLE('inf')", std::nullopt},
      {"SAFE_TEXT_TO_DOUBLE('.5')", std::nullopt},
      {"SAFE_TEXT_TO_BOOLEAN('Yes')", "true"},
      {"SAFE_TEXT_TO_BOOLEAN('0')", "false"},
      {"SAFE_TEXT_TO_BOOLEAN('maybe')", std::nullopt},
      {"SAFE_TEXT_TO_DATE('2024-02-29')", "2024-02-29"},
      {"SAFE_TEXT_TO_DATE('2023-02-29')", std::nullopt},
      {"SAFE_TEXT_TO_DATE('2024-2-1')", std::nullopt},
      {"SAFE_TEXT_TO_DATE('0000-01-01')", std::nullopt},
      {"SAFE_TEXT_TO_TIMESTAMP('2024-01-31T23:59:59.5')", "2024-01-31 23:59:59.5"},
      {"SAFE_TEXT_TO_TIMESTAMP('2024-01-31 24:00:00')", std::nullopt},
      {"SAFE_BIGINT_TO_TEXT(-12)", "-12"},
      {"SAFE_BIGINT_TO_BOOLEAN(2)", "true"},
      {"SAFE_BOOLEAN_TO_TEXT(1 > 2)", "false"},
      {"SAFE_BOOLEAN_TO_BIGINT(1 < 2)", "1"},
      {"SAFE_BOOLEAN_TO_DOUBLE(1 > 2)", "0.0"},
      {"SAFE_DOUBLE_TO_BOOLEAN(0.5)", "true"},
      {"SAFE_DATE_TO_TEXT(DATE '0001-02-03')", "0001-02-03"},
      {"SAFE_DATE_TO_TEXT(DATE '9999-12-31')", std::nullopt},
      {"SAFE_TIMESTAMP_TO_TEXT(TIMESTAMP '2024-01-31 12:30:45.9')", "2024-01-31 12:30:45"},
      {"SAFE_TIMESTAMP_TO_DATE(TIMESTAMP '2024-01-31 23:59:59')", "2024-01-31"},
      {"SAFE_DATE_TO_TIMESTAMP(DATE '2024-01-31')", "2024-01-31 00:00:00"},
      {"EXTRACT(YEAR FROM DATE '2024-05-31')", "2024"},
      {"EXTRACT(QUARTER FROM DATE '2024-05-31')", "2"},
      {"EXTRACT(DOW FROM DATE '2024-01-28')", "0"},
      {"EXTRACT(DOY FROM DATE '2024-12-31')", "366"},
      {"EXTRACT(HOUR FROM DATE '2024-12-31')", "0"},
      {"EXTRACT(SECOND FROM TIMESTAMP '2024-12-31 01:02:03.9')", "3"},
      {"DATE_TRUNC('week', DATE '2024-01-31')", "2024-01-29"},
      {"DATE_TRUNC('quarter', TIMESTAMP '2024-05-31 01:02:03')", "2024-04-01"},
      {"DATE_TRUNC('MINUTE', TIMESTAMP '2024-05-31 01:02:03')", "2024-05-31 01:02:00"},
      {"DATE_DIFF('day', DATE '2024-02-28', DATE '2024-03-01')", "2"},
      {"DATE_DIFF('day', TIMESTAMP '2024-02-28 23:59:59', DATE '2024-02-27')", "-1"},
  };
  for (const auto& [call, expected] : cases) EXPECT_EQ(value_of(call), expected) << call;
  EXPECT_EQ(value_of("LENGTH(REPLACE(CONCAT('" + std::string(5'000, 'a') + "'), 'a', 'bbb'))"),
            "15000");
  EXPECT_EQ(value_of("REPLACE('" + std::string(10'001, 'a') + "', 'a', 'b')"), std::nullopt);
  EXPECT_EQ(value_of("CONCAT('" + std::string(10'001, 'a') + "', 'a')"), std::nullopt);
}

}  // namespace
}  // namespace shoal::sql
