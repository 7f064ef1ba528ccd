#include "sql/token_stream.hpp"

#include "sql/words.hpp"

#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::sql {

TokenStream::TokenStream(std::string_view text) : text_(text), tokens_(tokenize(text)) {}

const Token& TokenStream::peek(std::size_t ahead) const {
  return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
}

Token TokenStream::take() {
  Token token = peek();
  if (token.kind != TokenKind::end) ++next_;
  return token;
}

bool TokenStream::at_word(std::string_view word, std::size_t ahead) const {
  const Token& token = peek(ahead);
  return token.kind == TokenKind::word && equals_ignoring_case(token.text, word);
}

bool TokenStream::at_symbol(std::string_view symbol, std::size_t ahead) const {
  const Token& token = peek(ahead);
  return token.kind == TokenKind::symbol && token.text == symbol;
}

bool TokenStream::take_word(std::string_view word) {
  if (!at_word(word)) return false;
  ++next_;
  return true;
}

bool TokenStream::take_symbol(std::string_view symbol) {
  if (!at_symbol(symbol)) return false;
  ++next_;
  return true;
}

void TokenStream::expect_word(std::string_view word) {
  if (!take_word(word)) fail(word);
}

void TokenStream::expect_symbol(std::string_view symbol) {
  if (!take_symbol(symbol)) fail(symbol);
}

bool TokenStream::at_name() const {
  const Token& token = peek();
  return token.kind == TokenKind::quoted_name ||
         (token.kind == TokenKind::word && !is_reserved(to_upper(token.text)));
}

Identifier TokenStream::take_name(std::string_view expected) {
  if (!at_name()) fail(expected);
  const Token token = take();
  return {token.text, token.kind == TokenKind::quoted_name, token.position};
}

void TokenStream::fail(std::string_view expected, std::string_view advice) const {
  const Token& token = peek();
  std::string message = fmt::format("expected {} but found {}", expected, describe(token));
  if (!advice.empty()) {
    message += fmt::format("; {}", advice);
  } else if (token.kind == TokenKind::word && is_reserved(to_upper(token.text))) {
    message += fmt::format("; write \"{}\" if that is a name", printable(token.text, 40));
  }
  fail_at(token.position, message);
}

void TokenStream::fail_at(Position position, std::string_view message) const {
  throw error_at(ErrorCode::parse_error, text_, position, message);
}

void TokenStream::refuse(Position position, std::string_view message) const {
  throw error_at(ErrorCode::unsupported, text_, position, message);
}

void TokenStream::refuse_if(std::string_view message) const {
  if (!message.empty()) refuse(peek().position, message);
}

std::string keyword(const Token& token) {
  if (token.kind == TokenKind::word) return to_upper(token.text);
  return token.kind == TokenKind::symbol ? token.text : std::string();
}

}  // namespace shoal::sql
