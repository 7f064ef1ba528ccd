#include "sql/lexer.hpp"

#include <shoal/base/error.hpp>
#include <shoal/sql/parser.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace shoal::sql {
namespace {

using Kinds = std::vector<TokenKind>;
using Texts = std::vector<std::string>;

Texts texts(std::string_view query) {
  Texts all;
  for (const Token& token : tokenize(query)) all.push_back(token.text);
  return all;
}

Kinds kinds(std::string_view query) {
  Kinds all;
  for (const Token& token : tokenize(query)) all.push_back(token.kind);
  return all;
}

std::string failure(std::string_view query) {
  try {
    tokenize(query);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse_error);
    return error.what();
  }
  ADD_FAILURE() << "no error for " << query;
  return {};
}

TEST(Lexer, TellsKindsApart) {
  EXPECT_EQ(kinds("a \"b\" 1 1.5 'c' + ? $1 $name"),
            (Kinds{TokenKind::word, TokenKind::quoted_name, TokenKind::integer, TokenKind::decimal,
                   TokenKind::string, TokenKind::symbol, TokenKind::parameter, TokenKind::parameter,
                   TokenKind::parameter, TokenKind::end}));
}

TEST(Lexer, TakesTheLongestSymbol) {
  EXPECT_EQ(texts("a<=b<>c!=d>=e||f::g=>h<i"),
            (Texts{"a", "<=", "b", "<>", "c", "!=", "d", ">=", "e", "||", "f", "::", "g", "=>", "h",
                   "<", "i", ""}));
}

TEST(Lexer, KeepsNumbersAsWritten) {
  EXPECT_EQ(texts("007 0.50 .5 1e3 1.5E-10 2e+4"),
            (Texts{"007", "0.50", ".5", "1e3", "1.5E-10", "2e+4", ""}));
}

TEST(Lexer, TakesQuotesOff) {
  EXPECT_EQ(texts("'it''s' '' \"a \"\"b\"\"\" '\\'"), (Texts{"it's", "", "a \"b\"", "\\", ""}));
}

TEST(Lexer, SkipsComments) {
  EXPECT_EQ(texts("a -- b\n/* c /* d */ e */ f --"), (Texts{"a", "f", ""}));
  EXPECT_EQ(texts("'--' \"/*\""), (Texts{"--", "/*", ""}));
}

TEST(Lexer, CountsLinesAndCharacters) {
  const std::vector<Token> tokens = tokenize("a\n  'größe' b\r\nc");
  ASSERT_EQ(tokens.size(), 5U);
  EXPECT_EQ(tokens[0].position, (Position{1, 1, 0}));
  EXPECT_EQ(tokens[1].position, (Position{2, 3, 4}));
  // größe has five characters and seven bytes.
  EXPECT_EQ(tokens[2].position, (Position{2, 11, 14}));
  EXPECT_EQ(tokens[3].position, (Position{3, 1, 17}));
  EXPECT_EQ(tokens[4].position, (Position{3, 2, 18}));
}

TEST(Lexer, RefusesWhatIsNoToken) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a 'b", "line 1, column 3: expected ' but found the end of the query"},
      {"a \"b", "line 1, column 3: expected \" but found the end of the query"},
      {"a\n/* b", "line 2, column 1: expected */ but found the end of the query"},
      {"\"\"", "line 1, column 1: expected a name between the quotes"},
      {"1abc", "line 1, column 1: expected a number but found 1a"},
      {"1_000", "expected a number but found 1_"},
      {"1.", "expected a number but found 1."},
      {"1e", "expected a number but found 1e"},
      {"0x1F", "expected a number but found 0x"},
      {"a # b", "line 1, column 3: expected a query but found the character #"},
      {"`a", "this quoted name is never closed"},
      {"größe", "line 1, column 3: expected a query but found the character ö"},
      {"“a”", "line 1, column 1: expected a query but found the character “"},
      {"$$a$$", "found the character $"},
      {"a\nb\xff", "line 2, column 1: expected UTF-8"},
      {std::string("a\nb\0c", 5), "line 2, column 2: expected text but found a NUL byte"},
  };
  for (const auto& [query, fragment] : cases) {
    EXPECT_NE(failure(query).find(fragment), std::string::npos) << failure(query);
  }
}

TEST(Lexer, LimitsTheText) {
  EXPECT_NO_THROW(tokenize(std::string(kMaxQueryBytes, ' ')));
  EXPECT_NE(failure(std::string(kMaxQueryBytes + 1, ' ')).find("65537 bytes and at most 65536"),
            std::string::npos);
}

TEST(PointAt, ShowsTheLineAndACaret) {
  EXPECT_EQ(point_at("a\nbcd\ne", {2, 2, 3}), "  bcd\n   ^");
  EXPECT_EQ(point_at("größe x", {1, 7, 8}), "  größe x\n        ^");
  EXPECT_EQ(point_at("a\tb", {1, 3, 2}), "  a b\n    ^");
  EXPECT_EQ(point_at("", {1, 1, 0}), "  \n  ^");
  EXPECT_EQ(point_at("abc", {9, 9, 900}), "  abc\n     ^");
}

TEST(PointAt, ClipsALongLine) {
  const std::string text = std::string(300, 'a') + "X" + std::string(300, 'b');
  const std::string shown = point_at(text, {1, 301, 300});
  EXPECT_EQ(shown, "  ..." + std::string(50, 'a') + "X" + std::string(49, 'b') + "...\n" +
                       std::string(55, ' ') + "^");
}

TEST(PointAt, ClipsAtWholeCharacters) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "ö";
  for (std::size_t character = 0; character < 200; ++character) {
    const std::string shown = point_at("a" + text, {1, character + 2, 1 + 2 * character});
    EXPECT_NO_THROW(tokenize("'" + shown + "'")) << shown;
  }
}

}  // namespace
}  // namespace shoal::sql
