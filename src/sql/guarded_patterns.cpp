// The regular expressions that DuckDB (RE2) and PostgreSQL read alike.
//
//   pattern := branch {| branch}         branch := {[^ | $] item}
//   item    := atom [* | + | ? | {m} | {m,n}]
//   atom    := character | . | \ punctuation | [ [^] characters and ranges ] | ( pattern )
//
// Nothing that looks back or ahead, and no classes by name, so that an engine needs no more than
// time proportional to the text. Counts stand behind single characters alone and go to 100: both
// engines unroll them.
#include "sql/guard.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::sql {
namespace {

constexpr std::size_t kMaxPatternBytes = 500;
constexpr std::size_t kMaxPatternGroups = 20;
constexpr int kMaxCount = 100;

class PatternChecker {
 public:
  explicit PatternChecker(std::string_view text) : text_(text) {}

  void run() {
    if (text_.size() > kMaxPatternBytes) {
      fail(fmt::format("has more than {} bytes; shorten it", kMaxPatternBytes));
    }
    branches(0);
    if (!at_end()) fail("has a ) without its (; write \\) for the character");
  }

 private:
  [[noreturn]] void fail(std::string_view reason) const {
    throw Error(ErrorCode::unsupported,
                fmt::format("the pattern {} {}", printable(text_, 80), reason));
  }
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool take(char expected) {
    if (at_end() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }

  void branches(std::size_t depth) {
    do {
      while (!at_end() && peek() != '|' && peek() != ')') item(depth);
    } while (take('|'));
  }

  void item(std::size_t depth) {
    if (take('^') || take('$')) {
      if (is_repeat(peek())) fail("repeats ^ or $; leave the repetition out");
      return;
    }
    const bool group = peek() == '(';
    atom(depth);
    if (!is_repeat(peek())) return;
    if (peek() == '{' && group) fail("counts a group; write the group as often as you need it");
    repeat();
    if (is_repeat(peek())) fail("repeats what is repeated; write one of * + ? {2} {2,5}");
  }

  static bool is_repeat(char c) { return c == '*' || c == '+' || c == '?' || c == '{'; }

  void repeat() {
    if (!take('{')) {
      ++at_;
      return;
    }
    const int least = count();
    const int most = take(',') ? count() : least;
    if (!take('}') || least > most)
      fail("has a count that is none; write for example {2} or {2,5}");
  }

  int count() {
    int value = -1;
    while (peek() >= '0' && peek() <= '9' && value <= kMaxCount) {
      value = 10 * std::max(value, 0) + (text_[at_++] - '0');
    }
    if (value < 0 || value > kMaxCount) {
      fail(fmt::format("has a count that is not from 0 to {}; write for example {{2,5}}",
                       kMaxCount));
    }
    return value;
  }

  void atom(std::size_t depth) {
    const char c = text_[at_++];
    if (c == '(') {
      if (peek() == '?') fail("has a group that begins with ?; write plain groups");
      if (depth >= kMaxPatternGroups) fail("nests its groups too deep; write fewer of them");
      branches(depth + 1);
      if (!take(')')) fail("has a ( without its ); write \\( for the character");
    } else if (c == '[') {
      character_class();
    } else if (c == '\\') {
      if (!is_punctuation(peek())) {
        fail("has a \\ before what is no punctuation; write classes out, for example [0-9]");
      }
      ++at_;
    } else if (is_repeat(c)) {
      fail("repeats nothing; write \\ before the character if you mean it");
    } else if (c == ']' || c == '}') {
      fail("has a ] or } without its opening one; write \\ before it if you mean it");
    }
  }

  static bool is_punctuation(char c) {
    return std::string_view(".[]{}()*+?^$|\\/-").find(c) != std::string_view::npos && c != '\0';
  }

  void character_class() {
    take('^');
    std::size_t characters = 0;
    for (; !at_end() && peek() != ']'; ++characters) {
      const char low = class_character();
      if (peek() != '-') continue;
      ++at_;
      const char high = class_character();
      if (!is_plain(low) || !is_plain(high) || low > high) {
        fail("has a range that is none; write for example [a-z0-9]");
      }
    }
    if (characters == 0 || !take(']')) fail("has a [ without its ]; write \\[ for the character");
  }

  // ASCII alone, so that a byte is a character.
  char class_character() {
    const char c = at_end() ? '\0' : text_[at_];
    if (c < ' ' || c > '~' || c == '[' || c == '\\' || c == '^' || c == '-' || c == ']') {
      fail("has a class of other than plain characters; write for example [a-z_.]");
    }
    ++at_;
    return c;
  }
  static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

void check_pattern(std::string_view pattern) { PatternChecker(pattern).run(); }

}  // namespace shoal::sql
