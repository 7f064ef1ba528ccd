// Noise for the statistics of a plan: the grid of each sum, its sensitivity, and the smallest noise
// whose exact charge stays within the question's epsilon.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/plan/plan.hpp>

#include <vector>

namespace shoal::plan {

// A statistic that is wanted, before its grid is known.
struct WantedStatistic {
  catalog::StatisticKind kind = catalog::StatisticKind::rows;
  const catalog::Column* column = nullptr;
};

// Fills statistics, noises, epsilon, delta, event and charge. Throws invalid_argument.
void calibrate(const std::vector<WantedStatistic>& wanted, const QueryOptions& options, Plan& plan);

// How far a bounded statistic moves between neighbours. Proof: src/engine/bounding.proof.md.
Sensitivity sensitivity_of(const catalog::Statistic& statistic, std::int64_t rows_per_unit,
                           Neighbors neighbors);

}  // namespace shoal::plan
