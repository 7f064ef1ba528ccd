// Text for people: numbers as short as they can be, names quoted, suggestions for a mistyped name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shoal {

// The shortest decimal that reads back as the same double.
std::string format_number(double value);

// A number for a person to read: at most `digits` significant digits, no exponent for ordinary
// sizes.
std::string format_rounded(double value, int digits);

std::string to_lower(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);

// Names in a row: "a, b and c".
std::string join_names(std::span<const std::string> names);

// The candidate nearest to a mistyped name, if one is near enough to be meant.
std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates);

// Whether the bytes are valid UTF-8 (a sequence cut off at the very end counts as valid if `cut`).
bool is_utf8(std::string_view bytes, bool cut);

// The text without control characters, at most `limit` bytes: safe to show in a terminal or a log
// line.
std::string printable(std::string_view text, std::size_t limit);

}  // namespace shoal
