// Rows that hold whatever PostgreSQL's types can hold, and questions with every function about
// them: none fails. A question that failed on one row would tell that the row is there.
#include "support/open_grouped_aggregate.hpp"
#include "support/postgres_server.hpp"
#include "support/settled_engine.hpp"
#include "support/temporary_folder.hpp"
#include "unit/engine/planned_request.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shoal::engine {
namespace {

constexpr const char* kPolicy = R"([dataset]
name = "wild"
lineage = "wild"
[privacy]
unit = "row"
neighbors = "add_remove"
[budget]
epsilon = 10
delta = 1e-5
ledger = "wild.ledger"
[table.wild]
source = "public.wild"
format = "postgresql"
[table.wild.column.i]
type = "integer"
[table.wild.column.j]
type = "integer"
[table.wild.column.f]
type = "real"
[table.wild.column.g]
type = "real"
[table.wild.column.s]
type = "text"
[table.wild.column.c]
type = "text"
[table.wild.column.d]
type = "date"
[table.wild.column.m]
type = "timestamp"
[table.wild.column.z]
type = "timestamp"
[table.wild.column.b]
type = "boolean"
)";

// Columns of the server's types, domains among them, and their values. Every value stands in a row
// with the others' first ones, and beside the next column's values.
struct WildColumn {
  const char* name;
  const char* type;
  std::vector<const char*> values;
};

const std::vector<WildColumn>& wild_columns() {
  static const std::vector<WildColumn> all = {
      {"i",
       "BIGINT",
       {"0", "-1", "9223372036854775807", "-9223372036854775808", "9007199254740993", "NULL"}},
      {"j",
       "NUMERIC",
       {"'NaN'", "'Infinity'", "'-Infinity'", "1e130000", "-1e400", "1e-400", "9223372036854775807",
        "9223372036854775808", "-9223372036854775809", "0.5", "NULL"}},
      {"f",
       "public.wild_number",
       {"'NaN'", "'Infinity'", "'-Infinity'", "1e308", "-1e308", "5e-324", "-0.0", "1e-310",
        "0.49999999999999994", "NULL"}},
      {"g", "NUMERIC", {"'NaN'", "'Infinity'", "1e400", "1e-400", "-1e308", "1e-320", "0", "NULL"}},
      {"s",
       "public.wild_text",
       {"''",
        "'42'",
        "'-9223372036854775809'",
        "'1e400'",
        "'nan'",
        "'infinity'",
        "'2024-02-30'",
        "'294276-12-31 23:59:59'",
        "'4713-01-01 BC'",
        "'today'",
        "'(((('",
        "'\\'",
        "'%_'",
        "repeat('a', 32768)",
        "repeat('\u00e4', 16384)",
        "repeat('9', 32768)",
        "repeat('x', 3000000)",
        "E'\\u0001\\t\\r\\n'",
        "U&'\\FFFE'",
        "NULL"}},
      {"c", "CHAR(20)", {"'  '", "'1e400  '", "'\u00df'", "NULL"}},
      {"d",
       "DATE",
       {"'infinity'", "'-infinity'", "'4713-01-01 BC'", "'0001-12-31 BC'", "'0001-01-01'",
        "'5874897-12-31'", "'294277-01-01'", "'1582-10-10'", "'2024-02-29'", "NULL"}},
      {"m",
       "TIMESTAMP",
       {"'infinity'", "'-infinity'", "'4713-01-01 BC'", "'4714-11-24 00:00:00 BC'",
        "'294276-12-31 23:59:59.999999'", "'294247-01-10 04:00:54.775806'",
        "'294247-01-10 04:00:54.775807'", "'0001-01-01'", "NULL"}},
      {"z",
       "TIMESTAMPTZ",
       {"'infinity'", "'-infinity'", "'4714-11-24 00:00:00+00 BC'",
        "'294276-12-31 23:59:59.999999+00'", "'2024-01-31 23:00:00-05'", "NULL"}},
      {"b", "BOOLEAN", {"TRUE", "FALSE", "NULL"}},
  };
  return all;
}

std::string wild_rows() {
  const std::vector<WildColumn>& columns = wild_columns();
  std::string rows;
  const auto add = [&](std::size_t column, std::size_t value, std::size_t shift) {
    rows += rows.empty() ? "(" : ", (";
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const std::size_t at = k == column ? value : (value + shift * (k + 1)) * (shift > 0);
      const char* written = columns[k].values[at % columns[k].values.size()];
      rows += fmt::format("{}CAST({} AS {})", k > 0 ? ", " : "", written, columns[k].type);
    }
    rows += ")";
  };
  for (std::size_t column = 0; column < columns.size(); ++column) {
    for (std::size_t value = 0; value < columns[column].values.size(); ++value) {
      for (std::size_t shift = 0; shift < 3; ++shift) add(column, value, shift);
    }
  }
  return rows;
}

void fill_wild() {
  auto& server = test::PostgresServer::instance();
  std::string columns;
  for (const WildColumn& one : wild_columns())
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", one.name, one.type);
  server.run(
      "DROP TABLE IF EXISTS public.wild; DROP DOMAIN IF EXISTS public.wild_number; DROP DOMAIN IF "
      "EXISTS public.wild_text; CREATE DOMAIN public.wild_number AS DOUBLE PRECISION; CREATE "
      "DOMAIN public.wild_text AS VARCHAR CHECK (length(VALUE) < 10000000)");
  server.run(fmt::format("CREATE TABLE public.wild ({}); INSERT INTO public.wild VALUES {}",
                         columns, wild_rows()));
}

// Expressions by what they give.
const std::vector<std::string>& numbers() {
  static const std::vector<std::string> all = {"i",
                                               "j",
                                               "f",
                                               "g",
                                               "i + j",
                                               "i - j",
                                               "i * j",
                                               "f * g",
                                               "f / g",
                                               "f - f",
                                               "i / j",
                                               "-i",
                                               "-f",
                                               "ABS(i)",
                                               "ABS(f)",
                                               "SIGN(f)",
                                               "SIGN(g)",
                                               "FLOOR(f)",
                                               "CEIL(g)",
                                               "TRUNC(f)",
                                               "ROUND(f)",
                                               "ROUND(f, 15)",
                                               "ROUND(g, -15)",
                                               "MOD(i, j)",
                                               "MOD(f, g)",
                                               "i % 7",
                                               "LN(f)",
                                               "LOG(g)",
                                               "LOG2(f)",
                                               "LOG10(i)",
                                               "EXP(f)",
                                               "EXP(g)",
                                               "EXP(i)",
                                               "SQRT(f)",
                                               "POWER(f, g)",
                                               "POWER(g, i)",
                                               "POWER(i, 0.5)",
                                               "POWER(f, -1000)",
                                               "GREATEST(i, j)",
                                               "LEAST(f, g)",
                                               "COALESCE(f, g, 0)",
                                               "NULLIF(i, j)",
                                               "CASE WHEN f > g THEN f ELSE i END",
                                               "CAST(f AS BIGINT)",
                                               "CAST(g AS BIGINT)",
                                               "CAST(i AS DOUBLE)",
                                               "CAST(s AS BIGINT)",
                                               "CAST(s AS DOUBLE)",
                                               "CAST(c AS DOUBLE)",
                                               "CAST(f AS DECIMAL(10, 2))",
                                               "CAST(b AS BIGINT)",
                                               "LENGTH(s)",
                                               "LENGTH(c)",
                                               "LENGTH(CONCAT(s, s))",
                                               "YEAR(d)",
                                               "EXTRACT(DOW FROM d)",
                                               "DAYOFYEAR(d)",
                                               "QUARTER(m)",
                                               "EXTRACT(SECOND FROM m)",
                                               "HOUR(z)",
                                               "MINUTE(m)",
                                               "DATE_DIFF('day', d, DATE '0001-01-01')",
                                               "DATE_DIFF('day', d, m)",
                                               "DATE_DIFF('day', z, m)",
                                               "YEAR(CAST(s AS DATE))",
                                               "DAY(CAST(s AS TIMESTAMP))"};
  return all;
}

const std::vector<std::string>& keys() {
  static const std::vector<std::string> all = {"s",
                                               "c",
                                               "d",
                                               "m",
                                               "z",
                                               "b",
                                               "UPPER(s)",
                                               "LOWER(c)",
                                               "TRIM(s)",
                                               "LTRIM(c)",
                                               "RTRIM(s)",
                                               "SUBSTR(s, 2, 3)",
                                               "LEFT(s, 1000000)",
                                               "RIGHT(s, 3)",
                                               "REPLACE(s, 'a', 'bcd')",
                                               "CONCAT(s, '-', c)",
                                               "s || s",
                                               "CAST(i AS VARCHAR)",
                                               "CAST(d AS VARCHAR)",
                                               "CAST(m AS VARCHAR)",
                                               "CAST(b AS VARCHAR)",
                                               "CAST(s AS DATE)",
                                               "CAST(s AS TIMESTAMP)",
                                               "CAST(s AS BOOLEAN)",
                                               "CAST(d AS TIMESTAMP)",
                                               "CAST(m AS DATE)",
                                               "DATE_TRUNC('week', d)",
                                               "DATE_TRUNC('year', d)",
                                               "DATE_TRUNC('quarter', m)",
                                               "DATE_TRUNC('hour', z)",
                                               "DATE_TRUNC('day', m)",
                                               "DATE_TRUNC('minute', m)",
                                               "GREATEST(s, c)",
                                               "LEAST(d, m)",
                                               "COALESCE(d, m)",
                                               "CASE WHEN d < m THEN m ELSE d END"};
  return all;
}

const std::vector<std::string>& conditions() {
  static const std::vector<std::string> all = {"f > g",
                                               "i = f",
                                               "i <> j",
                                               "s < c",
                                               "s LIKE '%a%b%'",
                                               "s LIKE 'a_%'",
                                               "c LIKE '% %'",
                                               "REGEXP_MATCHES(s, '^(a|b)*$')",
                                               "STARTS_WITH(s, c)",
                                               "ENDS_WITH(s, '9')",
                                               "CONTAINS(s, c)",
                                               "d = m",
                                               "d < TIMESTAMP '9999-12-31 00:00:00'",
                                               "m BETWEEN DATE '0001-01-01' AND z",
                                               "d IN (DATE '2024-02-29', DATE '0001-01-01')",
                                               "f IN (1, 2, 1e308)",
                                               "b AND f > 0",
                                               "s IN ('42', '')",
                                               "z IS NULL OR NOT b"};
  return all;
}

class PostgresWildRows : public testing::Test {
 protected:
  static void SetUpTestSuite() { fill_wild(); }

  // Questions about rows that hold every value.
  void expect_answer(const std::string& question) {
    const plan::Plan plan = plan::make_plan(question, policy_, options_);
    try {
      engine_->aggregate_groups(test::roomy_request(plan), log_);
    } catch (const Error&) {
      ADD_FAILURE() << question << "\n" << read_file(log_.path());
      std::filesystem::remove(log_.path());
    }
  }

  test::TemporaryFolder folder_{test::Place::memory};
  OwnerLog log_{folder_ / "log"};
  catalog::Policy policy_ = catalog::parse_policy(kPolicy, folder_.path());
  std::unique_ptr<Engine> engine_ =
      open_engine(policy_, std::vector<const catalog::Table*>{&policy_.tables[0]}, test::no_budget);
  plan::QueryOptions options_{.epsilon = 1, .delta = 1e-6};
};

TEST_F(PostgresWildRows, NumbersNeverFail) {
  for (const std::string& one : numbers()) {
    expect_answer(
        fmt::format("SELECT COUNT({0}), SUM({0}, bounds => (-5, 5)), AVG({0}, bounds => "
                    "(0, 1e15)), VAR_POP({0}, bounds => (0, 1e6)), COUNT(DISTINCT {0}), "
                    "MEDIAN({0}, bounds => (0, 100)) FROM wild",
                    one));
    expect_answer(fmt::format("SELECT {} AS k, COUNT(*) FROM wild GROUP BY k", one));
  }
}

TEST_F(PostgresWildRows, KeysNeverFail) {
  for (const std::string& one : keys())
    expect_answer(
        fmt::format("SELECT {0} AS k, COUNT(*), COUNT(DISTINCT {0}) FROM wild GROUP BY k", one));
}

TEST_F(PostgresWildRows, ConditionsNeverFail) {
  for (const std::string& one : conditions())
    expect_answer(
        fmt::format("SELECT COUNT(*), COUNT(*) FILTER (WHERE {0}) FROM wild WHERE {0}", one));
}

}  // namespace
}  // namespace shoal::engine
