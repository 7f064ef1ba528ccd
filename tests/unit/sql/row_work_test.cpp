// The public bound on what the texts of a row may take.
#include <shoal/base/error.hpp>
#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace shoal::sql {
namespace {

constexpr Dialect kEngines[] = {Dialect::duckdb, Dialect::postgresql};

void expect_refused(const std::string& query) {
  for (const Dialect dialect : kEngines) {
    try {
      print(parse_query(query), dialect);
      ADD_FAILURE() << "no error for " << query.substr(0, 200);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_NE(std::string(error.what()).find("texts of one row"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_NO_THROW(print(parse_query(query), Dialect::shoal));
}

void expect_allowed(const std::string& query) {
  for (const Dialect dialect : kEngines) {
    EXPECT_NO_THROW(print(parse_query(query), dialect)) << query.substr(0, 200);
  }
}

std::string asked(const std::string& condition) { return "SELECT p FROM t WHERE " + condition; }

// As an attacker gives it to one person's rows.
std::string given(std::size_t length) {
  return fmt::format("CASE WHEN p = 17 THEN '{}' ELSE 'b' END", std::string(length, 'a'));
}

std::string replaced(std::string text, int times) {
  for (int i = 0; i < times; ++i) text = fmt::format("REPLACE({}, 'a', 'b')", text);
  return text;
}

std::string repeated(const std::string& text, int times, const std::string& between) {
  std::string all;
  for (int i = 0; i < times; ++i) all += (i == 0 ? "" : between) + text;
  return all;
}

std::string inner(const std::string& text) { return "(SELECT p, " + text + " AS s FROM t) AS d"; }

TEST(RowWork, LongConstantsInManyFunctionsAreRefused) {
  expect_refused(asked(replaced(given(10'000), 8) + " = 'x'"));
  expect_refused("SELECT p FROM " + inner(given(10'000)) + " WHERE " +
                 repeated(replaced("s", 1) + " = 'x'", 100, " OR "));
  expect_refused(asked(fmt::format("CONTAINS({}, {})", given(10'000), given(5'000))));
  expect_refused(asked(given(20'000) + " LIKE '%" + std::string(100, 'a') + "_b%'"));
  expect_refused(
      asked(fmt::format("REGEXP_MATCHES({}, '(a|b)*a[ab]{{100}}[ab]{{100}}$')", given(50'000))));
}

// Also where many texts that are long enough alone are put together, or grow.
TEST(RowWork, TextsThatGrowCountAsLong) {
  const std::string grown =
      fmt::format("REPLACE({}, 'a', '{}')", given(5'000), std::string(100, 'c'));
  expect_refused(asked(fmt::format("LENGTH(LOWER({})) = 3", grown)));
  expect_refused("SELECT p FROM " + inner(given(9'000)) + " WHERE LENGTH(LOWER(CONCAT(" +
                 repeated("s", 60, ", ") + "))) = 3");
}

// What an inner query makes is a column of the outer one.
TEST(RowWork, InnerTextsStayLong) {
  const std::string long_ones =
      inner(fmt::format("REPLACE({}, 'a', '{}')", given(3'000), std::string(60, 'c')));
  expect_allowed("SELECT p FROM " + long_ones);
  expect_refused("SELECT p FROM " + long_ones + " WHERE CONTAINS(s, 'ccccccccx')");
  expect_refused("SELECT p FROM " + long_ones + " WHERE CONTAINS(s, s)");
  expect_allowed(
      "SELECT p FROM (SELECT p, CONCAT(a, ' ', b) AS s FROM t) AS d WHERE CONTAINS(s, "
      "'ccccccccx')");
}

TEST(RowWork, HonestQuestionsAreAllowed) {
  expect_allowed(asked(repeated("CONTAINS(LOWER(name), 'some longer word')", 50, " OR ")));
  expect_allowed(asked(repeated("name LIKE '%first%second%third%'", 50, " OR ")));
  expect_allowed(asked(repeated("SAFE_TEXT_TO_DATE(name) > DATE '2024-01-31'", 10, " OR ")));
  expect_allowed(asked(replaced("TRIM(LOWER(name))", 5) + " = 'x'"));
  expect_allowed(asked("name IN (" + repeated("'some constant'", 2'000, ", ") + ")"));
  expect_allowed(asked(repeated("SAFE_LN(SAFE_ADD(x, y)) > 3", 100, " OR ")));
  expect_allowed(asked(fmt::format("name = '{}'", std::string(50'000, 'a'))));
}

}  // namespace
}  // namespace shoal::sql
