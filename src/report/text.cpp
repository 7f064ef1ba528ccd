#include "report/text.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <cstdint>

namespace shoal::report {
namespace {

constexpr std::string_view kEllipsis = "\u2026";

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  // 0: not UTF-8
};

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(at);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC0 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                                           : 4;
  if (length == 0 || lead > 0xF4 || at + length > text.size()) return {};
  if (length == 1) return {lead, 1};
  std::uint32_t code = lead & (0x7Fu >> length);
  for (std::size_t i = at + 1; i < at + length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const std::uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  if (code < least || code > 0x10FFFF) return {};
  return {code, length};
}

// XML 1.0, production Char; the C1 controls are allowed there, but show nothing.
bool allowed(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return false;
  if (code >= 0xD800 && code < 0xE000) return false;
  return code != 0xFFFE && code != 0xFFFF;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// In hundredths of the font size: DejaVu Sans, wider than Helvetica and Arial, by classes.
int relative_width(std::uint32_t code) {
  constexpr std::string_view kNarrow = " .,:;'!|()[]{}ijlftrI-/";
  constexpr std::string_view kWide = "mwMW@%";
  if (code >= 0x2E80) return 100;
  if (code >= 0x80) return 66;
  const char c = static_cast<char>(code);
  if (kNarrow.find(c) != std::string_view::npos) return 40;
  if (kWide.find(c) != std::string_view::npos) return 98;
  return c >= 'A' && c <= 'Z' ? 73 : 64;
}

// The byte length of the longest beginning that fits, and at least one character.
std::size_t fitting(std::string_view text, double width, double font_size) {
  double used = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Character next = character_at(text, at);
    used += relative_width(next.code) * font_size / 100;
    if (used > width && at > 0) return at;
    at += next.length;
  }
  return at;
}

}  // namespace

std::string clean_text(std::string_view text, std::string_view what) {
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      if (!clean.empty() && clean.back() != ' ') clean.push_back(' ');
      ++at;
      continue;
    }
    const Character next = character_at(text, at);
    if (next.length == 0) {
      throw Error{
          ErrorCode::invalid_argument,
          fmt::format("the {} is not valid UTF-8 at byte {}; encode it as UTF-8", what, at)};
    }
    if (!allowed(next.code)) {
      throw Error{ErrorCode::invalid_argument,
                  fmt::format("the {} has the character U+{:04X} at byte {}, which a chart cannot "
                              "show; remove it",
                              what, next.code, at)};
    }
    clean.append(text.substr(at, next.length));
    at += next.length;
  }
  if (clean.ends_with(' ')) clean.pop_back();
  return clean;
}

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped.push_back(c);
    }
  }
  return escaped;
}

double text_width(std::string_view text, double font_size) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = character_at(text, at);
    if (next.length == 0) return width * font_size / 100;
    width += relative_width(next.code);
    at += next.length;
  }
  return width * font_size / 100;
}

std::vector<std::string> wrap(std::string_view text, double width, double font_size) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t end = fitting(text, width, font_size);
    std::size_t next = end;
    if (end < text.size()) {
      const std::size_t space = text.rfind(' ', end);
      if (space != std::string_view::npos && space > 0) {
        end = space;
        next = space + 1;
      }
    }
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(next);
  }
  return lines;
}

std::string shorten(std::string_view text, double width, double font_size) {
  if (text_width(text, font_size) <= width) return std::string(text);
  const double room = width - text_width(kEllipsis, font_size);
  return std::string(text.substr(0, fitting(text, room, font_size))) + std::string(kEllipsis);
}

}  // namespace shoal::report
