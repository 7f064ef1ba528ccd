#include "table.hpp"

#include <shoal/base/text.hpp>

#include <algorithm>
#include <span>
#include <string_view>

namespace shoal::cli {
namespace {

struct Range {
  char32_t first, last;
};

// Characters of East Asia and pictures take two places, marks upon the one before them none. The
// blocks, not every character: what lies outside of them is rare in a table.
constexpr Range kTwoPlaces[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},  {0x3041, 0xA4CF},
                                {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},  {0xFE30, 0xFE6F},
                                {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                                {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
constexpr Range kNoPlace[] = {
    {0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};

bool is_in(std::span<const Range> ranges, char32_t character) {
  return std::any_of(ranges.begin(), ranges.end(), [character](const Range& range) {
    return character >= range.first && character <= range.last;
  });
}

std::size_t places_of(char32_t character) {
  return is_in(kNoPlace, character) ? 0 : is_in(kTwoPlaces, character) ? 2 : 1;
}

// Places on a terminal, of UTF-8; a byte that is none counts as one.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t character = length == 1 ? lead : lead & (0xFFu >> (length + 1));
    for (std::size_t i = 1; i < length && at + i < text.size(); ++i) {
      character = (character << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3F);
    }
    width += places_of(character);
    at += length;
  }
  return width;
}

}  // namespace

TextTable::TextTable(std::vector<std::string> header, std::vector<Align> align)
    : align_(std::move(align)) {
  rows_.push_back(std::move(header));
}

void TextTable::add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

std::string TextTable::text() const {
  std::vector<std::size_t> widths(align_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width_of(row[i]), ' ');
      line += i == 0 ? "  " : "   ";
      if (align_[i] == Align::right) line += space;
      line += row[i];
      if (align_[i] == Align::left) line += space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line;
    text += '\n';
  }
  return text;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    widest = std::max(widest, width_of(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return widest;
}

std::string grouped(double value, int digits) {
  std::string text = format_rounded(value, digits);
  const std::size_t point = std::min(text.find_first_of(".e"), text.size());
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  if (text.find_first_not_of("0123456789", first) < point) return text;
  std::string shown;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > first && at < point && (point - at) % 3 == 0) shown += ',';
    shown += text[at];
  }
  return shown;
}

}  // namespace shoal::cli
