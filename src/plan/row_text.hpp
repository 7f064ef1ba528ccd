// Functions of texts, in characters of UTF-8 (a byte that begins no character counts with the one
// before it), and of dates in the notation 2024-01-31[ 23:59:59[.5]].
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::plan {

bool is_ascii(std::string_view text);
std::size_t character_count(std::string_view text);
// From the character `start` (the first is 1) at most `length` characters.
std::string substring(std::string_view text, std::size_t start, std::size_t length);
std::string last_characters(std::string_view text, std::size_t count);
std::string change_case(std::string_view text, bool upper);  // ASCII letters only
std::string trim(std::string_view text, bool left, bool right);
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

// In the pattern % is any text, _ any character, nothing an escape.
bool is_like(std::string_view text, std::string_view pattern);

// year, quarter, month, day, dow (Sunday is 0), doy, hour, minute, second; none if the text is no
// date.
std::optional<int> extract_field(std::string_view field, std::string_view date);
// year, quarter, month, week (from Monday), day, hour, minute; the result has the notation
// of the argument. None if it falls out of the years 1 to 9999.
std::optional<std::string> truncate_date(std::string_view field, std::string_view date);
std::optional<long long> days_between(std::string_view from, std::string_view to);

}  // namespace shoal::plan
