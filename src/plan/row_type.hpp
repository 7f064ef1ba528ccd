// What an expression over rows gives: its kind, whether it is whole, what is publicly declared of
// it.
//
// Bounds and lists of values come from declarations and from the expression itself, never from
// rows. They say what a sum may be clamped to and which groups there are; a row may still hold
// something else, so nothing that must not fail may rest on them.
#pragma once

#include <shoal/catalog/policy.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace shoal::plan {

enum class ValueKind { number, text, boolean, date, timestamp };

// "a number", "a text", "true or false", ...: for messages.
std::string_view in_words(ValueKind kind);

struct ValueType {
  ValueKind kind = ValueKind::number;
  // A number within 64 bits, BIGINT in the engine; otherwise it is a DOUBLE.
  bool whole = false;
  // Of a number: what a sum of it may be clamped to.
  std::optional<catalog::Bounds> bounds = std::nullopt;
  // The public list of all values it is meant to take, NULL apart, as text in the notation of a key
  // (42, 2024-01-31, true, Texas).
  std::optional<std::vector<std::string>> values = std::nullopt;
  bool nullable = true;

  bool operator==(const ValueType&) const = default;
};

// The type of a declared column; none for one of a type that no expression can use.
std::optional<ValueType> type_of(const catalog::Column& column);

// One value in memory: NULL, a truth value, a finite number, or a text. Dates and timestamps are
// texts in the one notation of `canonical_timestamp`, so that their order is the order of the
// texts.
using Value = std::variant<std::monostate, bool, double, std::string>;

inline bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }

// Whether the number is a whole one that a double and 64 bits both hold exactly.
bool is_exact_whole(double number);

// The value in the notation of a key; none for NULL. Whole numbers have no decimal point.
std::optional<std::string> key_text(const Value& value);

// From the notation of a key; NULL if it is not in that notation.
Value value_of_key(std::string_view text, ValueKind kind);

// A literal's timestamp as 2024-01-31 12:30:00[.5]: a space, a time, no trailing zeros.
// `text` satisfies sql::is_timestamp.
std::string canonical_timestamp(std::string_view text);

// A list beyond this is no list: the groups of an answer are shown one by one.
inline constexpr std::size_t kMaxListedValues = 10'000;

}  // namespace shoal::plan
