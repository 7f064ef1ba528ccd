#include "sql/lexer.hpp"

#include <shoal/base/text.hpp>
#include <shoal/sql/parser.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace shoal::sql {
namespace {

// Not <cctype>: those functions depend on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Longest first, so that <= is not read as < and =.
constexpr std::array<std::string_view, 25> kSymbols = {
    "<>", "!=", "<=", ">=", "=>", "||", "::", "->", "//", "(", ")", ",", ";",
    ".",  "=",  "<",  ">",  "+",  "-",  "*",  "/",  "%",  "^", "[", "]"};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    for (;;) {
      skip_blanks();
      tokens.push_back(next());
      if (tokens.back().kind == TokenKind::end) return tokens;
    }
  }

 private:
  char peek(std::size_t ahead = 0) const {
    const std::size_t at = here_.offset + ahead;
    return at < text_.size() ? text_[at] : '\0';
  }
  bool at_end() const { return here_.offset >= text_.size(); }
  bool starts_with(std::string_view prefix) const {
    return text_.substr(here_.offset).starts_with(prefix);
  }

  void advance() {
    const auto byte = static_cast<unsigned char>(text_[here_.offset]);
    ++here_.offset;
    if (byte == '\n') {
      ++here_.line;
      here_.column = 1;
    } else if (!at_end() && (static_cast<unsigned char>(text_[here_.offset]) & 0xC0U) == 0x80U) {
      // Inside a character: the column moves on its last byte.
    } else {
      ++here_.column;
    }
  }
  void advance(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) advance();
  }

  [[noreturn]] void fail(Position at, std::string_view message) const {
    throw error_at(ErrorCode::parse_error, text_, at, message);
  }

  void skip_blanks() {
    for (;;) {
      if (is_space(peek())) {
        advance();
      } else if (starts_with("--")) {
        while (!at_end() && peek() != '\n') advance();
      } else if (starts_with("/*")) {
        skip_comment();
      } else {
        return;
      }
    }
  }

  // Comments nest, as in DuckDB and PostgreSQL.
  void skip_comment() {
    const Position begin = here_;
    std::size_t open = 0;
    do {
      if (at_end())
        fail(begin, "expected */ but found the end of the query; this comment is never closed");
      if (starts_with("/*")) {
        ++open;
        advance(2);
      } else if (starts_with("*/")) {
        --open;
        advance(2);
      } else {
        advance();
      }
    } while (open > 0);
  }

  Token next() {
    const Position begin = here_;
    if (at_end()) return {TokenKind::end, "", begin};
    const char c = peek();
    if (is_letter(c)) return word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '\'') return {TokenKind::string, quoted('\'', "string"), begin};
    if (c == '"' || c == '`') {
      std::string name = quoted(c, "quoted name");
      if (name.empty()) fail(begin, "expected a name between the quotes but found none");
      return {TokenKind::quoted_name, std::move(name), begin};
    }
    if (c == '?' || (c == '$' && (is_digit(peek(1)) || is_letter(peek(1))))) return parameter();
    for (const std::string_view symbol : kSymbols) {
      if (!starts_with(symbol)) continue;
      advance(symbol.size());
      return {TokenKind::symbol, std::string(symbol), begin};
    }
    fail_on_character();
  }

  Token word() {
    const Position begin = here_;
    while (is_letter(peek()) || is_digit(peek())) advance();
    return {TokenKind::word, slice(begin), begin};
  }

  Token number() {
    const Position begin = here_;
    TokenKind kind = TokenKind::integer;
    while (is_digit(peek())) advance();
    if (peek() == '.' && is_digit(peek(1))) {
      kind = TokenKind::decimal;
      advance();
      while (is_digit(peek())) advance();
    }
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (is_digit(peek(1 + sign))) {
        kind = TokenKind::decimal;
        advance(1 + sign);
        while (is_digit(peek())) advance();
      }
    }
    // Some systems read 1abc as 1 AS abc and 1_000 as a thousand: better to ask.
    if (is_letter(peek()) || peek() == '.') {
      fail(begin, fmt::format("expected a number but found {}{}; write for example 12, 0.5 or 1e3",
                              printable(slice(begin), 40), peek()));
    }
    return {kind, slice(begin), begin};
  }

  std::string quoted(char quote, std::string_view what) {
    const Position begin = here_;
    std::string contents;
    advance();
    for (;;) {
      if (at_end()) {
        fail(begin,
             fmt::format("expected {} but found the end of the query; this {} is never closed",
                         quote, what));
      }
      if (peek() != quote) {
        contents.push_back(peek());
        advance();
      } else if (peek(1) == quote) {
        contents.push_back(quote);
        advance(2);
      } else {
        advance();
        return contents;
      }
    }
  }

  Token parameter() {
    const Position begin = here_;
    advance();
    while (is_letter(peek()) || is_digit(peek())) advance();
    return {TokenKind::parameter, slice(begin), begin};
  }

  [[noreturn]] void fail_on_character() const {
    std::size_t size = 1;
    while ((static_cast<unsigned char>(peek(size)) & 0xC0U) == 0x80U) ++size;
    const std::string character = printable(text_.substr(here_.offset, size), 8);
    std::string_view advice = "remove it";
    if (size > 1) {
      advice = "put names with letters beyond a to z between \" and strings between '";
    }
    fail(here_, fmt::format("expected a query but found the character {}; {}", character, advice));
  }

  std::string slice(Position begin) const {
    return std::string(text_.substr(begin.offset, here_.offset - begin.offset));
  }

  std::string_view text_;
  Position here_;
};

// Line by line, since no character reaches over a line's end. The message has no excerpt: it would
// carry on the bytes that it refuses.
void check_characters(std::string_view text) {
  std::size_t line = 1;
  for (std::string_view rest = text; !rest.empty(); ++line) {
    const std::size_t size = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view piece = rest.substr(0, size);
    const std::size_t nul = piece.find('\0');
    if (nul != std::string_view::npos) {
      throw Error(ErrorCode::parse_error,
                  fmt::format("line {}, column {}: expected text but found a NUL byte; remove it",
                              line, nul + 1));
    }
    if (!is_utf8(piece, false)) {
      throw Error(ErrorCode::parse_error,
                  fmt::format("line {}, column 1: expected UTF-8 but found other bytes in this "
                              "line; save the query as UTF-8",
                              line));
    }
    rest.remove_prefix(size);
  }
}

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  if (text.size() > kMaxQueryBytes) {
    throw Error(
        ErrorCode::parse_error,
        fmt::format("line 1, column 1: the query has {} bytes and at most {} are taken; shorten it",
                    text.size(), kMaxQueryBytes));
  }
  check_characters(text);
  return Lexer(text).run();
}

std::string describe(const Token& token) {
  std::string text = printable(token.text, 40);
  switch (token.kind) {
    case TokenKind::end:
      return "the end of the query";
    case TokenKind::quoted_name:
      return fmt::format("the name \"{}\"", text);
    case TokenKind::integer:
    case TokenKind::decimal:
      return fmt::format("the number {}", text);
    case TokenKind::string:
      return fmt::format("the string '{}'", text);
    case TokenKind::parameter:
      return fmt::format("the parameter {}", text);
    case TokenKind::word:
    case TokenKind::symbol:
      return text;
  }
  return text;
}

}  // namespace shoal::sql
