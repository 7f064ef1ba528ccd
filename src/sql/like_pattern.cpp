#include "sql/like_pattern.hpp"

#include <algorithm>

namespace shoal::sql {
namespace {

// What means something in a regular expression of DuckDB or PostgreSQL outside of a class. A
// backslash before any of them means the sign itself.
constexpr std::string_view kSigns = "\\.[]{}()*+?^$|";

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

LikePattern::LikePattern(std::string_view written) {
  bool any_text = false;  // in the run of % and _ that is being read
  const auto end_run = [&] {
    if (any_text) parts_.push_back({Kind::any_text});
    any_text = false;
  };
  for (const char c : written) {
    if (c == '%') {
      any_text = true;
    } else if (c == '_') {
      parts_.push_back({Kind::any_character});
    } else if (continues(c) && !any_text && !parts_.empty()) {  // the rest of one character
      parts_.back().character += c;
    } else {
      end_run();
      parts_.push_back({Kind::character, std::string(1, c)});
    }
  }
  end_run();
}

bool LikePattern::is_plain() const {
  const auto count = std::count_if(parts_.begin(), parts_.end(),
                                   [](const Part& part) { return part.kind == Kind::any_text; });
  return count <= 1 || (count == 2 && parts_.back().kind == Kind::any_text);
}

std::string LikePattern::text() const {
  std::string text;
  for (const Part& part : parts_) {
    text += part.kind == Kind::any_text        ? "%"
            : part.kind == Kind::any_character ? "_"
                                               : part.character;
  }
  return text;
}

std::string LikePattern::regular_expression() const {
  std::string text;
  for (const Part& part : parts_) {
    if (part.kind == Kind::character && kSigns.find(part.character) != std::string_view::npos) {
      text += '\\';
    }
    text += part.kind == Kind::any_text        ? ".*"
            : part.kind == Kind::any_character ? "."
                                               : part.character;
  }
  return text;
}

}  // namespace shoal::sql
