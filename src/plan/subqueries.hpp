// Subqueries: row by row, or grouped by the unit. Either way each row of the result is one unit's
// (or public), and carries it along. Proof: relation.proof.md.
#pragma once

#include "plan/relation.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace shoal::plan {

// What only the outermost query may have: LIMIT, ORDER BY, options, ...
void refuse_in_subquery(const sql::Query& query, sql::Position position, std::string_view text);

// SELECT items FROM the relation WHERE the condition, with the unit as one column more. The
// condition is checked already.
PlannedRelation project(const sql::Query& query, PlannedRelation from,
                        std::optional<sql::Expression> where, std::string alias,
                        std::string_view text);

// One aggregate over the rows of a unit, for a query that groups by the unit. Sums are in double
// precision of values clamped to +-1e100, so that none can overflow, and do not depend on the order
// of rows: that could change with the rows of others. Throws with the position.
TypedExpression unit_aggregate(const sql::Call& call, const RowExpressions& rows,
                               sql::Position position, std::string_view text);

// Each unit's rows added up by its keys, and the query that is left: its items and its HAVING, as
// WHERE, speak of the columns of the relation.
struct UnitGroups {
  PlannedRelation relation;
  sql::Query outer;
};
UnitGroups group_by_unit(const sql::Query& query, PlannedRelation from, sql::Position position,
                         const std::string& alias, std::string_view text);

}  // namespace shoal::plan
