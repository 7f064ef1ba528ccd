// Noise for the statistics of a plan: the grid of each sum, how far a unit moves it, and the
// smallest noise whose exact charge stays within the question's epsilon; for hidden keys, how many
// units a group must have to show.
#pragma once

#include "plan/aggregates.hpp"
#include "plan/options.hpp"

#include <shoal/plan/plan.hpp>

namespace shoal::plan {

// Fills values, statistics, noises (whose max_groups and single are set already), epsilon, delta,
// event and charge. Throws invalid_argument or refused_by_policy.
void calibrate(const WantedAggregates& wanted, const ResolvedOptions& options, Plan& plan);

}  // namespace shoal::plan
