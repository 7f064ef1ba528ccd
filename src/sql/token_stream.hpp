// The tokens of a query as the parser walks over them, and the errors that it raises there. Private
// to the sql layer.
#pragma once

#include "sql/lexer.hpp"

#include <shoal/sql/syntax.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace shoal::sql {

class TokenStream {
 public:
  // The text must outlive the stream. Throws as tokenize does.
  explicit TokenStream(std::string_view text);

  // The token at hand, or one further on; the last is always `end`.
  const Token& peek(std::size_t ahead = 0) const;
  Token take();

  // Words match in any case and never a quoted name.
  bool at_word(std::string_view word, std::size_t ahead = 0) const;
  bool at_symbol(std::string_view symbol, std::size_t ahead = 0) const;
  bool take_word(std::string_view word);
  bool take_symbol(std::string_view symbol);
  void expect_word(std::string_view word);
  void expect_symbol(std::string_view symbol);

  // A quoted name, or a word that is not reserved.
  bool at_name() const;
  Identifier take_name(std::string_view expected);

  // "expected <expected> but found <the token at hand>", with advice if there is any.
  [[noreturn]] void fail(std::string_view expected, std::string_view advice = {}) const;
  // Any other parse_error, and what is not supported.
  [[noreturn]] void fail_at(Position position, std::string_view message) const;
  [[noreturn]] void refuse(Position position, std::string_view message) const;
  // Refuses the token at hand if there is a message.
  void refuse_if(std::string_view message) const;

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
};

// The token's word in upper case, a symbol as it is, and nothing for other tokens.
std::string keyword(const Token& token);

}  // namespace shoal::sql
