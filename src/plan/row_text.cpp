#include "plan/row_text.hpp"

#include <shoal/sql/calendar.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace shoal::plan {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// The byte offset after so many characters from `from`.
std::size_t advance(std::string_view text, std::size_t from, std::size_t characters) {
  std::size_t at = from;
  while (characters > 0 && at < text.size()) {
    ++at;
    while (at < text.size() && continues(text[at])) ++at;
    --characters;
  }
  return at;
}

int digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  std::from_chars(text.data() + at, text.data() + at + count, value);
  return value;
}

std::chrono::sys_days day_of(std::string_view date) {
  using namespace std::chrono;
  return year_month_day(year(digits(date, 0, 4)), month(static_cast<unsigned>(digits(date, 5, 2))),
                        day(static_cast<unsigned>(digits(date, 8, 2))));
}

std::string date_text(int year, unsigned month, unsigned day) {
  return fmt::format("{:04}-{:02}-{:02}", year, month, day);
}

}  // namespace

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80U; });
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string substring(std::string_view text, std::size_t start, std::size_t length) {
  const std::size_t begin = advance(text, 0, start - 1);
  return std::string(text.substr(begin, advance(text, begin, length) - begin));
}

std::string last_characters(std::string_view text, std::size_t count) {
  const std::size_t all = character_count(text);
  return count >= all ? std::string(text) : std::string(text.substr(advance(text, 0, all - count)));
}

std::string change_case(std::string_view text, bool upper) {
  std::string result(text);
  for (char& c : result) {
    if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!upper && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string trim(std::string_view text, bool left, bool right) {
  while (left && text.starts_with(' ')) text.remove_prefix(1);
  while (right && text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  while (!from.empty()) {
    const std::size_t at = text.find(from);
    if (at == std::string_view::npos) break;
    result += text.substr(0, at);
    result += to;
    text.remove_prefix(at + from.size());
  }
  return result += text;
}

// Greedy with one point of return: after a % only the last one need ever be tried again.
bool is_like(std::string_view text, std::string_view pattern) {
  std::size_t t = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '%') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == '_') {
      t = advance(text, t, 1);
      ++p;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++t;
      ++p;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = resume = advance(text, resume, 1);
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '%') ++p;
  return p == pattern.size();
}

std::optional<int> extract_field(std::string_view field, std::string_view date) {
  if (!sql::is_timestamp(date)) return std::nullopt;
  const int month = digits(date, 5, 2);
  const bool has_time = date.size() > 10;
  if (field == "year") return digits(date, 0, 4);
  if (field == "quarter") return (month + 2) / 3;
  if (field == "month") return month;
  if (field == "day") return digits(date, 8, 2);
  if (field == "hour") return has_time ? digits(date, 11, 2) : 0;
  if (field == "minute") return has_time ? digits(date, 14, 2) : 0;
  if (field == "second") return has_time ? digits(date, 17, 2) : 0;
  if (field == "doy") {
    const std::string january = date_text(digits(date, 0, 4), 1, 1);
    return static_cast<int>((day_of(date) - day_of(january)).count()) + 1;
  }
  if (field == "dow") {
    return static_cast<int>(std::chrono::weekday(day_of(date)).c_encoding());
  }
  return std::nullopt;
}

std::optional<std::string> truncate_date(std::string_view field, std::string_view date) {
  if (!sql::is_timestamp(date)) return std::nullopt;
  const bool has_time = date.size() > 10;
  const std::string midnight = has_time ? " 00:00:00" : "";
  const int year = digits(date, 0, 4);
  const auto month = static_cast<unsigned>(digits(date, 5, 2));
  if (field == "year") return date_text(year, 1, 1) + midnight;
  if (field == "quarter") return date_text(year, (month - 1) / 3 * 3 + 1, 1) + midnight;
  if (field == "month") return date_text(year, month, 1) + midnight;
  if (field == "day") return std::string(date.substr(0, 10)) + midnight;
  if (field == "week") {
    using namespace std::chrono;
    const sys_days monday = day_of(date) - (weekday(day_of(date)) - Monday);
    const year_month_day parts(monday);
    if (int(parts.year()) < 1) return std::nullopt;
    return date_text(int(parts.year()), unsigned(parts.month()), unsigned(parts.day())) + midnight;
  }
  if (!has_time) return std::string(date);
  if (field == "hour") return std::string(date.substr(0, 13)) + ":00:00";
  if (field == "minute") return std::string(date.substr(0, 16)) + ":00";
  return std::nullopt;
}

std::optional<long long> days_between(std::string_view from, std::string_view to) {
  if (!sql::is_timestamp(from) || !sql::is_timestamp(to)) return std::nullopt;
  return (day_of(to) - day_of(from)).count();
}

}  // namespace shoal::plan
