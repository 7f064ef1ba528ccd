// Joins that keep each row one unit's. Proof: relation.proof.md.
#pragma once

#include "plan/relation.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace shoal::plan {

// Private relations are joined on equality of the unit, and on more if wanted; never where the unit
// is a row. A public relation is joined on anything; where the unit is a row only on a column that
// the policy calls unique, so that no row becomes two. Of private relations one brings a limited
// number of rows of each unit, so that the work for a unit has a public bound (fan_out.hpp). Throws
// unsupported, or refused_by_policy where no limit is said, with the position.
PlannedRelation join_relations(const sql::Join& join, sql::Position position, PlannedRelation left,
                               PlannedRelation right, bool unit_is_person, std::string_view text,
                               const std::function<std::string()>& fresh_alias);

// The names that WITH gives its columns.
void rename_columns(const sql::CommonTable& definition, std::string_view text, Scope& scope);

}  // namespace shoal::plan
