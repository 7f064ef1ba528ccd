#include <shoal/base/error.hpp>
#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace shoal::sql {
namespace {

std::string spelled_out(std::string_view text) {
  return print(parse_expression(text), Dialect::duckdb, Parentheses::all);
}

Error failure(std::string_view query) {
  try {
    parse_query(query);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error for " << query;
  return Error(ErrorCode::internal, "none");
}

TEST(Parser, MatchesNames) {
  EXPECT_TRUE(matches(Identifier{"Age", false}, "aGE"));
  EXPECT_TRUE(matches(Identifier{"Age", true}, "Age"));
  EXPECT_FALSE(matches(Identifier{"Age", true}, "age"));
  EXPECT_FALSE(matches(Identifier{"Age", false}, "ages"));
}

TEST(Parser, BindsOperatorsAsSqlDoes) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a OR b AND c", "(\"a\") OR ((\"b\") AND (\"c\"))"},
      {"a AND b OR c", "((\"a\") AND (\"b\")) OR (\"c\")"},
      {"NOT a AND b", "(NOT (\"a\")) AND (\"b\")"},
      {"NOT NOT a", "NOT (NOT (\"a\"))"},
      {"NOT a = b", "NOT ((\"a\") = (\"b\"))"},
      {"NOT a IS NULL", "NOT ((\"a\") IS NULL)"},
      {"a = b IS NOT NULL", "((\"a\") = (\"b\")) IS NOT NULL"},
      {"a IS NULL IS NULL", "((\"a\") IS NULL) IS NULL"},
      {"a = b IN (1, 2)", "(\"a\") = ((\"b\") IN (1, 2))"},
      {"a BETWEEN 1 AND 2 AND b", "((\"a\") BETWEEN (1) AND (2)) AND (\"b\")"},
      {"a NOT BETWEEN 1 + 2 AND 3 OR b", "((\"a\") NOT BETWEEN ((1) + (2)) AND (3)) OR (\"b\")"},
      {"NOT a NOT LIKE 'x' || 'y'", "NOT ((\"a\") NOT LIKE (('x') || ('y')))"},
      {"a NOT IN (b OR c)", "(\"a\") NOT IN ((\"b\") OR (\"c\"))"},
      {"a < b || c + d", "(\"a\") < ((\"b\") || ((\"c\") + (\"d\")))"},
      {"a - b - c", "((\"a\") - (\"b\")) - (\"c\")"},
      {"a / b * c % d", "(((\"a\") / (\"b\")) * (\"c\")) % (\"d\")"},
      {"a + b * c", "(\"a\") + ((\"b\") * (\"c\"))"},
      {"(a + b) * c", "((\"a\") + (\"b\")) * (\"c\")"},
      {"-a * b", "(-(\"a\")) * (\"b\")"},
      {"- -1", "-(-(1))"},
      {"-a::int", "-(CAST(\"a\" AS INTEGER))"},
      {"a::int::text", "CAST(CAST(\"a\" AS INTEGER) AS VARCHAR)"},
      {"a + b::double precision", "(\"a\") + (CAST(\"b\" AS DOUBLE))"},
      {"a != b", "(\"a\") <> (\"b\")"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(spelled_out(text), expected) << text;
  }
}

TEST(Parser, ReadsEveryKindOfPrimary) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"12", "12"},
      {"1e3", "1e3"},
      {"0.50", "0.50"},
      {"'it''s'", "'it''s'"},
      {"null", "NULL"},
      {"true", "TRUE"},
      {"date '2024-02-29'", "DATE '2024-02-29'"},
      {"timestamp '2024-01-31T23:59:59.5'", "TIMESTAMP '2024-01-31T23:59:59.5'"},
      {"date", "\"date\""},
      {"\"select\".\"x\"", "\"select\".\"x\""},
      {"count(distinct x)", "COUNT(DISTINCT \"x\")"},
      {"pi()", "PI()"},
      {"left(x, 1)", "LEFT(\"x\", 1)"},
      {"try_cast(x as numeric(10, 2))", "TRY_CAST(\"x\" AS DECIMAL(10, 2))"},
      {"cast(x as decimal(5))", "CAST(\"x\" AS DECIMAL(5, 0))"},
      {"case when a then 1 end", "CASE WHEN \"a\" THEN 1 END"},
      {"case a when 1 then 2 when 3 then 4 else 5 end",
       "CASE \"a\" WHEN 1 THEN 2 WHEN 3 THEN 4 ELSE 5 END"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(print(parse_expression(text), Dialect::shoal), expected);
  }
}

TEST(Parser, KeepsPositions) {
  const Expression expression = parse_expression("a +\n  f(b)");
  EXPECT_EQ(expression.position(), (Position{1, 3, 2}));
  const Binary* sum = expression.get_if<Binary>();
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(sum->left.position(), (Position{1, 1, 0}));
  EXPECT_EQ(sum->right.position(), (Position{2, 3, 6}));
  EXPECT_EQ(sum->right.get_if<Call>()->arguments[0].position(), (Position{2, 5, 8}));
}

TEST(Parser, ComparesTreesNotPositions) {
  EXPECT_EQ(parse_expression("a+b"), parse_expression("\"a\"  + (b)"));
  EXPECT_FALSE(parse_expression("a+b") == parse_expression("a-b"));
  EXPECT_FALSE(parse_expression("a") == parse_expression("b"));
  EXPECT_FALSE(parse_expression("1") == parse_expression("'1'"));
  EXPECT_FALSE(parse_expression("a IN (1)") == parse_expression("a NOT IN (1)"));
  EXPECT_FALSE(parse_query("SELECT a FROM t") == parse_query("SELECT a AS b FROM t"));
  EXPECT_FALSE(parse_expression("f(a)") == parse_expression("f(a) FILTER (WHERE b)"));
  EXPECT_FALSE(parse_expression("f(a)") == parse_expression("f(a, b => 1)"));
  EXPECT_FALSE(parse_expression("f(b => 1)") == parse_expression("f(b => (1, 2))"));
}

TEST(Parser, ListsChildrenInOrder) {
  EXPECT_EQ(children(parse_expression("CASE a WHEN b THEN c ELSE d END")),
            (std::vector<Expression>{parse_expression("a"), parse_expression("b"),
                                     parse_expression("c"), parse_expression("d")}));
  EXPECT_EQ(children(parse_expression("a IN (b, c)")).size(), 3U);
  EXPECT_TRUE(children(parse_expression("a")).empty());
  EXPECT_EQ(children(parse_expression("f(a, n => (b, c)) FILTER (WHERE d)")),
            (std::vector<Expression>{parse_expression("a"), parse_expression("b"),
                                     parse_expression("c"), parse_expression("d")}));
}

TEST(Parser, NamesWhatItFoundAndExpected) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"SELECT FROM people",
       "line 1, column 8: expected an expression but found FROM; write for example SELECT COUNT(*) "
       "FROM "
       "people\n  SELECT FROM people\n         ^"},
      {"", "line 1, column 1: expected SELECT but found the end of the query"},
      {"  \n hello", "line 2, column 2: expected SELECT but found hello"},
      {"SELECT 1 2", "line 1, column 10: expected a clause such as WHERE, an operator or the end"},
      {"SELECT 1 FROM", "column 14: expected a table but found the end of the query"},
      {"SELECT 1 FROM where", "column 15: expected a table but found where; write \"where\""},
      {"SELECT 1 FROM t WHERE", "column 22: expected an expression but found the end of the query"},
      {"SELECT 1 FROM t WHERE a 5",
       "column 25: expected a clause such as WHERE, an operator or the end of the query but found "
       "the number 5"},
      {"SELECT 1 AS FROM t", "column 13: expected a name but found FROM"},
      {"SELECT (1 FROM t", "column 11: expected ) but found FROM"},
      {"SELECT f(1 2) FROM t", "column 12: expected , or ) but found the number 2"},
      {"SELECT f(1,) FROM t", "column 12: expected an expression but found )"},
      {"SELECT a = b = c FROM t",
       "column 14: expected AND, OR or the end of the expression but found ="},
      {"SELECT a IN (1) LIKE 'x' FROM t", "column 17: expected AND, OR"},
      {"SELECT a = NOT b FROM t",
       "column 12: expected an expression but found NOT; put parentheses"},
      {"SELECT a IN () FROM t", "column 14: expected an expression but found )"},
      {"SELECT a IN b FROM t", "column 13: expected ( but found b"},
      {"SELECT a BETWEEN 1 OR 2 FROM t", "column 20: expected AND but found OR"},
      {"SELECT a IS 5 FROM t", "column 13: expected NULL or NOT NULL but found the number 5"},
      {"SELECT CAST(a, int) FROM t", "column 14: expected AS but found ,"},
      {"SELECT CAST(a AS 'x') FROM t", "column 18: expected a type but found the string 'x'"},
      {"SELECT a::decimal(0) FROM t",
       "column 19: expected a number from 1 to 38 but found the number 0"},
      {"SELECT a::decimal(5,6) FROM t", "expected a number from 0 to 5 but found the number 6"},
      {"SELECT CASE a END FROM t", "column 15: expected WHEN but found END"},
      {"SELECT CASE WHEN a END FROM t", "expected THEN but found END"},
      {"SELECT CASE WHEN a THEN b FROM t", "expected END but found FROM"},
      {"SELECT DATE '2023-02-29' FROM t",
       "column 13: expected a date but found the string '2023-02-29'"},
      {"SELECT DATE 'today' FROM t", "expected a date"},
      {"SELECT TIMESTAMP '2023-02-01 24:00:00' FROM t", "expected a timestamp"},
      {"SELECT TIMESTAMP '2023-02-01 12:00:00+02' FROM t", "expected a timestamp"},
      {"SELECT t. FROM t", "column 11: expected a column but found FROM"},
      {"SELECT E'a\\n' FROM t",
       "column 9: expected a clause such as WHERE, an operator or the end of the "
       "query but found the string 'a\\n'"},
      {"SELECT 'a' 'b' FROM t", "but found the string 'b'"},
      {"SELECT a FROM t)", "found )"},
      {"SELECT a FROM t JOIN u", "column 23: expected ON or USING but found the end of the query"},
      {"SELECT a FROM t JOIN u JOIN v ON x ON y", "column 24: expected ON or USING but found JOIN"},
      {"SELECT a FROM t CROSS JOIN u ON x", "expected a clause such as WHERE"},
      {"SELECT a FROM t JOIN u USING ()", "column 31: expected a column but found )"},
      {"SELECT a FROM t LEFT u", "column 22: expected JOIN but found u"},
      {"SELECT a FROM (t JOIN u ON x", "expected JOIN, ON or ) but found the end of the query"},
      {"SELECT a FROM (SELECT b FROM t", "expected a clause such as WHERE, an operator or ) but"},
      {"SELECT a FROM ()", "column 16: expected a table but found )"},
      {"WITH SELECT a FROM t", "column 6: expected a name but found SELECT"},
      {"WITH x AS SELECT a FROM t", "column 11: expected ( but found SELECT"},
      {"WITH x AS (SELECT a FROM t)", "expected SELECT but found the end of the query"},
      {"SELECT a FROM t GROUP a", "column 23: expected BY but found a"},
      {"SELECT a FROM t GROUP BY", "expected an expression but found the end of the query"},
      {"SELECT a FROM t GROUP BY ROLLUP(())", "expected an expression but found )"},
      {"SELECT a FROM t GROUP BY GROUPING SETS ((a) + 1)",
       "column 45: expected , or ) but found +; put a set into parentheses"},
      {"SELECT a FROM t ORDER BY a NULLS", "expected FIRST or LAST but found the end"},
      {"SELECT a FROM t LIMIT -1", "column 23: expected a whole number but found -"},
      {"SELECT a FROM t LIMIT ALL", "expected a whole number but found ALL"},
      {"SELECT a FROM t LIMIT 1 LIMIT 2", "column 25: expected a clause such as WHERE"},
      {"SELECT a FROM t WHERE b WHERE c", "column 25: expected a clause such as WHERE"},
      {"SELECT a FROM t ORDER BY a GROUP BY a", "but found GROUP"},
      {"SELECT WITH PRIVACY a FROM t",
       "column 13: expected DIFFERENTIAL_PRIVACY but found PRIVACY"},
      {"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon) a FROM t", "column 49: expected = but"},
      {"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon => 1) a FROM t", "expected = but"},
      {"SELECT COUNT(*, 1) FROM t", "column 17: expected a named argument but found the number 1"},
      {"SELECT SUM(a, b => 1, c) FROM t", "column 23: expected a named argument but found c"},
      {"SELECT SUM(a) FILTER (b) FROM t", "column 23: expected WHERE but found b"},
      {"SELECT EXTRACT(a FROM b) FROM t", "column 16: expected one of YEAR, QUARTER"},
      {"SELECT EXTRACT(YEAR, b) FROM t", "column 20: expected FROM but found ,"},
      {"SELECT * AS x FROM t", "expected a clause such as WHERE"},
  };
  for (const auto& [query, fragment] : cases) {
    const Error error = failure(query);
    EXPECT_EQ(error.code(), ErrorCode::parse_error) << query << '\n' << error.what();
    EXPECT_NE(std::string(error.what()).find(fragment), std::string::npos)
        << "wanted: " << fragment << "\ngot: " << error.what();
  }
}

TEST(Parser, SaysWhatIsNotSupported) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"SELECT (SELECT 1 FROM t) FROM t", "column 9: subqueries are not supported"},
      {"SELECT a FROM t WHERE a = ANY (1)", "column 27: ANY is not supported; write"},
      {"SELECT a FROM t UNION SELECT a FROM t", "UNION, EXCEPT and INTERSECT are not supported"},
      {"SELECT a FROM t EXCEPT SELECT a FROM t", "UNION, EXCEPT and INTERSECT are not supported"},
      {"SELECT 1 INTERSECT SELECT 2", "UNION, EXCEPT and INTERSECT are not supported"},
      {"SELECT SUM(a) OVER () FROM t", "column 15: window functions are not supported"},
      {"SELECT SUM(a) EXPORT_STATE FROM t", "EXPORT_STATE is not supported; leave"},
      {"SELECT LIST(a ORDER BY b) FROM t", "ORDER BY inside a function is not supported"},
      {"SELECT COUNT(*) FROM 'people.csv'", "column 22: a file cannot be queried; write"},
      {"SELECT COUNT(*) FROM read_csv('x')", "column 30: table functions are not supported"},
      {"SELECT COUNT(*) FROM main.people", "column 26: tables in a schema are not supported"},
      {"SELECT ? FROM t", "column 8: parameters are not supported; write the value"},
      {"SELECT $1 FROM t", "parameters are not supported"},
      {"SELECT a FROM t; SELECT b FROM t", "column 18: more than one statement is not supported"},
      {"SELECT a FROM t;; DROP TABLE t", "more than one statement is not supported"},
      {"(SELECT a FROM t)", "a SELECT in parentheses is not supported"},
      {"FROM t SELECT a", "a query that begins with FROM is not supported"},
      {"SELECT a.b.c FROM t", "at most a table and a column"},
      {"SELECT s.f(x) FROM t", "functions in a schema are not supported"},
      {"SELECT \"sum\"(x) FROM t", "function names in quotes are not supported"},
      {"SELECT (a, b) FROM t", "rows of several values are not supported"},
      {"SELECT a ILIKE 'x' FROM t", "ILIKE is not supported; write LOWER"},
      {"SELECT a NOT ILIKE 'x' FROM t", "ILIKE is not supported"},
      {"SELECT a LIKE 'x' ESCAPE '!' FROM t", "ESCAPE is not supported"},
      {"SELECT a IS NOT DISTINCT FROM b FROM t", "IS DISTINCT FROM is not supported"},
      {"SELECT a BETWEEN SYMMETRIC 2 AND 1 FROM t", "BETWEEN SYMMETRIC is not supported"},
      {"SELECT a ^ 2 FROM t", "write POWER(x, y)"},
      {"SELECT a[1] FROM t", "subscripts are not supported"},
      {"SELECT [1] FROM t", "arrays are not supported"},
      {"SELECT INTERVAL 1 DAY FROM t", "INTERVAL is not supported"},
      {"SELECT CURRENT_DATE FROM t", "the current time is not supported"},
      {"SELECT a::varchar(5) FROM t", "with a length is not supported"},
      {"SELECT a::decimal FROM t", "DECIMAL without a precision is not supported"},
      {"SELECT a::float FROM t", "the type FLOAT is not supported"},
      {"SELECT CAST(a AS timestamp with time zone) FROM t", "time zones are not supported"},
      {"SELECT CAST(a AS blob) FROM t", "the type BLOB is not supported; write BOOLEAN"},
      {"SELECT a INTO b FROM t", "SELECT INTO is not supported"},
      {"SELECT a FROM t TABLESAMPLE 10%", "TABLESAMPLE is not supported"},
      {"SELECT a FROM t WHERE a IN (SELECT b FROM u)",
       "column 29: subqueries are not supported as values and conditions; put"},
      {"SELECT a FROM t WHERE EXISTS (SELECT 1)", "column 23: subqueries are not supported"},
      {"SELECT DISTINCT ON (a) a FROM t", "column 17: DISTINCT ON is not supported; write"},
      {"SELECT * EXCLUDE (a) FROM t", "column 10: * with EXCLUDE"},
      {"SELECT t.* REPLACE (a) FROM t", "* with EXCLUDE, EXCEPT, REPLACE"},
      {"SELECT COUNT(t.*) FROM t", "column 14: all columns of a table stand only in the list"},
      {"SELECT a FROM t NATURAL JOIN u", "column 17: NATURAL JOIN is not supported"},
      {"SELECT a FROM t NATURAL LEFT JOIN u", "NATURAL JOIN is not supported"},
      {"SELECT a FROM t ASOF JOIN u ON x", "ASOF JOIN is not supported; write"},
      {"SELECT a FROM t LEFT SEMI JOIN u ON x", "column 22: SEMI and ANTI joins"},
      {"SELECT a FROM t ANTI JOIN u ON x", "SEMI and ANTI joins are not supported; write"},
      {"SELECT a FROM t POSITIONAL JOIN u", "POSITIONAL JOIN is not supported; write"},
      {"SELECT a FROM t, LATERAL (SELECT b FROM u) v", "column 18: LATERAL is not supported"},
      {"SELECT a FROM (VALUES (1)) v", "column 16: VALUES is not supported; register"},
      {"SELECT a FROM unnest(b)", "column 21: table functions are not supported"},
      {"SELECT a FROM t JOIN 'u.csv' ON x", "column 22: a file cannot be queried"},
      {"SELECT a FROM t AS u(b)", "column 21: names for the columns of a table"},
      {"SELECT a FROM (t JOIN u ON x) v", "column 31: a name for joins in parentheses"},
      {"SELECT a FROM $1", "column 15: parameters are not supported"},
      {"SELECT a FROM t GROUP BY ROLLUP(a, CUBE(b))", "column 36: grouping sets inside of"},
      {"SELECT a FROM t GROUP BY GROUPING SETS (GROUPING SETS ((a)))", "grouping sets inside"},
      {"SELECT a FROM t GROUP BY (a, b)", "rows of several values are not supported"},
      {"SELECT a FROM t GROUP BY a WITH ROLLUP", "write GROUP BY ROLLUP(a, b)"},
      {"SELECT a FROM t GROUP BY DISTINCT a", "GROUP BY DISTINCT is not supported; leave"},
      {"SELECT a FROM t ORDER BY ALL", "ORDER BY ALL is not supported; write"},
      {"SELECT a FROM t ORDER BY a USING <", "ORDER BY ... USING is not supported"},
      {"SELECT a FROM t FETCH FIRST 1 ROW ONLY", "FETCH is not supported; write LIMIT"},
      {"SELECT a FROM t WINDOW w AS ()", "window functions are not supported"},
      {"SELECT a FROM t QUALIFY b", "QUALIFY is not supported; filter"},
      {"SELECT a FROM (SELECT b FROM t UNION SELECT c FROM u) v", "column 32: UNION, EXCEPT"},
      {"SELECT a FROM (t PIVOT (b)) v", "PIVOT is not supported; write GROUP BY"},
      {"WITH RECURSIVE x AS (SELECT 1) SELECT a FROM x", "column 6: recursion is not supported"},
      {"WITH x AS MATERIALIZED (SELECT 1) SELECT a FROM x", "MATERIALIZED is not supported"},
      {"EXPLAIN SELECT a FROM t", "column 9: EXPLAIN alone is not supported; write EXPLAIN"},
      {"SELECT F(0.5) WITHIN GROUP (ORDER BY a) FROM t", "column 15: WITHIN GROUP is supported"},
      {"SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a DESC) FROM t", "descending order"},
      {"SELECT a, b => 1 FROM t", "column 13: a named argument stands inside of a function"},
      {"SELECT POSITION(a IN b) FROM t", "POSITION(...) is no ordinary function"},
      {"SELECT ROLLUP(a) FROM t", "ROLLUP(...) is no ordinary function"},
  };
  for (const auto& [query, fragment] : cases) {
    const Error error = failure(query);
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << query << '\n' << error.what();
    EXPECT_NE(std::string(error.what()).find(fragment), std::string::npos)
        << "wanted: " << fragment << "\ngot: " << error.what();
    EXPECT_NE(std::string(error.what()).find("; "), std::string::npos) << error.what();
  }
}

TEST(Parser, TakesOnlySelect) {
  for (const std::string statement : {"INSERT INTO t VALUES (1)",
                                      "UPDATE t SET a = 1",
                                      "DELETE FROM t",
                                      "CREATE TABLE t (a INT)",
                                      "DROP TABLE t",
                                      "SET a = 1",
                                      "PRAGMA x",
                                      "ATTACH 'x'",
                                      "COPY t TO 'x'",
                                      "VALUES (1)",
                                      "MERGE INTO t",
                                      "INSTALL x",
                                      "LOAD x",
                                      "EXPORT DATABASE 'x'",
                                      "CALL f()",
                                      "DESCRIBE t",
                                      "TABLE t",
                                      "TRUNCATE t",
                                      "ALTER TABLE t ADD COLUMN a INT",
                                      "BEGIN",
                                      "grant all to me"}) {
    const Error error = failure(statement);
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << statement;
    EXPECT_NE(std::string(error.what()).find("line 1, column 1: only SELECT is supported"),
              std::string::npos)
        << error.what();
  }
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += piece;
  return text;
}

TEST(ParserLimits, Nesting) {
  const auto nested = [](std::string_view open, std::string_view close, std::size_t count) {
    return repeated(open, count) + "a" + repeated(close, count);
  };
  const std::vector<std::pair<std::string, std::string>> shapes = {
      {"(", ")"},
      {"-", ""},
      {"NOT ", ""},
      {"f(", ")"},
      {"CASE WHEN ", " THEN 1 END"},
      {"CASE ", " WHEN 1 THEN 1 END"},
      {"CAST(", " AS INT)"},
      {"1 IN (", ")"},
      {"1 + (", ")"},
      {"", " + 1"},
      {"", " AND b"},
      {"", "::int"},
      {"", " IS NULL"},
      {"1 BETWEEN (", ") AND 2"},
  };
  for (const auto& [open, close] : shapes) {
    const auto space = open == "-" ? std::string("- ") : open;
    EXPECT_NO_THROW(parse_expression(nested(space, close, 199))) << open << close;
    for (const std::size_t count : {std::size_t{201}, 60'000 / (space.size() + close.size())}) {
      const std::string text = nested(space, close, count);
      try {
        parse_expression(text);
        ADD_FAILURE() << "no error for " << open << close;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::parse_error);
        EXPECT_NE(std::string(error.what()).find("nested more than 200 deep"), std::string::npos)
            << error.what();
      }
    }
  }
  EXPECT_THROW(parse_query(std::string(65'000, '(')), Error);
  EXPECT_THROW(parse_expression(std::string(65'000, '(')), Error);
}

TEST(ParserLimits, Lists) {
  const auto list = [](std::size_t count) { return "a IN (" + repeated("1,", count - 1) + "1)"; };
  EXPECT_EQ(parse_expression(list(kMaxListItems)).get_if<InList>()->items.size(), kMaxListItems);
  EXPECT_THROW(parse_expression(list(kMaxListItems + 1)), Error);
  const auto select = [](std::size_t count) {
    return "SELECT " + repeated("1,", count - 1) + "1 FROM t";
  };
  EXPECT_EQ(parse_query(select(kMaxListItems)).items.size(), kMaxListItems);
  EXPECT_THROW(parse_query(select(kMaxListItems + 1)), Error);
}

TEST(SyntaxLimits, ATreeCannotBecomeTooDeep) {
  Expression expression = parse_expression("a");
  for (std::size_t depth = 1; depth < kMaxTreeDepth; ++depth) {
    expression = Expression(Unary{UnaryOperator::minus, expression});
  }
  EXPECT_EQ(expression.depth(), kMaxTreeDepth);
  const Expression copy = expression;
  EXPECT_EQ(copy, expression);
  EXPECT_FALSE(print(expression, Dialect::duckdb).empty());
  EXPECT_THROW(Expression(Unary{UnaryOperator::minus, expression}), Error);
}

}  // namespace
}  // namespace shoal::sql
