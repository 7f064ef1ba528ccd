// LIKE as PostgreSQL gets it: the same meaning, and in time proportional to the text.
#include "support/like_reference.hpp"
#include "support/postgres_server.hpp"

#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shoal::test {
namespace {

std::string printed(const std::string& pattern) {
  return sql::print(sql::parse_expression(
                        fmt::format("s LIKE {}", sql::quote_string(pattern, sql::Dialect::shoal))),
                    sql::Dialect::postgresql);
}

TEST(PostgresLike, MeansWhatItMeansByTheBook) {
  PostgresServer& server = PostgresServer::instance();
  LikeGenerator generator(20261118);
  std::vector<std::string> texts;
  std::string values;
  for (int i = 0; i < 200; ++i) {
    texts.push_back(generator.text());
    values += fmt::format("{}({}, {})", i == 0 ? "" : ", ", i,
                          sql::quote_string(texts.back(), sql::Dialect::postgresql));
  }
  server.run("DROP TABLE IF EXISTS like_texts; CREATE TABLE like_texts (i INTEGER, s TEXT)");
  server.run("INSERT INTO like_texts VALUES " + values);
  for (int round = 0; round < 1'000; ++round) {
    const std::string pattern = generator.pattern();
    std::string expected;
    for (const std::string& text : texts) expected += matches_like(text, pattern) ? 't' : 'f';
    ASSERT_EQ(server.value(fmt::format(
                  "SELECT string_agg(CASE WHEN {} THEN 't' ELSE 'f' END, '' ORDER BY i) FROM "
                  "like_texts",
                  printed(pattern))),
              expected)
        << pattern;
  }
}

// PostgreSQL's own LIKE would take longer than anybody waits.
TEST(PostgresLike, OneLongTextDoesNotTakeLong) {
  PostgresServer& server = PostgresServer::instance();
  EXPECT_EQ(server.value(fmt::format("SELECT {} FROM (SELECT repeat('a', 100000) AS s) t",
                                     printed("%_a%_a%_a%_a%_b"))),
            "f");
  std::string pattern = "%a%";
  while (pattern.size() < 999) pattern += '_';
  EXPECT_EQ(server.value(fmt::format("SELECT {} FROM (SELECT repeat('a', 3000) AS s) t",
                                     printed(pattern + "%b"))),
            "f");
}

}  // namespace
}  // namespace shoal::test
