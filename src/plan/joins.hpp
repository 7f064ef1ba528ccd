// Joins that keep each row one unit's. Proof: relation.proof.md.
#pragma once

#include "plan/relation.hpp"

#include <string_view>

namespace shoal::plan {

// Private relations are joined on equality of the unit, and on more if wanted; never where the unit
// is a row. A public relation is joined on anything; where the unit is a row only on a column that
// the policy calls unique, so that no row becomes two. Throws unsupported, with the position.
PlannedRelation join_relations(const sql::Join& join, sql::Position position, PlannedRelation left,
                               PlannedRelation right, bool unit_is_person, std::string_view text);

// The names that WITH gives its columns.
void rename_columns(const sql::CommonTable& definition, std::string_view text, Scope& scope);

}  // namespace shoal::plan
