#include "sql/like_pattern.hpp"

#include <shoal/base/text.hpp>
#include <shoal/sql/pattern.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::sql {
namespace {

constexpr std::size_t kMaxGroups = 20;
constexpr std::size_t kMaxCount = 100;

struct Fault {
  std::string why;
};

bool is_ascii_byte(char c) { return static_cast<unsigned char>(c) < 0x80U; }

bool is_one_of(char c, std::string_view signs) { return signs.find(c) != std::string_view::npos; }

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Recursive descent; each part gives its size with repetitions multiplied out.
class PatternReader {
 public:
  explicit PatternReader(std::string_view pattern) : rest_(pattern) {}

  void read() {
    alternatives(0);
    if (!rest_.empty()) throw Fault{"a ) without a (; write \\) for the sign itself"};
  }

 private:
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  char next() {
    if (rest_.empty()) throw Fault{"it ends too early; complete its last part"};
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  static std::size_t checked(std::size_t size) {
    if (size > kMaxPatternSize) {
      throw Fault{
          fmt::format("it is too large with its repetitions multiplied out; use at most {} "
                      "parts",
                      kMaxPatternSize)};
    }
    return size;
  }

  std::size_t alternatives(std::size_t depth) {
    if (depth > kMaxGroups)
      throw Fault{fmt::format("more than {} groups inside of each other; write fewer", kMaxGroups)};
    std::size_t size = 1;
    do {
      while (!rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
        size = checked(size + repeated(depth));
      }
    } while (take('|'));
    return size;
  }

  std::size_t repeated(std::size_t depth) {
    const bool anchor = is_one_of(rest_.front(), "^$");
    const bool group = rest_.front() == '(';
    const std::size_t size = part(depth);
    std::size_t times = 1;
    if (take('*') || take('+') || take('?')) {
      times = 2;
    } else if (take('{')) {
      if (group) throw Fault{"a counted group; write the group as often as you need it"};
      times = counted();
    } else {
      return size;
    }
    if (anchor) throw Fault{"a repetition of ^ or $; leave it out"};
    if (!rest_.empty() && is_one_of(rest_.front(), "*+?{")) {
      throw Fault{"a repetition of a repetition; write one of * + ? {2} {2,5}"};
    }
    return checked(size * times);
  }

  std::size_t part(std::size_t depth) {
    const char c = next();
    switch (c) {
      case '(': {
        if (rest_.starts_with('?')) {
          throw Fault{
              "a group that begins with ?; write plain groups, and LOWER(x) to match "
              "without case"};
        }
        const std::size_t size = alternatives(depth + 1);
        if (!take(')')) throw Fault{"a ( without a ); write \\( for the sign itself"};
        return size;
      }
      case '[':
        character_class();
        return 1;
      case '\\':
        if (!is_one_of(next(), ".[]{}()*+?^$|\\/-")) {
          throw Fault{"a backslash before what is no sign; write classes out, for example [0-9]"};
        }
        return 1;
      case '*':
      case '+':
      case '?':
      case '{':
        throw Fault{fmt::format("{} with nothing to repeat; write \\{} for the sign itself", c, c)};
      case ']':
      case '}':
        throw Fault{fmt::format("a {} alone; write \\{} for the sign itself", c, c)};
      default:
        while (!rest_.empty() && !is_ascii_byte(c) &&
               (static_cast<unsigned char>(rest_.front()) & 0xC0U) == 0x80U) {
          rest_.remove_prefix(1);  // the rest of one character
        }
        return 1;
    }
  }

  // ASCII only, and no sign that some engine reads in its own way.
  char class_character() {
    const char c = next();
    if (c < ' ' || c > '~' || is_one_of(c, "[]\\^-&")) {
      throw Fault{"a class of other than plain characters; write for example [a-z_.]"};
    }
    return c;
  }

  void character_class() {
    take('^');
    if (rest_.starts_with(']')) throw Fault{"an empty class []; write \\] for the sign itself"};
    while (!take(']')) {
      const char low = class_character();
      if (!take('-')) continue;
      const char high = class_character();
      if (!is_letter_or_digit(low) || !is_letter_or_digit(high) || low > high) {
        throw Fault{"a range in a class that is none; write for example [a-z0-9]"};
      }
    }
  }

  std::size_t counted() {
    const std::size_t low = count();
    const std::size_t high = take(',') ? count() : low;
    if (!take('}') || high < low)
      throw Fault{"a repetition that is none; write for example {2} or {2,5}"};
    return std::max<std::size_t>(high, 1);
  }

  std::size_t count() {
    std::size_t value = 0;
    std::size_t digits = 0;
    while (digits < 4 && !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      value = 10 * value + static_cast<std::size_t>(next() - '0');
      ++digits;
    }
    if (digits == 0 || value > kMaxCount) {
      throw Fault{
          fmt::format("a count that is not from 0 to {}; write for example {{2,5}}", kMaxCount)};
    }
    return value;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::string> pattern_fault(std::string_view pattern) {
  if (pattern.empty()) return "it is empty; leave the condition out";
  if (pattern.size() > kMaxPatternBytes) {
    return fmt::format("it has {} bytes; use at most {}", pattern.size(), kMaxPatternBytes);
  }
  const bool control = std::any_of(pattern.begin(), pattern.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x20U; });
  if (control || !is_utf8(pattern, false)) return "it holds a control character; leave it out";
  try {
    PatternReader(pattern).read();
  } catch (const Fault& fault) {
    return fault.why;
  }
  return std::nullopt;
}

std::optional<std::string> like_fault(std::string_view pattern) {
  const LikePattern like(pattern);
  if (like.is_plain() || like.size() <= kMaxPatternSize) return std::nullopt;
  return fmt::format("it has {} characters, and % at several places; use at most {}", like.size(),
                     kMaxPatternSize);
}

}  // namespace shoal::sql
