// From text to tokens. Private to the sql layer and its tests.
//
// A token's text is what it means, not how it is spelled: quotes are taken off and doubled ones
// undone. The last token is always `end`. Words are not told apart into keywords and names here:
// the parser does that.
#pragma once

#include <shoal/sql/position.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace shoal::sql {

enum class TokenKind { end, word, quoted_name, integer, decimal, string, symbol, parameter };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  Position position;
};

// Throws parse_error for text that is too long, is not UTF-8, holds a NUL byte, or has no tokens in
// it.
std::vector<Token> tokenize(std::string_view text);

// How a message names a token: FROM, the number 12, the string 'x', the end of the query.
std::string describe(const Token& token);

}  // namespace shoal::sql
