// What words, and the text of literals and types, mean to the language. Private to the sql layer.
#pragma once

#include <shoal/sql/syntax.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace shoal::sql {

// Whether an unquoted word, in upper case, can be no name: reserved here or by one of the engines.
bool is_reserved(std::string_view upper);

// Whether the word, in upper case, names an ordinary function in every dialect's grammar: some
// names, such as EXTRACT, have a syntax of their own, and the types have none at all.
bool is_function_name(std::string_view upper);

// Whether the word, in upper case, is a field of EXTRACT, and the fields for a message.
bool is_date_field(std::string_view upper);
inline constexpr std::string_view kDateFields =
    "YEAR, QUARTER, MONTH, DAY, DOW, DOY, HOUR, MINUTE or SECOND";

// The type of that name, in upper case (DOUBLE PRECISION is DOUBLE here). None if unknown.
std::optional<ScalarType> scalar_type(std::string_view upper);

bool is_integer_text(std::string_view text);
bool is_decimal_text(std::string_view text);

// ASCII only, independent of the locale.
std::string to_upper(std::string_view text);

}  // namespace shoal::sql
