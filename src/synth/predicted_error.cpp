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
    const std::size_t added = marginal.counts.size() / sums.size();
    const double precision = 1 / (marginal.sigma * marginal.sigma * static_cast<double>(added));
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
  // Tables of what no measurement holds are not worked out: they may be of any size.
  std::vector<PredictedError> result;
  std::vector<AttributeSet> held;
  for (const WorkloadMarginal& one : workload) {
    result.push_back({one.set, std::nullopt});
    if (std::any_of(synthesis.measurements.begin(), synthesis.measurements.end(),
                    [&](const NoisyMarginal& marginal) { return one.set.within(marginal.set); }))
      held.push_back(one.set);
  }
  const auto tables = synthesis.model.marginals(held, threads);
  std::size_t next = 0;
  for (PredictedError& error : result) {
    if (next == held.size() || error.set != held[next]) continue;
    const LinearEstimate estimate = linear_estimate(synthesis, error.set);
    const std::vector<double>& table = tables[next++];
    const auto cells = static_cast<double>(table.size());
    const double noise =
        (cells * std::sqrt(2 * std::log(2.0)) + std::sqrt(2 * cells * std::log(1 / beta))) /
        std::sqrt(estimate.precision);
    // No distance is larger than 2.
    error.bound =
        std::min(2.0, (distance(table, estimate.counts) + noise) / synthesis.model.total());
  }
  return result;
}

}  // namespace shoal::synth
