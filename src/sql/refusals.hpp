// What other systems know and Shoal does not, with what to write instead. Private to the sql layer.
//
// Each function gives the message for a word in upper case, or nothing if the word is none of its
// kind.
#pragma once

#include <string_view>

namespace shoal::sql {

// At the beginning of a statement: INSERT, FROM.
std::string_view statement_refusal(std::string_view upper);

// At the end of a query: UNION, WINDOW.
std::string_view clause_refusal(std::string_view upper);

// Behind a table, in place of JOIN: NATURAL, ASOF.
std::string_view join_refusal(std::string_view upper);

// Where a table is expected: LATERAL, VALUES.
std::string_view relation_refusal(std::string_view upper);

// Behind a star: EXCLUDE, REPLACE.
std::string_view star_refusal(std::string_view upper);

// Where a value is expected: EXISTS, CURRENT_DATE.
std::string_view value_refusal(std::string_view upper);

// Behind an operand: ILIKE, COLLATE, ^.
std::string_view operator_refusal(std::string_view upper);

// Behind a function call: OVER.
std::string_view call_refusal(std::string_view upper);

inline constexpr std::string_view kSubqueryRefusal =
    "subqueries are not supported as values and conditions; put the inner query into FROM or WITH "
    "and join it, for example FROM people JOIN (SELECT ...) AS x ON x.id = people.id";

}  // namespace shoal::sql
