// Groupings of one answer that agree: totals that are the sums of their parts.
#pragma once

#include <shoal/catalog/released_group.hpp>
#include <shoal/plan/plan.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace shoal::plan {

// The grouping by all keys of the others, if there is one.
std::optional<std::size_t> finest_grouping(const std::vector<PlannedGrouping>& groupings);

// Fills in `consistent` of every group: for counts of rows and of values and for sums, those whose
// totals are the sums of their parts and which are nearest to what was released, each difference
// weighted by its noise. Other statistics stay as released. The plan must be one with `consistent`.
void make_consistent(const Plan& plan, std::vector<std::vector<catalog::ReleasedGroup>>& sets);

}  // namespace shoal::plan
