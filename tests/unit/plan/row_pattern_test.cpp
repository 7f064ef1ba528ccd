// Regular expressions: what is allowed compiles in the engine, and what does not compile is
// refused.
#include "support/row_fixture.hpp"
#include "support/seeded_source.hpp"

#include <shoal/sql/pattern.hpp>

#include <gtest/gtest.h>

namespace shoal::plan {
namespace {

using sql::pattern_fault;

bool compiles(test::RowDatabase& database, const std::string& pattern) {
  try {
    database.rows("SELECT regexp_matches(n, " + sql::quote_string(pattern, sql::Dialect::duckdb) +
                  ", 's') FROM (VALUES (''), ('abc'), (NULL)) t(n)");
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

TEST(RowPattern, AcceptsTheCommonOnes) {
  test::RowDatabase database;
  for (const char* pattern :
       {"a", "^[A-Z]+$", "[0-9]{3}-[0-9]{4}", "(a|b)*c", "(ab)+", "[0-9]+\\.[0-9][0-9]", "x.y",
        "[^,]+", "|a", "(|a)", "a{0,5}", "[0-9_ ]", "\xC3\xA9+", "\\\\", "a$|^b", "a{100}"}) {
    EXPECT_EQ(pattern_fault(pattern), std::nullopt) << pattern;
    EXPECT_TRUE(compiles(database, pattern)) << pattern;
  }
}

TEST(RowPattern, RefusesWhatEnginesRejectOrReadDifferently) {
  for (const char* pattern :
       {"",        "(",           ")",      "a)",      "(a",     "[a",     "[]",       "[^]",
        "*",       "a**",         "a+*",    "a+?",     "+a",     "(?i)a",  "(?:a)",    "(?=a)",
        "(?<n>a)", "a{",          "a{2",    "a{,2}",   "a{2,}",  "a{5,2}", "{",        "}",
        "]",       "\\",          "\\q",    "\\d",     "\\1",    "[z-a]",  "[a-]",     "[-a]",
        "[a-\\d]", "[[:alpha:]]", "[a&&b]", "a{101}",  "(a){2}", "^*",     "a{99999}", "a\x01",
        "\xFF",    "[\xC3\xA9]",  "\\p{L}", "a{2}{3}", "[.-9]"}) {
    EXPECT_NE(pattern_fault(pattern), std::nullopt) << pattern;
  }
  EXPECT_NE(pattern_fault(std::string(501, 'a')), std::nullopt);
  EXPECT_NE(pattern_fault(std::string(60, '(') + "a" + std::string(60, ')')), std::nullopt);
}

// No pattern that passes makes the engine fail; both outcomes occur often enough to mean something.
TEST(RowPattern, WhateverPassesCompiles) {
  test::RowDatabase database;
  test::SeededSource bits(77);
  const std::vector<std::string> pieces = {
      "a", "b", "(", ")", "[",  "]", "*", "+",  "?",      "{2}",  "{1,", "3}",
      "|", "^", "$", ".", "\\", "d", "-", "ab", "[^a-z]", "{50}", "\\.", "\xC3\xA9"};
  int passed = 0;
  int refused = 0;
  for (int round = 0; round < 8'000; ++round) {
    std::string pattern;
    const std::uint64_t length = 1 + bits.next_bits(3);
    for (std::uint64_t i = 0; i < length; ++i)
      pattern += pieces[bits.next_bits(32) % pieces.size()];
    if (pattern_fault(pattern)) {
      ++refused;
    } else {
      ++passed;
      ASSERT_TRUE(compiles(database, pattern)) << pattern;
    }
  }
  EXPECT_GT(passed, 800);
  EXPECT_GT(refused, 2'000);
}

// The largest that is allowed still compiles, and with more repetitions nothing is allowed.
TEST(RowPattern, TheLargestCompiles) {
  test::RowDatabase database;
  for (const std::string part : {"[^a-z]{100}", ".{100}", "\xC3\xA9{100}"}) {
    std::string pattern;
    for (int i = 0; i < 9; ++i) pattern += part;
    EXPECT_EQ(pattern_fault(pattern), std::nullopt) << pattern;
    EXPECT_TRUE(compiles(database, pattern)) << pattern;
    EXPECT_NE(pattern_fault(pattern + part), std::nullopt) << pattern;
  }
}

}  // namespace
}  // namespace shoal::plan
