// Noise for quantiles: one or two of a value are chosen one by one, each with an interval; three or
// more come from one tree.
#pragma once

#include "plan/aggregates.hpp"
#include "plan/noise_share.hpp"

#include <shoal/plan/plan.hpp>

#include <span>
#include <vector>

namespace shoal::plan {

// How many parts of the question's cost the quantiles of a histogram are.
std::size_t quantile_parts(const std::vector<PlannedAggregate>& aggregates, std::size_t statistic);

// A grid of no more steps than quantiles can be chosen from.
catalog::GridRange leaf_range(const WantedValue& wanted);

// One share a part. Throws invalid_argument if the noise cannot be represented.
mechanism::GroupQuantiles quantile_noise(const Plan& plan, std::size_t statistic,
                                         const mechanism::GroupedNoise& grouping,
                                         std::span<const Share> shares, double epsilon);

}  // namespace shoal::plan
