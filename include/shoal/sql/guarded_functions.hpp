// Functions that no value can make fail.
//
// An engine's own functions raise errors on some values (a logarithm of zero, a text that is no
// number, an overflow), and an error tells that such a value is there. A guarded function is total:
// where it has no result, it is NULL. Trees hold guarded functions as calls, such as
// SAFE_DIVIDE(a, b); printing for an engine puts expressions of that engine in their place, which
// raise no error whatever the values of columns, and which give the same in every engine
// (guarded_functions.proof.md; docs/reference/sql.md lists them with their rules). The dialect
// shoal prints them as they are.
//
// Arguments are of the types BIGINT, DOUBLE, VARCHAR, BOOLEAN, DATE and TIMESTAMP: the planner has
// seen to that, and to the right type in the right place.
#pragma once

#include <shoal/sql/printer.hpp>
#include <shoal/sql/syntax.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace shoal::sql {

// Whether the name, in upper case, is a guarded function's.
bool is_guarded(std::string_view name);

// The function that converts from one type to another, such as SAFE_TEXT_TO_BIGINT. The small types
// of whole numbers count as BIGINT, REAL and decimals as DOUBLE. None where types are the same,
// where a conversion has no sense, and from numbers with decimals to text, which every engine
// spells differently.
std::optional<std::string> conversion_function(ScalarType from, ScalarType to);

// The expression with an engine's own in place of every guarded function; shoal changes nothing.
// Throws invalid_argument for a wrong number of arguments, or an argument that must be a constant
// and is none; unsupported for what an engine cannot do safely, and where the outcome would be too
// long to print.
Expression expand_guarded(const Expression& expression, Dialect dialect);

}  // namespace shoal::sql
