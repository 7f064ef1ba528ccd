// DuckDB's parser as the oracle on the language, which but for the privacy words is DuckDB's: it
// takes whatever we print, and reads the same tree from our sparing parentheses as from full ones.
#include "duckdb_oracle.hpp"

#include "random_queries.hpp"

#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

namespace shoal::sql {
namespace {

class DuckdbOracleTest : public ::testing::Test {
 protected:
  nlohmann::json tree(const std::string& query) {
    std::string reason;
    nlohmann::json parsed = oracle_.parse(query, reason);
    EXPECT_FALSE(parsed.is_null()) << query << '\n' << reason;
    return parsed;
  }

  testing::DuckdbOracle oracle_;
};

constexpr const char* kQueries[] = {
    "SELECT COUNT(*) FROM people",
    "SELECT count(*) AS n, SUM(age) total FROM people WHERE age >= 18 AND city = 'Paris'",
    "SELECT COUNT(DISTINCT city) FROM \"my people\" WHERE NOT a AND b OR c",
    "SELECT a = b IS NULL, a IS NOT NULL, NOT a IS NULL FROM t",
    "SELECT a = b IN (1, 2), a NOT IN ('x', 'it''s'), NOT a IN (b) FROM t",
    "SELECT a BETWEEN 1 AND 2 AND b, a NOT BETWEEN b + 1 AND c || d FROM t",
    "SELECT a LIKE 'x%' OR b NOT LIKE 'y_' || 'z' FROM t",
    "SELECT a < b || c + d * -e % f / g - h FROM t",
    "SELECT a - b - c, a / b * c, - - a, +a, -a::int, a + b::double precision FROM t",
    "SELECT 1, 0.5, .5, 1e3, 1.5E-3, TRUE, false, NULL, 'x' FROM t",
    "SELECT DATE '2024-01-31', TIMESTAMP '2024-01-31 12:30:00' FROM t",
    "SELECT CAST(a AS decimal(10, 2)), TRY_CAST(b AS bigint), c::text::date FROM t",
    "SELECT CASE WHEN a > 0 THEN 1 ELSE 0 END, CASE a WHEN 1 THEN 2 END FROM t",
    "SELECT t.a, \"t\".\"b\", left(a, 2), f() FROM t",
    "SELECT coalesce(a, b), nullif(a, b), substring(a, 1, 2), trim(a) FROM t",
    "SELECT 1",
    "SELECT *, t.*, \"t\".*, a FROM t AS u, v w",
    "SELECT DISTINCT a FROM t LEFT OUTER JOIN u ON x = y CROSS JOIN v RIGHT JOIN w USING (a, b)",
    "SELECT a FROM t, u JOIN v ON x, (w FULL JOIN y ON z)",
    "SELECT a FROM (SELECT b FROM t WHERE c LIMIT 1) AS u JOIN ((SELECT d)) v ON e",
    "WITH a AS (SELECT 1), b (c, d) AS (SELECT e, f FROM a) SELECT * FROM b",
    "SELECT a, COUNT(*) FROM t GROUP BY a, 2 HAVING COUNT(*) > 1 ORDER BY 2 DESC NULLS FIRST, a",
    "SELECT a FROM t GROUP BY ALL ORDER BY b ASC NULLS LAST LIMIT 10 OFFSET 2",
    "SELECT a FROM t GROUP BY GROUPING SETS ((a, b), c, ()), d",
    "SELECT a FROM t GROUP BY ROLLUP (a, b), CUBE (c)",
    "SELECT a FROM t GROUP BY ()",
    "SELECT grouping(a) FROM t GROUP BY ROLLUP (a)",
    "SELECT SUM(a) FILTER (WHERE b > 1) FROM t",
    "SELECT EXTRACT(YEAR FROM a), substring(a, 2, 3) FROM t",
    "SELECT COUNT(*, contribution_bounds_per_group => (0, 100)), SUM(x, bounds => AUTO) FROM t",
    "SELECT /* one /* two */ */ a -- three\nFROM t;",
};

// The text as it was written, read by DuckDB, is what DuckDB reads from our print of it: so both
// parsers agree on precedence. Names are the same in any case to DuckDB, but it keeps their
// spelling.
TEST_F(DuckdbOracleTest, ReadsTheWrittenTextAsWeDo) {
  for (const std::string query : kQueries) {
    const Query parsed = parse_query(query);
    EXPECT_EQ(tree(query), tree(print(parsed, Dialect::shoal))) << query;
    EXPECT_EQ(tree(query), tree(print(parsed, Dialect::shoal, Parentheses::all))) << query;
  }
}

TEST_F(DuckdbOracleTest, SeesADifferenceWhereThereIsOne) {
  EXPECT_NE(tree("SELECT a - (b - c) FROM t"), tree("SELECT a - b - c FROM t"));
  std::string reason;
  EXPECT_TRUE(oracle_.parse("SELECT FROM WHERE", reason).is_null());
  EXPECT_FALSE(reason.empty());
}

TEST_F(DuckdbOracleTest, ReadsTheSameFromSparingAndFullParentheses) {
  EXPECT_TRUE(rc::check([this] {
    const Query query = testing::random_query(testing::between(0, 4), testing::PrivacyWords::none);
    const std::string sparing = print(query, Dialect::shoal);
    const std::string full = print(query, Dialect::shoal, Parentheses::all);
    std::string reason;
    const nlohmann::json sparing_tree = oracle_.parse(sparing, reason);
    RC_LOG() << sparing << '\n' << full << '\n' << reason << '\n';
    RC_ASSERT(!sparing_tree.is_null());
    RC_ASSERT(sparing_tree == oracle_.parse(full, reason));
  }));
}

}  // namespace
}  // namespace shoal::sql
