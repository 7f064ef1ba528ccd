// What other systems know and Shoal does not, with what to write instead. Private to the sql layer.
//
// Each function gives the message for a word in upper case, or nothing if the word is none of its
// kind.
#pragma once

#include <string_view>

namespace shoal::sql {

// At the beginning of a statement: INSERT, WITH.
std::string_view statement_refusal(std::string_view upper);

// After the table or the predicate: JOIN, GROUP.
std::string_view clause_refusal(std::string_view upper);

// Where a value is expected: EXISTS, CURRENT_DATE.
std::string_view value_refusal(std::string_view upper);

// Behind an operand: ILIKE, COLLATE, ^.
std::string_view operator_refusal(std::string_view upper);

// Behind a function call: OVER, FILTER.
std::string_view call_refusal(std::string_view upper);

inline constexpr std::string_view kSubqueryRefusal =
    "subqueries are not supported; write the condition on the table's own columns, or run the "
    "inner query first and put its answer here";

}  // namespace shoal::sql
