// Guarded functions as text: what is refused, how long it becomes, and the exact forms for engines
// that are not at hand in these tests.
#include "support/paths.hpp"

#include <shoal/base/error.hpp>
#include <shoal/sql/guarded_functions.hpp>
#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace shoal::sql {
namespace {

constexpr Dialect kEngines[] = {Dialect::duckdb, Dialect::postgresql, Dialect::spark};

std::string printed(const std::string& text, Dialect dialect) {
  return print(parse_expression(text), dialect);
}

std::string failure(const std::string& text, Dialect dialect, ErrorCode code) {
  try {
    printed(text, dialect);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << text;
    return error.what();
  }
  ADD_FAILURE() << "no error for " << text;
  return "";
}

TEST(GuardedForms, AreAsTheyWereChecked) {
  const std::map<std::string, Dialect> dialects = {
      {"duckdb", Dialect::duckdb}, {"postgresql", Dialect::postgresql}, {"spark", Dialect::spark}};
  std::ifstream file(test::source_folder() + "/tests/golden/guarded_functions.txt");
  ASSERT_TRUE(file);
  std::string call;
  std::size_t checked = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t colon = line.find(": ");
    const auto dialect = dialects.find(line.substr(0, colon));
    if (dialect == dialects.end()) {
      call = line;
      continue;
    }
    EXPECT_EQ(printed(call, dialect->second), line.substr(colon + 2)) << call;
    ++checked;
  }
  EXPECT_GT(checked, 150U);
}

TEST(GuardedForms, StayAsTheyAreInTheLanguage) {
  for (const std::string text : {"SAFE_ADD(1, 2)", "ROUND(1.5)", "LEFT('a', 1)", "ABS()",
                                 "EXTRACT(YEAR FROM DATE '2024-01-31')"}) {
    EXPECT_EQ(printed(text, Dialect::shoal), text);
  }
  EXPECT_EQ(printed("SUM(SAFE_NEGATE(x)) FILTER (WHERE LENGTH(s) > 1)", Dialect::duckdb),
            "SUM(CASE WHEN ABS(-CAST(\"x\" AS DOUBLE)) <= 1.7976931348623157e308 THEN "
            "-CAST(\"x\" AS DOUBLE) END) FILTER (WHERE CAST(LENGTH(\"s\") AS BIGINT) > 1)");
  EXPECT_EQ(
      print(parse_query("SELECT a FROM t WHERE b GROUP BY ROLLUP(LENGTH(s)) ORDER BY TRIM(s)"),
            Dialect::postgresql),
      "SELECT \"a\" FROM \"t\" WHERE \"b\" GROUP BY ROLLUP ((CAST(LENGTH(\"s\") AS BIGINT))) "
      "ORDER BY BTRIM(\"s\", ' ') NULLS LAST");
}

TEST(GuardedForms, NeedTheirArguments) {
  for (const char* text : {"SAFE_ADD(a)",
                           "SAFE_ADD(a, b, c)",
                           "SAFE_NEGATE(a, b)",
                           "ABS()",
                           "SAFE_LN()",
                           "LEFT()",
                           "SAFE_LN(*)",
                           "SAFE_LN(a, b)",
                           "SAFE_LN(DISTINCT a)",
                           "SAFE_LN(a) FILTER (WHERE b)",
                           "SAFE_LN(a, b => 1)",
                           "ROUND(a, b)",
                           "ROUND(a, 1.5)",
                           "ROUND(a, 16)",
                           "ROUND(a, -16)",
                           "ROUND(a, 999999999999)",
                           "ROUND()",
                           "GREATEST(a)",
                           "CONCAT()",
                           "LENGTH(*)",
                           "SUBSTR(a)",
                           "DATE_TRUNC(a, b)",
                           "DATE_TRUNC('century', b)",
                           "DATE_TRUNC('day')",
                           "DATE_DIFF('month', a, b)",
                           "DATE_DIFF(a, b)",
                           "REGEXP_MATCHES(a, b)",
                           "REGEXP_MATCHES(a, 'b', 'i')"}) {
    for (const Dialect dialect : kEngines) failure(text, dialect, ErrorCode::invalid_argument);
  }
  EXPECT_NE(failure("REGEXP_MATCHES(a, 'b')", Dialect::spark, ErrorCode::unsupported).find("Spark"),
            std::string::npos);
}

TEST(GuardedForms, TakePatternsThatEnginesReadAlike) {
  const auto call = [](const std::string& pattern) {
    return fmt::format("REGEXP_MATCHES(a, {})", quote_string(pattern, Dialect::shoal));
  };
  for (const char* pattern : {"abc", "^a.*b$", "a|b|", "(a|b)+c?", "[a-z0-9_.]{2,5}", "[^ a]*",
                              "\\.\\(\\)", "größe", "a{100}", "()", "((a))", "[a-c,]"}) {
    EXPECT_NO_THROW(printed(call(pattern), Dialect::postgresql)) << pattern;
  }
  for (const char* pattern :
       {"",    "*a",  "a**",         "a+?",    "a*+",    "(a){2}", "(?:a)",   "(?i)a",  "\\d",
        "\\1", "\\b", "[[:alpha:]]", "[",      "[]",     "[^]",    "[a",      "[z-a]",  "[a-]",
        "[ä]", "a{",  "a{,2}",       "a{2,1}", "a{101}", "a{2,}",  "a{2}{2}", "(",      ")",
        "a)",  "^*",  "$+",          "a]",     "a}",     "\\",     "[\\d]",   "[a-b-c]"}) {
    EXPECT_NE(failure(call(pattern), Dialect::duckdb, ErrorCode::unsupported).find("; "),
              std::string::npos)
        << pattern;
  }
  EXPECT_NE(failure(call("(?:a)"), Dialect::duckdb, ErrorCode::unsupported).find("begins with ?"),
            std::string::npos);
  failure(call(std::string(501, 'a')), Dialect::duckdb, ErrorCode::unsupported);
  failure(call(std::string(21, '(') + std::string(21, ')')), Dialect::duckdb,
          ErrorCode::unsupported);
}

std::string chain(const std::string& open, const std::string& close, std::size_t count) {
  std::string text = "x";
  for (std::size_t i = 0; i < count; ++i) text = open + text + close;
  return text;
}

TEST(GuardedForms, LongSumsAndProductsStayShort) {
  for (const Dialect dialect : kEngines) {
    EXPECT_LT(printed(chain("SAFE_ADD(", ", y)", 150), dialect).size(), 40'000U);
    EXPECT_LT(printed(chain("SAFE_MULTIPLY(y, ", ")", 150), dialect).size(), 40'000U);
    EXPECT_LT(printed(chain("SAFE_DIVIDE(", ", 3)", 150), dialect).size(), 60'000U);
  }
}

// Each of these would be printed several times as long as what is inside it.
TEST(GuardedForms, TooLongOnesAreRefusedAtOnce) {
  for (const Dialect dialect : kEngines) {
    for (const std::string& text :
         {chain("SAFE_LN(", ")", 30), chain("SAFE_DIVIDE(1, ", ")", 30),
          chain("SAFE_POWER(", ", 2)", 30), chain("GREATEST(", ", 1)", 30)}) {
      EXPECT_NE(failure(text, dialect, ErrorCode::unsupported).find("too long"), std::string::npos);
    }
    EXPECT_NO_THROW(printed(chain("SAFE_LN(", ")", 5), dialect));
  }
}

// More numbers than PostgreSQL's own could multiply become several regions.
TEST(GuardedForms, WideProductsAreCutIntoRegions) {
  std::string text = "x";
  for (int i = 0; i < 8; ++i) text = fmt::format("SAFE_MULTIPLY({0}, {0})", text);
  const std::string postgresql = printed(text, Dialect::postgresql);
  EXPECT_NE(postgresql.find("CAST(ROUND("), postgresql.rfind("CAST(ROUND("));
  EXPECT_NE(postgresql.find("NUMERIC) * CAST(CAST(CASE WHEN"), std::string::npos);
}

TEST(GuardedForms, ConvertBetweenTypes) {
  EXPECT_EQ(conversion_function(ScalarType::varchar, ScalarType::bigint), "SAFE_TEXT_TO_BIGINT");
  EXPECT_EQ(conversion_function(ScalarType::varchar, ScalarType::smallint), "SAFE_TEXT_TO_BIGINT");
  EXPECT_EQ(conversion_function(ScalarType::integer, ScalarType::real), "SAFE_BIGINT_TO_DOUBLE");
  EXPECT_EQ(conversion_function(ScalarType::date, ScalarType::timestamp), "SAFE_DATE_TO_TIMESTAMP");
  EXPECT_EQ(conversion_function(ScalarType::real, ScalarType::varchar), std::nullopt);
  EXPECT_EQ(conversion_function(ScalarType::boolean, ScalarType::date), std::nullopt);
  EXPECT_EQ(conversion_function(ScalarType::date, ScalarType::date), std::nullopt);
  for (int from = 0; from <= static_cast<int>(ScalarType::timestamp); ++from) {
    for (int to = 0; to <= static_cast<int>(ScalarType::timestamp); ++to) {
      const auto name =
          conversion_function(static_cast<ScalarType>(from), static_cast<ScalarType>(to));
      EXPECT_TRUE(!name || is_guarded(*name)) << *name;
    }
  }
  EXPECT_FALSE(is_guarded("COALESCE"));
  EXPECT_TRUE(is_guarded("EXTRACT"));
}

TEST(Syntax, PutsOtherExpressionsInside) {
  const Expression old = parse_expression("CASE a WHEN b THEN c ELSE d END");
  const std::vector<Expression> inside = {parse_expression("1"), parse_expression("2"),
                                          parse_expression("3"), parse_expression("4")};
  EXPECT_EQ(with_children(old, inside), parse_expression("CASE 1 WHEN 2 THEN 3 ELSE 4 END"));
  for (const char* text :
       {"a + b", "-a", "a IS NULL", "a BETWEEN b AND c", "a IN (b, c)", "a LIKE b",
        "CAST(a AS INT)", "f(a, n => (b, c), m => d) FILTER (WHERE e)", "CASE WHEN a THEN b END",
        "1", "a"}) {
    const Expression expression = parse_expression(text);
    EXPECT_EQ(with_children(expression, children(expression)), expression);
    std::vector<Expression> marked = children(expression);
    for (std::size_t i = 0; i < marked.size(); ++i) {
      marked[i] = Expression(Literal{LiteralKind::integer, std::to_string(i)});
    }
    EXPECT_EQ(children(with_children(expression, marked)), marked) << text;
    marked.push_back(expression);
    EXPECT_THROW(with_children(expression, marked), Error);
  }
}

}  // namespace
}  // namespace shoal::sql
