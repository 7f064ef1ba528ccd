#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

namespace shoal {

std::string format_number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string format_rounded(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return format_number(value);
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  if (magnitude < -4 || magnitude > 14) return fmt::format("{:.{}g}", value, digits);
  std::string text = fmt::format("{:.{}f}", value, std::max(0, digits - 1 - magnitude));
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return to_lower(a) == to_lower(b);
}

std::string join_names(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates) {
  if (name.size() > 64) return std::nullopt;
  std::optional<std::string> nearest;
  std::size_t best = 1 + name.size() / 3;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > 64) continue;
    const std::size_t distance = edit_distance(to_lower(name), to_lower(candidate));
    if (distance < best || (distance == best && !nearest)) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

bool is_utf8(std::string_view bytes, bool cut) {
  for (std::size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    const std::size_t length = lead < 0x80             ? 1
                               : (lead & 0xE0) == 0xC0 ? 2
                               : (lead & 0xF0) == 0xE0 ? 3
                               : (lead & 0xF8) == 0xF0 ? 4
                                                       : 0;
    if (length == 0 || lead == 0xC0 || lead == 0xC1 || lead > 0xF4) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if (i + k >= bytes.size()) return cut;
      const auto byte = static_cast<unsigned char>(bytes[i + k]);
      // Neither longer than needed, nor a surrogate, nor beyond the last code point.
      const unsigned least = k > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
      const unsigned most = k > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
      if (byte < least || byte > most) return false;
    }
    i += length;
  }
  return true;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string shown;
  for (const char c : text) {
    if (shown.size() >= limit) return shown + "...";
    const auto byte = static_cast<unsigned char>(c);
    shown.push_back(byte < 0x20 || byte == 0x7F ? ' ' : c);
  }
  return shown;
}

}  // namespace shoal
