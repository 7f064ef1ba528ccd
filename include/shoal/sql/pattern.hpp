// Which regular expressions a query may hold: those that every engine compiles, whatever the row,
// and reads alike, in time proportional to the text: nothing looks back or ahead. An engine that
// met a pattern it rejects would fail in the middle of the data.
//
// Letters, . ^ $, classes such as [a-z0-9_] and [^,], a punctuation mark after a backslash, groups
// ( ), |, * + ?, and {2} {2,5} after a single character. Repetitions multiplied out, a pattern has
// at most kMaxPatternSize parts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::sql {

inline constexpr std::size_t kMaxPatternBytes = 500;
inline constexpr std::size_t kMaxPatternSize = 1'000;

// What is wrong with the pattern and how to write it, or nothing.
std::optional<std::string> pattern_fault(std::string_view pattern);

// The same for a pattern of LIKE: one that LIKE itself cannot match in time proportional to the
// text becomes a regular expression, which has at most kMaxPatternSize parts.
std::optional<std::string> like_fault(std::string_view pattern);

}  // namespace shoal::sql
