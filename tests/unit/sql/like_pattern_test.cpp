// LIKE as engines get it: the same meaning, and no engine tries a split of a text again.
#include "support/like_reference.hpp"
#include "unit/sql/duckdb_runner.hpp"

#include <shoal/base/error.hpp>
#include <shoal/sql/parser.hpp>
#include <shoal/sql/pattern.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shoal::sql {
namespace {

std::string like(const std::string& pattern, bool negated = false) {
  return fmt::format("s {}LIKE {}", negated ? "NOT " : "", quote_string(pattern, Dialect::shoal));
}

std::string printed(const std::string& text, Dialect dialect) {
  return print(parse_expression(text), dialect);
}

TEST(LikePattern, StaysLikeWhereNoSplitIsTriedAgain) {
  const std::vector<std::pair<std::string, std::string>> plain = {
      {"", ""},         {"abc", "abc"},  {"%", "%"},         {"%%", "%"},    {"a%", "a%"},
      {"%a", "%a"},     {"%a%", "%a%"},  {"a%b%", "a%b%"},   {"%_%", "_%"},  {"_%_", "__%"},
      {"%__%%", "__%"}, {"a%%b", "a%b"}, {"%_a%_", "_%a_%"}, {"a_b", "a_b"}, {"a\\%", "a\\%"}};
  for (const auto& [written, same] : plain) {
    EXPECT_EQ(printed(like(written), Dialect::duckdb),
              fmt::format("\"s\" LIKE {}", quote_string(same, Dialect::duckdb)));
    EXPECT_EQ(printed(like(written, true), Dialect::postgresql),
              fmt::format("\"s\" NOT LIKE {} ESCAPE ''", quote_string(same, Dialect::postgresql)));
    EXPECT_NO_THROW(printed(like(written), Dialect::spark)) << written;
  }
}

TEST(LikePattern, IsARegularExpressionWhereOneWouldBe) {
  EXPECT_EQ(printed(like("%a%b"), Dialect::duckdb), "REGEXP_FULL_MATCH(\"s\", '.*a.*b', 's')");
  EXPECT_EQ(printed(like("%a%b"), Dialect::postgresql), "REGEXP_LIKE(\"s\", '^(.*a.*b)$')");
  EXPECT_EQ(printed(like("a%b%c", true), Dialect::duckdb),
            "NOT REGEXP_FULL_MATCH(\"s\", 'a.*b.*c', 's')");
  EXPECT_EQ(printed(like("%.%(%"), Dialect::duckdb),
            "REGEXP_FULL_MATCH(\"s\", '.*\\..*\\(.*', 's')");
  EXPECT_EQ(printed(like("%a%b"), Dialect::shoal), "\"s\" LIKE '%a%b'");
  try {
    printed(like("%a%b"), Dialect::spark);
    ADD_FAILURE() << "Spark's own goes back";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("CONTAINS"), std::string::npos);
  }
}

// DuckDB's optimiser makes LIKE of regular expressions where it can: not of these.
TEST(LikePattern, DuckdbDoesNotMakeLikeOfItAgain) {
  testing::DuckdbRunner duckdb;
  duckdb.run("CREATE TABLE t AS SELECT 'x' AS s");
  const auto plan = [&](const std::string& condition) {
    return duckdb.run("EXPLAIN SELECT COUNT(*) FROM t WHERE " + condition).at(0).at(1).value();
  };
  EXPECT_NE(plan("regexp_matches(s, '^.*.a.*.b$', 's')").find("~~"), std::string::npos);
  for (const std::string& text :
       {like("%_a%_a%_b"), like("%a%b"), std::string("REGEXP_MATCHES(s, '^.*.a.*.b$')"),
        std::string("REGEXP_MATCHES(s, 'a.*b.*c')"), std::string("REGEXP_MATCHES(s, 'a.b')")}) {
    const std::string shown = plan(printed(text, Dialect::duckdb));
    EXPECT_EQ(shown.find("~~"), std::string::npos) << shown;
    EXPECT_NE(shown.find("regexp"), std::string::npos) << shown;
  }
}

// On DuckDB's own LIKE this would take longer than anybody waits.
TEST(LikePattern, OneLongTextDoesNotTakeLong) {
  testing::DuckdbRunner duckdb;
  duckdb.run("CREATE TABLE t AS SELECT repeat('a', 100000) AS s");
  for (const std::string& text :
       {like("%_a%_a%_a%_a%_b"), std::string("REGEXP_MATCHES(s, '^.*.a.*.a.*.a.*.a.*.b$')")}) {
    EXPECT_EQ(duckdb.run("SELECT " + printed(text, Dialect::duckdb) + " FROM t").at(0).at(0),
              "false");
  }
}

TEST(LikePattern, MeansTheSameInDuckdb) {
  testing::DuckdbRunner duckdb;
  test::LikeGenerator generator(20261117);
  std::vector<std::string> texts;
  std::string values;
  for (int i = 0; i < 200; ++i) {
    texts.push_back(generator.text());
    values += fmt::format("{}({}, {})", i == 0 ? "" : ", ", i,
                          quote_string(texts.back(), Dialect::duckdb));
  }
  duckdb.run("CREATE TABLE t AS SELECT * FROM (VALUES " + values + ") v(i, s)");
  int matched = 0;
  int expressions = 0;
  for (int round = 0; round < 3'000; ++round) {
    const std::string pattern = generator.pattern();
    const std::string condition = printed(like(pattern), Dialect::duckdb);
    if (condition.find("LIKE") == std::string::npos) ++expressions;
    const auto rows = duckdb.run("SELECT " + condition + " FROM t ORDER BY i");
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool expected = test::matches_like(texts[i], pattern);
      matched += expected ? 1 : 0;
      ASSERT_EQ(rows[i][0], expected ? "true" : "false") << texts[i] << " LIKE " << pattern;
    }
  }
  EXPECT_GT(matched, 10'000);
  EXPECT_GT(expressions, 800);
}

TEST(LikePattern, TheLargestCompiles) {
  testing::DuckdbRunner duckdb;
  std::string pattern = "%a%";
  while (pattern.size() < 999) pattern += '_';
  EXPECT_EQ(like_fault(pattern + "%"), std::nullopt);
  EXPECT_NO_THROW(duckdb.run("SELECT " + printed(like(pattern + "%b"), Dialect::duckdb) +
                             " FROM (VALUES ('a'), (repeat('a', 3000))) t(s)"));
  EXPECT_NE(like_fault(pattern + "_%bcd"), std::nullopt);
  EXPECT_THROW(printed(like(pattern + "_%bcd"), Dialect::duckdb), Error);
  // One that stays LIKE may be as long as a question.
  EXPECT_EQ(like_fault("%" + std::string(5'000, 'a') + "%"), std::nullopt);
}

}  // namespace
}  // namespace shoal::sql
