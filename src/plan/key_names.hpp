// What the keys of a GROUP BY stand for, in a question and in a subquery.
#pragma once

#include "plan/row_type.hpp"

#include <shoal/sql/query.hpp>
#include <shoal/sql/syntax.hpp>

#include <string_view>

namespace shoal::plan {

struct Scope;

// A key is written as an expression, as a column of the rows, as the position of an item of the
// select list or, where no column has the name, as an alias of one. Throws invalid_argument, with
// the position, for a position beyond the list and for a name of two items.
sql::Expression meant_key(const sql::Expression& written, const sql::Query& query,
                          const Scope& rows, std::string_view text);

// The same without positions: in GROUP BY ALL the item 2 is the number.
sql::Expression meant_name(const sql::Expression& written, const sql::Query& query,
                           const Scope& rows, std::string_view text);

// Whether a column of the rows has the name, in any case.
bool names_column(const sql::ColumnReference& reference, const Scope& rows);

}  // namespace shoal::plan
