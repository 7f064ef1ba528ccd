// Fan-out: how many rows a join may make of one row. Limits per person come after joins, so without
// a bound by public facts one person's rows, multiplied with each other, would decide how long a
// question takes and whether memory lasts. Proof: relation.proof.md.
#pragma once

#include "plan/relation.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::plan {

// The product, or the largest number if that is beyond it.
FanOut times(const FanOut& one, const FanOut& other);

// How many rows of a person a relation may bring to a join; none if the policy does not say.
std::optional<long long> join_limit(const ContributionLimits& limits);

// The relation with at most so many rows of each unit, chosen by a keyed hash of what they hold.
// Rows of nobody are left out: nothing counts them. Columns that the question's text cannot name
// are not read.
PlannedRelation cap_rows(PlannedRelation from, long long most, const std::string& alias,
                         std::string_view text);

// How many rows of a public relation agree in these columns at most; without any, how many there
// are.
FanOut public_fan_out(const PlannedRelation& side, const std::vector<sql::Expression>& columns);

}  // namespace shoal::plan
