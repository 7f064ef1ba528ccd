#include "support/paths.hpp"

#include <shoal/base/error.hpp>
#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace shoal::sql {
namespace {

std::string repeated(std::string_view piece, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += piece;
  return text;
}

TEST(QueryParser, ReadsEveryClause) {
  const Query query = parse_query(
      "EXPLAIN PRIVACY WITH old (who, n) AS (SELECT id, age FROM people) "
      "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1.5, noise = LAPLACE) DISTINCT "
      "city, COUNT(*) AS n, t.*, * FROM old o JOIN t ON o.who = t.id WHERE a > 1 "
      "GROUP BY city, 2 HAVING n > 3 ORDER BY n DESC NULLS FIRST, 1 LIMIT 10 OFFSET 5;");
  EXPECT_TRUE(query.explain);
  ASSERT_EQ(query.with.size(), 1U);
  EXPECT_EQ(query.with[0].name.name, "old");
  EXPECT_EQ(query.with[0].columns, (std::vector<Identifier>{{"who"}, {"n"}}));
  EXPECT_FALSE(query.with[0].query->explain);
  EXPECT_EQ(query.with[0].query->items.size(), 2U);
  ASSERT_TRUE(query.privacy);
  ASSERT_EQ(query.privacy->options.size(), 2U);
  EXPECT_EQ(query.privacy->options[0].name.name, "epsilon");
  EXPECT_EQ(query.privacy->options[0].value, parse_expression("1.5"));
  EXPECT_EQ(query.privacy->options[1].value, parse_expression("LAPLACE"));
  EXPECT_TRUE(query.distinct);
  ASSERT_EQ(query.items.size(), 4U);
  EXPECT_EQ(*query.items[0].expression, parse_expression("city"));
  EXPECT_EQ(query.items[1].alias->name, "n");
  EXPECT_FALSE(query.items[2].expression);
  EXPECT_EQ(query.items[2].star_table->name, "t");
  EXPECT_EQ(query.items[2].position.column, 170U);
  EXPECT_FALSE(query.items[3].expression);
  EXPECT_FALSE(query.items[3].star_table);
  const Join* join = query.from->get_if<Join>();
  ASSERT_NE(join, nullptr);
  EXPECT_EQ(join->kind, JoinKind::inner);
  EXPECT_EQ(join->left.get_if<TableReference>()->alias->name, "o");
  EXPECT_EQ(*join->on, parse_expression("o.who = t.id"));
  EXPECT_EQ(*query.where, parse_expression("a > 1"));
  ASSERT_EQ(query.group_by->elements.size(), 2U);
  EXPECT_EQ(query.group_by->elements[1].kind, GroupingKind::expression);
  EXPECT_EQ(query.group_by->elements[1].sets[0][0], parse_expression("2"));
  EXPECT_EQ(*query.having, parse_expression("n > 3"));
  ASSERT_EQ(query.order_by.size(), 2U);
  EXPECT_TRUE(query.order_by[0].descending);
  EXPECT_EQ(query.order_by[0].nulls, NullsOrder::first);
  EXPECT_FALSE(query.order_by[1].descending);
  EXPECT_EQ(query.order_by[1].nulls, NullsOrder::unsaid);
  EXPECT_EQ(*query.limit, parse_expression("10"));
  EXPECT_EQ(*query.offset, parse_expression("5"));
}

// The text is printed in full, so that each case shows its whole tree.
TEST(QueryParser, ReadsWhatIsWritten) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"select a", R"(SELECT "a")"},
      {"select all a from t", R"(SELECT "a" FROM "t")"},
      {"select a from t offset 2 limit 3", R"(SELECT "a" FROM "t" LIMIT 3 OFFSET 2)"},
      {"select a from t, u", R"(SELECT "a" FROM "t" CROSS JOIN "u")"},
      {"select a from t, u join v on x, w",
       R"(SELECT "a" FROM "t" CROSS JOIN ("u" JOIN "v" ON "x") CROSS JOIN "w")"},
      {"select a from t left outer join u using (x, y) right join v on x full join w on y",
       R"(SELECT "a" FROM "t" LEFT JOIN "u" USING ("x", "y") RIGHT JOIN "v" ON "x" FULL JOIN "w" ON "y")"},
      {"select a from t cross join (u inner join v on x)",
       R"(SELECT "a" FROM "t" CROSS JOIN ("u" JOIN "v" ON "x"))"},
      {"select a from ((t join u on x))", R"(SELECT "a" FROM "t" JOIN "u" ON "x")"},
      {"select a from (select b from t)", R"(SELECT "a" FROM (SELECT "b" FROM "t"))"},
      {"select a from ((select b from t)) as x", R"(SELECT "a" FROM (SELECT "b" FROM "t") AS "x")"},
      {"select a from (with x as (select 1) select b from x limit 1) y",
       R"(SELECT "a" FROM (WITH "x" AS (SELECT 1) SELECT "b" FROM "x" LIMIT 1) AS "y")"},
      {"with x as (select with differential_privacy a from t), y as (select 1) select b from x, y",
       R"(WITH "x" AS (SELECT WITH DIFFERENTIAL_PRIVACY "a" FROM "t"), "y" AS (SELECT 1) SELECT "b" FROM "x" CROSS JOIN "y")"},
      {"select a from t group by all", R"(SELECT "a" FROM "t" GROUP BY ALL)"},
      {"select a from t group by ()", R"(SELECT "a" FROM "t" GROUP BY GROUPING SETS (()))"},
      {"select a from t group by a, rollup(a, (b, c + 1)), cube(d), grouping sets ((a), b, ())",
       R"(SELECT "a" FROM "t" GROUP BY "a", ROLLUP (("a"), ("b", "c" + 1)), CUBE (("d")), GROUPING SETS (("a"), ("b"), ()))"},
      {"select a from t group by (a + 1) * 2, rollup, grouping(a)",
       R"(SELECT "a" FROM "t" GROUP BY ("a" + 1) * 2, "rollup", GROUPING("a"))"},
      {"select a from t order by a asc nulls last, b + 1 desc",
       R"(SELECT "a" FROM "t" ORDER BY "a" NULLS LAST, "b" + 1 DESC)"},
      {"select with differential_privacy options() a from t",
       R"(SELECT WITH DIFFERENTIAL_PRIVACY "a" FROM "t")"},
      {"select with differential_privacy options from t",
       R"(SELECT WITH DIFFERENTIAL_PRIVACY "options" FROM "t")"},
      {"select with differential_privacy options(a = -1, b = t.id, c = null) * from t",
       R"(SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS("a" = -1, "b" = "t"."id", "c" = NULL) * FROM "t")"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(print(parse_query(text), Dialect::shoal), expected);
    EXPECT_EQ(parse_query(expected), parse_query(text));
  }
}

TEST(QueryParser, ReadsCalls) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"count(*, contribution_bounds_per_group => (0, 100))",
       R"(COUNT(*, "contribution_bounds_per_group" => (0, 100)))"},
      {"sum(x, bounds => auto)", R"(SUM("x", "bounds" => "auto"))"},
      {"sum(distinct x, a => (1), b => -2, c => (1 + 2) )",
       R"(SUM(DISTINCT "x", "a" => 1, "b" => -2, "c" => (1 + 2)))"},
      {"f(a => 1)", R"(F("a" => 1))"},
      {"sum(x) filter (where y > 1) + 1", R"(SUM("x") FILTER (WHERE "y" > 1) + 1)"},
      {"percentile_cont(0.5) within group (order by x asc)", R"(PERCENTILE_CONT("x", 0.5))"},
      {"quantile_cont(x, 0.5) filter (where y)", R"(QUANTILE_CONT("x", 0.5) FILTER (WHERE "y"))"},
      {"extract(year from x + y)", R"(EXTRACT(YEAR FROM "x" + "y"))"},
      {"substring(x from 2 for 3)", R"(SUBSTRING("x", 2, 3))"},
      {"substring(x from 2)", R"(SUBSTRING("x", 2))"},
      {"safe_cast(x as bigint)", R"(TRY_CAST("x" AS BIGINT))"},
      {"safe_cast + extract + filter", R"("safe_cast" + "extract" + "filter")"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(print(parse_expression(text), Dialect::shoal), expected);
    EXPECT_EQ(parse_expression(expected), parse_expression(text));
  }
  EXPECT_EQ(parse_query("SELECT COUNT(*) filter FROM t").items[0].alias->name, "filter");
  EXPECT_EQ(parse_query("SELECT COUNT(*) within FROM t").items[0].alias->name, "within");
}

TEST(QueryParser, ReadsTheExampleOfItsReference) {
  std::ifstream file(test::source_folder() + "/docs/reference/sql.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t begin = page.find("```sql\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string example = page.substr(begin + 7, page.find("```", begin + 7) - begin - 7);
  EXPECT_TRUE(parse_query(example).privacy);
}

TEST(QueryParser, KeepsPositions) {
  const Query query = parse_query("SELECT a FROM t\n  LEFT JOIN (SELECT 1) u ON x, v");
  EXPECT_EQ(query.items[0].position, (Position{1, 8, 7}));
  EXPECT_EQ(query.from->position(), (Position{2, 30, 45}));
  const Join* comma = query.from->get_if<Join>();
  EXPECT_EQ(comma->left.position(), (Position{2, 8, 23}));
  const Join* left = comma->left.get_if<Join>();
  EXPECT_EQ(left->left.position(), (Position{1, 15, 14}));
  EXPECT_EQ(left->right.position(), (Position{2, 13, 28}));
}

TEST(QueryParser, ComparesTreesNotPositions) {
  const auto equal = [](std::string_view a, std::string_view b) {
    return parse_query(a) == parse_query(b);
  };
  EXPECT_TRUE(
      equal("SELECT a FROM t u JOIN v ON x", "SELECT  \"a\" FROM t AS u INNER JOIN v ON x"));
  const std::string base = "SELECT a FROM (SELECT b FROM t) u GROUP BY a ORDER BY a LIMIT 1";
  for (const char* other :
       {"SELECT a FROM (SELECT c FROM t) u GROUP BY a ORDER BY a LIMIT 1",
        "SELECT a FROM (SELECT b FROM t) v GROUP BY a ORDER BY a LIMIT 1",
        "SELECT a FROM (SELECT b FROM t) u GROUP BY CUBE(a) ORDER BY a LIMIT 1",
        "SELECT a FROM (SELECT b FROM t) u GROUP BY a ORDER BY a DESC LIMIT 1",
        "SELECT a FROM (SELECT b FROM t) u GROUP BY a ORDER BY a LIMIT 2",
        "SELECT DISTINCT a FROM (SELECT b FROM t) u GROUP BY a ORDER BY a LIMIT 1",
        "SELECT * FROM (SELECT b FROM t) u GROUP BY a ORDER BY a LIMIT 1"}) {
    EXPECT_FALSE(equal(base, other)) << other;
  }
  EXPECT_FALSE(equal("WITH a AS (SELECT 1) SELECT b", "WITH a AS (SELECT 2) SELECT b"));
  EXPECT_FALSE(equal("SELECT a FROM t JOIN u ON x", "SELECT a FROM t LEFT JOIN u ON x"));
  EXPECT_FALSE(equal("SELECT a.* FROM a", "SELECT b.* FROM a"));
}

TEST(QueryParserLimits, NestsOnlySoDeep) {
  const auto nested = [](std::string_view open, std::string_view close, std::size_t count) {
    return repeated(open, count) + "SELECT a FROM t" + repeated(close, count);
  };
  // Each level of a query in FROM is two of the tree, the relation and the query.
  EXPECT_NO_THROW(parse_query(nested("SELECT a FROM (", ")", 98)));
  EXPECT_NO_THROW(parse_query("SELECT a FROM t" + repeated(" JOIN t ON x", 198)));
  EXPECT_NO_THROW(parse_query("SELECT a FROM " + repeated("(", 200) + "t" + repeated(")", 200)));
  EXPECT_NO_THROW(
      parse_query("SELECT a FROM (SELECT b FROM t WHERE " + repeated("- ", 196) + "a)"));
  for (const std::string& text : {
           nested("SELECT a FROM (", ")", 100),
           nested("SELECT a FROM (", ")", 3'000),
           nested("SELECT a FROM (", "", 4'000),
           nested("WITH a AS (", ") SELECT 1", 200),
           nested("WITH a AS (", ") SELECT 1", 2'000),
           "SELECT a FROM t" + repeated(" JOIN t ON x", 199),
           "SELECT a FROM t" + repeated(" JOIN t ON x", 5'000),
           "SELECT a FROM t" + repeated(",t", 10'000),
           "SELECT a FROM " + repeated("t JOIN (", 5'000),
           "SELECT a FROM " + repeated("(", 60'000),
           "SELECT a FROM (SELECT b FROM t WHERE " + repeated("- ", 197) + "a)",
       }) {
    try {
      parse_query(text);
      ADD_FAILURE() << "no error for " << text.substr(0, 60);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse_error);
      EXPECT_NE(std::string(error.what()).find("nested more than 200 deep"), std::string::npos)
          << error.what();
    }
  }
}

TEST(QueryParserLimits, Lists) {
  const auto listed = [](std::string head, std::string_view item, std::size_t count,
                         std::string_view tail) {
    head += item;
    for (std::size_t i = 1; i < count; ++i) head.append(",").append(item);
    return head.append(tail);
  };
  const std::vector<std::pair<std::string, std::string>> lists = {
      {"SELECT a FROM t GROUP BY ", ""},          {"SELECT a FROM t GROUP BY GROUPING SETS (", ")"},
      {"SELECT a FROM t GROUP BY CUBE ((", "))"}, {"SELECT a FROM t ORDER BY ", ""},
      {"SELECT a FROM t JOIN u USING (", ")"},    {"SELECT f(", ") FROM t"},
      {"WITH a (", ") AS (SELECT 1) SELECT a"},
  };
  for (const auto& [head, tail] : lists) {
    EXPECT_NO_THROW(parse_query(listed(head, "a", kMaxListItems, tail))) << head;
    EXPECT_THROW(parse_query(listed(head, "a", kMaxListItems + 1, tail)), Error) << head;
  }
  EXPECT_NO_THROW(
      parse_query(listed("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(", "a=1", 1'000, ") a FROM t")));
}

TEST(QueryLimits, ATreeCannotBecomeTooDeep) {
  Relation relation(TableReference{Identifier{"t"}});
  const auto join = [](const Relation& left) {
    return Join{JoinKind::cross, left, Relation(TableReference{Identifier{"u"}})};
  };
  for (std::size_t depth = 1; depth < kMaxTreeDepth; ++depth) relation = Relation(join(relation));
  EXPECT_EQ(relation.depth(), kMaxTreeDepth);
  EXPECT_THROW(Relation(join(relation)), Error);
  EXPECT_EQ(depth(parse_query("SELECT a FROM (SELECT b FROM t WHERE c)")), 4U);
  EXPECT_EQ(depth(parse_query("WITH x AS (SELECT a + 1) SELECT 1")), 4U);
  EXPECT_EQ(depth(parse_query("SELECT 1 GROUP BY CUBE(a, (b, c + d * e))")), 4U);
  EXPECT_EQ(depth(parse_query("SELECT f(a => -b), 1")), 4U);
  EXPECT_EQ(depth(parse_query("SELECT f(a) FILTER (WHERE -b)")), 4U);
  EXPECT_THROW(Relation(DerivedTable{}), Error);
}

}  // namespace
}  // namespace shoal::sql
