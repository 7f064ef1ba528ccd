// From text to syntax tree. The grammar is in docs/reference/sql.md.
//
// Errors carry line, column, what was found and what to write: parse_error for what is no query,
// unsupported for what other systems know and Shoal does not (yet). No input crashes or exhausts
// the stack: text, nesting and lists are limited as below.
#pragma once

#include <shoal/sql/query.hpp>
#include <shoal/sql/syntax.hpp>

#include <cstddef>
#include <string_view>

namespace shoal::sql {

inline constexpr std::size_t kMaxQueryBytes = std::size_t{64} * 1024;
inline constexpr std::size_t kMaxNesting = 200;
inline constexpr std::size_t kMaxListItems = 10'000;

// One whole query. It nests at most kMaxNesting deep over all: operators, joins and queries in FROM
// and WITH are levels of one tree.
Query parse_query(std::string_view text);

// One whole expression, with the same rules and limits.
Expression parse_expression(std::string_view text);

}  // namespace shoal::sql
