#include "table.hpp"

#include <shoal/base/text.hpp>

#include <algorithm>

namespace shoal::cli {
namespace {

// Characters, not bytes: continuation bytes of UTF-8 take no room.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
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
