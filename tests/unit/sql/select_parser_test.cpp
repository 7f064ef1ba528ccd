#include <shoal/base/error.hpp>
#include <shoal/sql/parser.hpp>

#include <gtest/gtest.h>

namespace shoal::sql {
namespace {

TEST(SelectParser, ReadsASelect) {
  const Select select = parse_select(
      "SELECT COUNT(*), avg(p.Age) AS \"mean age\", 1 one FROM People WHERE x > 3 ; ;");
  ASSERT_EQ(select.items.size(), 3U);
  const Call* count = select.items[0].expression.get_if<Call>();
  ASSERT_NE(count, nullptr);
  EXPECT_EQ(count->name, "COUNT");
  EXPECT_TRUE(count->star);
  EXPECT_FALSE(select.items[0].alias);
  const Call* average = select.items[1].expression.get_if<Call>();
  ASSERT_NE(average, nullptr);
  EXPECT_EQ(average->name, "AVG");
  ASSERT_EQ(average->arguments.size(), 1U);
  EXPECT_EQ(average->arguments[0], Expression(ColumnReference{Identifier{"p"}, Identifier{"Age"}}));
  EXPECT_EQ(select.items[1].alias->name, "mean age");
  EXPECT_TRUE(select.items[1].alias->quoted);
  EXPECT_EQ(select.items[2].alias->name, "one");
  EXPECT_EQ(select.table.name, "People");
  EXPECT_FALSE(select.table.quoted);
  ASSERT_TRUE(select.where);
  const Binary* where = select.where->get_if<Binary>();
  ASSERT_NE(where, nullptr);
  EXPECT_EQ(where->operation, BinaryOperator::greater);
  EXPECT_EQ(select.where->position(), (Position{1, 70, 69}));
}

TEST(SelectParser, ReadsAQuotedTable) {
  const Select select = parse_select("select count(*) from \"my table\"");
  EXPECT_EQ(select.table.name, "my table");
  EXPECT_TRUE(select.table.quoted);
  EXPECT_FALSE(select.where);
}

// Whoever reads a Select would not see these, and answer another question.
TEST(SelectParser, RefusesWhatASelectDoesNotHold) {
  for (const char* query :
       {"SELECT COUNT(*) FROM t GROUP BY a", "SELECT COUNT(*) FROM t JOIN u ON x",
        "SELECT SUM(a) FILTER (WHERE b) FROM t", "SELECT SUM(a, b => 1) FROM t",
        "SELECT a FROM t WHERE f(g(a, b => 1))", "SELECT DISTINCT a FROM t", "SELECT * FROM t",
        "WITH x AS (SELECT 1) SELECT a FROM x", "SELECT a FROM t LIMIT 1",
        "SELECT a FROM (SELECT b FROM t)", "EXPLAIN PRIVACY SELECT a FROM t",
        "SELECT a FROM t u"}) {
    try {
      parse_select(query);
      ADD_FAILURE() << "no error for " << query;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << query << error.what();
    }
  }
}

}  // namespace
}  // namespace shoal::sql
