#include <shoal/base/text.hpp>
#include <shoal/sql/position.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::sql {
namespace {

constexpr std::size_t kExcerptBefore = 50;
constexpr std::size_t kExcerptAfter = 50;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

}  // namespace

std::string point_at(std::string_view text, Position position) {
  const std::size_t at = std::min(position.offset, text.size());
  std::size_t begin = at;
  while (begin > 0 && text[begin - 1] != '\n' && at - begin < kExcerptBefore) --begin;
  std::size_t end = at;
  while (end < text.size() && text[end] != '\n' && end - at < kExcerptAfter) ++end;
  // Clipping counts bytes: move inwards to whole characters.
  while (begin < at && continues_character(text[begin])) ++begin;
  while (end > at && end < text.size() && continues_character(text[end])) --end;

  const bool clipped_before = begin > 0 && text[begin - 1] != '\n';
  const bool clipped_after = end < text.size() && text[end] != '\n';
  const std::string_view before = text.substr(begin, at - begin);
  const std::string excerpt = printable(text.substr(begin, end - begin), end - begin + 1);
  const std::size_t indent = count_characters(before) + (clipped_before ? 3 : 0);
  return fmt::format("  {}{}{}\n  {}^", clipped_before ? "..." : "", excerpt,
                     clipped_after ? "..." : "", std::string(indent, ' '));
}

Error error_at(ErrorCode code, std::string_view text, Position position, std::string_view message) {
  return Error(code, fmt::format("line {}, column {}: {}\n{}", position.line, position.column,
                                 message, point_at(text, position)));
}

}  // namespace shoal::sql
