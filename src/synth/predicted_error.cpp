#include "synth/rounds.hpp"
#include "synth/table_projection.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/synth/predicted_error.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::synth {

using data::AttributeSet;

namespace {

struct LinearEstimate {
  double precision = 0;  // one over the variance in each cell
  std::vector<double> counts;
};

LinearEstimate linear_estimate(const Synthesis& synthesis, AttributeSet set) {
  const std::vector<std::uint32_t>& sizes = synthesis.model.sizes();
  LinearEstimate estimate;
  estimate.counts.resize(static_cast<std::size_t>(data::cell_count(sizes, set)));
  std::vector<double> sums(estimate.counts.size());
  for (const NoisyMarginal& marginal : synthesis.measurements) {
    if (!set.within(marginal.set)) continue;
    TableProjection(sizes, marginal.set, set).add_up(marginal.counts, sums);
    const auto added = static_cast<double>(marginal.counts.size() / sums.size());
    const double precision = 1 / (marginal.sigma * marginal.sigma * added);
    estimate.precision += precision;
    for (std::size_t i = 0; i < sums.size(); ++i) estimate.counts[i] += precision * sums[i];
  }
  for (double& count : estimate.counts) count /= estimate.precision;
  return estimate;
}

}  // namespace

std::vector<PredictedError> predicted_errors(const Synthesis& synthesis, const Workload& workload,
                                             double beta, int threads) {
  if (!(beta > 0 && beta < 1)) {
    throw Error(ErrorCode::invalid_argument, "a chance of " + format_number(beta) +
                                                 " is out of range: give one between 0 and 1");
  }
  std::vector<AttributeSet> sets;
  for (const WorkloadMarginal& one : workload) sets.push_back(one.set);
  const auto tables = synthesis.model.marginals(sets, threads);
  std::vector<PredictedError> result;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const LinearEstimate estimate = linear_estimate(synthesis, sets[i]);
    result.push_back({sets[i], std::nullopt});
    if (!(estimate.precision > 0)) continue;
    const auto cells = static_cast<double>(tables[i].size());
    const double noise =
        (cells * std::sqrt(2 * std::log(2.0)) + std::sqrt(2 * cells * std::log(1 / beta))) /
        std::sqrt(estimate.precision);
    // No distance is larger than 2.
    result.back().bound =
        std::min(2.0, (distance(tables[i], estimate.counts) + noise) / synthesis.model.total());
  }
  return result;
}

}  // namespace shoal::synth
