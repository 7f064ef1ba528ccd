#include "random_queries.hpp"
#include "support/code_of.hpp"

#include <shoal/base/error.hpp>
#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <utility>
#include <vector>

namespace shoal::sql {
namespace {

using test::code_of;

constexpr Dialect kDialects[] = {Dialect::duckdb, Dialect::postgresql, Dialect::spark,
                                 Dialect::shoal};

std::string printed(std::string_view text, Dialect dialect = Dialect::duckdb) {
  return print(parse_expression(text), dialect);
}

TEST(Printer, PrintsASelect) {
  const Query query = parse_query("select count(*) n, sum(t.x) from People where a or b");
  EXPECT_EQ(print(query, Dialect::duckdb),
            "SELECT COUNT(*) AS \"n\", SUM(\"t\".\"x\") FROM \"People\" WHERE \"a\" OR \"b\"");
  EXPECT_EQ(print(query, Dialect::spark),
            "SELECT COUNT(*) AS `n`, SUM(`t`.`x`) FROM `People` WHERE `a` OR `b`");
}

TEST(Printer, PutsParenthesesOnlyWhereNeeded) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"((a)) + (b * c)", "\"a\" + \"b\" * \"c\""},
      {"(a + b) * c", "(\"a\" + \"b\") * \"c\""},
      {"a - (b - c)", "\"a\" - (\"b\" - \"c\")"},
      {"(a - b) - c", "\"a\" - \"b\" - \"c\""},
      {"a AND (b OR c)", "\"a\" AND (\"b\" OR \"c\")"},
      {"NOT (a AND b)", "NOT (\"a\" AND \"b\")"},
      {"(NOT a) AND b", "NOT \"a\" AND \"b\""},
      {"- -a", "-(-\"a\")"},
      {"a - -b", "\"a\" - -\"b\""},
      {"-(a + b)", "-(\"a\" + \"b\")"},
      {"(a = b) = c", "(\"a\" = \"b\") = \"c\""},
      {"a = b IS NULL", "(\"a\" = \"b\") IS NULL"},
      {"(a IS NULL) IS NULL", "(\"a\" IS NULL) IS NULL"},
      {"a || b + c", "\"a\" || (\"b\" + \"c\")"},
      {"a || b || c", "\"a\" || \"b\" || \"c\""},
      {"a || (b || c)", "\"a\" || (\"b\" || \"c\")"},
      {"(a AND b) IN (c AND d, e)", "(\"a\" AND \"b\") IN (\"c\" AND \"d\", \"e\")"},
      {"(-a)::int", "CAST(-\"a\" AS INTEGER)"},
      {"case (a = b) when c then d end", "CASE (\"a\" = \"b\") WHEN \"c\" THEN \"d\" END"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(printed(text), expected);
}

TEST(Printer, QuotesNames) {
  EXPECT_EQ(quote_identifier("a", Dialect::duckdb), "\"a\"");
  EXPECT_EQ(quote_identifier("a\"b`c", Dialect::postgresql), "\"a\"\"b`c\"");
  EXPECT_EQ(quote_identifier("a\"b`c", Dialect::spark), "`a\"b``c`");
  EXPECT_EQ(code_of([] { quote_identifier("${env:HOME}", Dialect::spark); }),
            ErrorCode::unsupported);
  for (const Dialect dialect : kDialects) {
    EXPECT_EQ(code_of([&] { quote_identifier("", dialect); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { quote_identifier(std::string("a\0b", 3), dialect); }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { quote_identifier("\xff", dialect); }), ErrorCode::invalid_argument);
  }
}

TEST(Printer, QuotesStrings) {
  EXPECT_EQ(quote_string("it's \\ \"", Dialect::duckdb), "'it''s \\ \"'");
  EXPECT_EQ(quote_string("it's \\ \"", Dialect::postgresql), "'it''s \\ \"'");
  EXPECT_EQ(quote_string("it's \\ \"", Dialect::spark), "'it\\'s \\\\ \"'");
  EXPECT_EQ(quote_string("\\' OR 1=1 --", Dialect::spark), "'\\\\\\' OR 1=1 --'");
  EXPECT_EQ(quote_string("${env:HOME}", Dialect::spark), "'\\u0024{env:HOME}'");
  for (const Dialect dialect : kDialects) {
    EXPECT_EQ(code_of([&] { quote_string(std::string("\0", 1), dialect); }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { quote_string("\xc3", dialect); }), ErrorCode::invalid_argument);
  }
}

TEST(Printer, SpellsTypesForEachDialect) {
  EXPECT_EQ(printed("x::double", Dialect::postgresql), "CAST(\"x\" AS DOUBLE PRECISION)");
  EXPECT_EQ(printed("x::double", Dialect::spark), "CAST(`x` AS DOUBLE)");
  EXPECT_EQ(printed("x::text", Dialect::spark), "CAST(`x` AS STRING)");
  EXPECT_EQ(printed("x::timestamp", Dialect::spark), "CAST(`x` AS TIMESTAMP_NTZ)");
  EXPECT_EQ(printed("timestamp '2024-01-31'", Dialect::spark), "TIMESTAMP_NTZ '2024-01-31'");
  EXPECT_EQ(printed("timestamp '2024-01-31'", Dialect::postgresql), "TIMESTAMP '2024-01-31'");
}

TEST(Printer, HasNoTryCastInPostgresql) {
  EXPECT_EQ(printed("try_cast(x as int)", Dialect::spark), "TRY_CAST(`x` AS INT)");
  EXPECT_EQ(code_of([] { printed("1 + try_cast(x as int)", Dialect::postgresql); }),
            ErrorCode::unsupported);
}

TEST(Printer, TakesNothingForAnEscapeInAPattern) {
  EXPECT_EQ(printed("a LIKE '\\%'"), "\"a\" LIKE '\\%'");
  EXPECT_EQ(printed("a LIKE '\\%'", Dialect::postgresql), "\"a\" LIKE '\\%' ESCAPE ''");
  EXPECT_EQ(printed("a LIKE '\\%'", Dialect::spark), "`a` LIKE '\\\\\\\\%'");
  EXPECT_EQ(code_of([] { printed("a LIKE b", Dialect::spark); }), ErrorCode::unsupported);
}

TEST(Printer, ChecksTreesThatTheParserWouldNotMake) {
  const std::vector<Expression> bad = {
      Expression(Literal{LiteralKind::integer, "1; DROP TABLE t"}),
      Expression(Literal{LiteralKind::integer, "-1"}),
      Expression(Literal{LiteralKind::integer, ""}),
      Expression(Literal{LiteralKind::decimal, "1"}),
      Expression(Literal{LiteralKind::decimal, "1e"}),
      Expression(Literal{LiteralKind::boolean, "yes"}),
      Expression(Literal{LiteralKind::date, "today"}),
      Expression(Literal{LiteralKind::timestamp, "2024-01-31'"}),
      Expression(Call{"count"}),
      Expression(Call{"F(1), G"}),
      Expression(Call{""}),
      Expression(Call{"SELECT"}),
      Expression(ColumnReference{std::nullopt, Identifier{""}}),
      Expression(InList{parse_expression("a"), {}}),
      Expression(Case{}),
  };
  for (const Expression& expression : bad) {
    for (const Dialect dialect : kDialects) {
      EXPECT_EQ(code_of([&] { print(expression, dialect); }), ErrorCode::invalid_argument);
    }
  }
  EXPECT_EQ(code_of([] { print(Query{}, Dialect::duckdb); }), ErrorCode::invalid_argument);
}

TEST(PrinterProperty, ParsingGivesTheTreeBack) {
  EXPECT_TRUE(rc::check([] {
    const Expression expression = testing::random_expression(testing::between(0, 6));
    RC_ASSERT(parse_expression(print(expression, Dialect::shoal)) == expression);
    RC_ASSERT(parse_expression(print(expression, Dialect::shoal, Parentheses::all)) == expression);
  }));
  EXPECT_TRUE(rc::check([] {
    Query query = testing::random_query(testing::between(0, 4), testing::PrivacyWords::some);
    query.explain = testing::coin();
    for (const Parentheses parentheses : {Parentheses::needed, Parentheses::all}) {
      const std::string text = print(query, Dialect::shoal, parentheses);
      RC_LOG() << text << '\n';
      RC_ASSERT(parse_query(text) == query);
      // Guarded functions aside, of which random trees hold this one, DuckDB's dialect is the same.
      if (text.find("EXTRACT(") != std::string::npos) continue;
      RC_ASSERT(print(query, Dialect::duckdb, parentheses) == text);
    }
  }));
}

TEST(PrinterProperty, AnyStringAndNameComesBack) {
  EXPECT_TRUE(rc::check([] {
    const auto text = *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
    const Expression literal(Literal{LiteralKind::string, text});
    RC_ASSERT(parse_expression(print(literal, Dialect::duckdb)) == literal);
    const Expression column(ColumnReference{std::nullopt, Identifier{"x" + text}});
    RC_ASSERT(parse_expression(print(column, Dialect::duckdb)) == column);
  }));
}

// A reader of Spark's literals, independent of the printer: a backslash takes the next character as
// it is.
TEST(PrinterProperty, SparkReadsStringsAsTheyAre) {
  EXPECT_TRUE(rc::check([] {
    const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("a'\\\"$`")));
    const std::string quoted = quote_string(text, Dialect::spark);
    RC_ASSERT(quoted.front() == '\'' && quoted.back() == '\'');
    std::string read;
    for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
      RC_ASSERT(quoted[i] != '\'');
      if (quoted[i] != '\\') {
        read.push_back(quoted[i]);
      } else if (quoted.substr(i, 6) == "\\u0024") {
        read.push_back('$');
        i += 5;
      } else {
        RC_ASSERT(i + 2 < quoted.size());
        read.push_back(quoted[++i]);
      }
    }
    RC_ASSERT(read == text);
  }));
}

}  // namespace
}  // namespace shoal::sql
