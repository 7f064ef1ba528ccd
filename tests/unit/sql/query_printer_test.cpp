#include "support/code_of.hpp"

#include <shoal/base/error.hpp>
#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace shoal::sql {
namespace {

using test::code_of;

std::string printed(std::string_view text, Dialect dialect) {
  return print(parse_query(text), dialect);
}

TEST(QueryPrinter, PrintsForEachDialect) {
  const std::string text =
      "WITH w (x) AS (SELECT 1) SELECT DISTINCT *, t.*, SUM(a) FILTER (WHERE b) AS s "
      "FROM w, (SELECT 2) AS d JOIN t USING (x) WHERE EXTRACT(DOY FROM c) = 3 "
      "GROUP BY ROLLUP(a, b), GROUPING SETS (c, ()) HAVING e ORDER BY f DESC, g LIMIT 1 OFFSET 2";
  EXPECT_EQ(printed(text, Dialect::shoal),
            R"(WITH "w" ("x") AS (SELECT 1) SELECT DISTINCT *, "t".*, )"
            R"(SUM("a") FILTER (WHERE "b") AS "s" FROM "w" CROSS JOIN ((SELECT 2) AS "d" )"
            R"(JOIN "t" USING ("x")) WHERE EXTRACT(DOY FROM "c") = 3 )"
            R"(GROUP BY ROLLUP (("a"), ("b")), GROUPING SETS (("c"), ()) HAVING "e" )"
            R"(ORDER BY "f" DESC, "g" LIMIT 1 OFFSET 2)");
  const std::string spark = printed(text, Dialect::spark);
  EXPECT_NE(spark.find("FROM `w` CROSS JOIN ((SELECT 2) AS `d` JOIN `t` USING (`x`))"),
            std::string::npos)
      << spark;
}

// Or its planner writes each of them into the next, and a few fill the memory of a server.
TEST(QueryPrinter, HasPostgresqlComputeSubqueriesFirst) {
  EXPECT_EQ(printed("SELECT c FROM (SELECT b + 1 AS c FROM (SELECT b FROM t) AS s) AS u",
                    Dialect::postgresql),
            R"(SELECT "c" FROM (SELECT "b" + 1 AS "c" FROM (SELECT "b" FROM "t") AS "s" OFFSET 0) )"
            R"(AS "u")");
  for (const char* apart : {"SELECT c FROM (SELECT DISTINCT b + 1 AS c FROM t) AS u",
                            "SELECT c FROM (SELECT SUM(b) AS c FROM t GROUP BY a) AS u",
                            "SELECT c FROM (SELECT b + 1 AS c FROM t LIMIT 3) AS u"})
    EXPECT_EQ(printed(apart, Dialect::postgresql).find("OFFSET"), std::string::npos) << apart;
  EXPECT_EQ(printed("SELECT c FROM (SELECT b + 1 AS c FROM t) AS u", Dialect::duckdb),
            R"(SELECT "c" FROM (SELECT "b" + 1 AS "c" FROM "t") AS "u")");
}

// Engines disagree on where NULLs come; the language says last.
TEST(QueryPrinter, SaysWhereNullsCome) {
  const std::string text = "SELECT a FROM t ORDER BY a DESC, b NULLS FIRST, c NULLS LAST";
  EXPECT_EQ(printed(text, Dialect::postgresql),
            R"(SELECT "a" FROM "t" ORDER BY "a" DESC NULLS LAST, "b" NULLS FIRST, "c" NULLS LAST)");
  EXPECT_EQ(printed(text, Dialect::spark),
            "SELECT `a` FROM `t` ORDER BY `a` DESC NULLS LAST, `b` NULLS FIRST, `c` NULLS LAST");
  EXPECT_EQ(printed(text, Dialect::duckdb),
            R"(SELECT "a" FROM "t" ORDER BY "a" DESC, "b" NULLS FIRST, "c" NULLS LAST)");
}

TEST(QueryPrinter, RefusesWhatADialectLacks) {
  const std::vector<std::pair<std::string, Dialect>> cases = {
      {"SELECT a FROM t GROUP BY ALL", Dialect::postgresql},
      {"SELECT a FROM (SELECT b FROM t)", Dialect::postgresql},
      {"EXPLAIN PRIVACY SELECT a FROM t", Dialect::postgresql},
      {"EXPLAIN PRIVACY SELECT a FROM t", Dialect::spark},
      {"SELECT WITH DIFFERENTIAL_PRIVACY a FROM t", Dialect::postgresql},
      {"SELECT a FROM (SELECT WITH DIFFERENTIAL_PRIVACY a FROM t) u", Dialect::spark},
      {"SELECT SUM(a, bounds => AUTO) FROM t", Dialect::postgresql},
      {"SELECT SUM(a, bounds => AUTO) FROM t", Dialect::spark},
  };
  for (const auto& [text, dialect] : cases) {
    EXPECT_EQ(code_of([&text = text, dialect = dialect] { printed(text, dialect); }),
              ErrorCode::unsupported)
        << text;
    EXPECT_NO_THROW(printed(text, Dialect::duckdb)) << text;
  }
  EXPECT_EQ(printed("SELECT a FROM t GROUP BY ALL", Dialect::spark),
            "SELECT `a` FROM `t` GROUP BY ALL");
}

TEST(QueryPrinter, ChecksTreesThatTheParserWouldNotMake) {
  const Query good = parse_query("SELECT a FROM t JOIN u ON x GROUP BY a LIMIT 1");
  const auto changed = [&good](const std::function<void(Query&)>& change) {
    Query query = good;
    change(query);
    return query;
  };
  const Join join = *good.from->get_if<Join>();
  const auto from = [](Join made) { return [made](Query& q) { q.from = Relation(made); }; };
  const std::vector<Query> bad = {
      changed([](Query& q) { q.items.clear(); }),
      changed([](Query& q) { q.items[0].star_table = Identifier{"t"}; }),
      changed([](Query& q) {
        q.items[0].expression.reset();
        q.items[0].alias = Identifier{"t"};
      }),
      changed([](Query& q) { q.group_by->elements.clear(); }),
      changed([](Query& q) { q.group_by->all = true; }),
      changed([](Query& q) { q.group_by->elements[0].sets.clear(); }),
      changed([](Query& q) { q.group_by->elements[0].sets[0].clear(); }),
      changed([](Query& q) {
        q.group_by->elements[0] = {GroupingKind::rollup, {{}}};
      }),
      changed([](Query& q) {
        q.group_by->elements[0] = {GroupingKind::sets, {}};
      }),
      changed([](Query& q) { q.limit = parse_expression("1 + 1"); }),
      changed([](Query& q) { q.offset = parse_expression("1.5"); }),
      changed([](Query& q) {
        q.with.push_back({Identifier{"x"}, {}, nullptr});
      }),
      changed([&good](Query& q) {
        Query inner = good;
        inner.explain = true;
        q.with.push_back({Identifier{"x"}, {}, std::make_shared<const Query>(inner)});
      }),
      changed(from({JoinKind::cross, join.left, join.right, join.on})),
      changed(from({JoinKind::left, join.left, join.right})),
      changed(from({JoinKind::inner, join.left, join.right, join.on, {Identifier{"a"}}})),
  };
  EXPECT_NO_THROW(print(good, Dialect::postgresql));
  for (std::size_t i = 0; i < bad.size(); ++i) {
    EXPECT_EQ(code_of([&] { print(bad[i], Dialect::duckdb); }), ErrorCode::invalid_argument) << i;
  }
}

TEST(QueryPrinter, ChecksCalls) {
  const auto call = [](const std::function<void(Call&)>& change) {
    Call made{"SUM", {parse_expression("a")}};
    change(made);
    return Expression(made);
  };
  const Expression year(Literal{LiteralKind::string, "YEAR"});
  const std::vector<Expression> bad = {
      call([](Call& c) { c.star = true; }),
      call([](Call& c) {
        c.distinct = true;
        c.arguments.clear();
      }),
      call([](Call& c) {
        c.named.push_back({Identifier{"x"}, {}});
      }),
      call([](Call& c) { c.name = "EXTRACT"; }),
      call([](Call& c) { c.name = "ROLLUP"; }),
      call([](Call& c) { c.name = "OPTIONS"; }),
      Expression(Call{"EXTRACT", {year, year}, false, true}),
      Expression(Call{"EXTRACT", {year, year, year}}),
      Expression(Call{"EXTRACT", {Expression(Literal{LiteralKind::string, "X FROM a) --"}), year}}),
  };
  for (const Expression& expression : bad) {
    EXPECT_EQ(code_of([&] { print(expression, Dialect::duckdb); }), ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace shoal::sql
