#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/random/scale.hpp>
#include <shoal/synth/measured_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::synth {
namespace {

// A hundred units of a charge, so that rounding up costs a few hundredths at most.
constexpr double kLeastDistanceRho = 1e-13;
constexpr double kRoundedUp = 2e-15;
constexpr auto kSteps = static_cast<double>(release::kComparedSteps);

ErrorInterval interval(double rows, double width, double total) {
  const auto share = [&](double value) { return std::max(0.0, value / total); };
  return {share(rows), share(rows - width), share(rows + width)};
}

double width_of(double deviation, double beta) {
  return deviation * std::sqrt(2 * std::log(2 / beta)) + 0.5 / kSteps;
}

double weight_sum(const Workload& workload) {
  double sum = 0;
  for (const WorkloadMarginal& one : workload) sum += static_cast<double>(one.weight);
  return sum;
}

}  // namespace

double distance_sigma(std::size_t marginals, double rho, const release::MarginalUnit& unit) {
  SHOAL_CHECK(marginals > 0);
  const double each = rho / static_cast<double>(marginals);
  const double moves = unit.neighbors == Neighbors::add_remove ? 1 : 2;
  const double reach = moves * static_cast<double>(unit.rows_per_unit);
  // A little more, so that charges that are rounded up fit.
  const double sigma = std::sqrt(reach * reach / (2 * (each - kRoundedUp))) * (1 + 1e-6);
  if (each >= kLeastDistanceRho && sigma * kSteps <= random::kMaxScale) return sigma;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("measuring the errors of {} marginals with a rho of {} leaves {} for each, "
                  "and the least is {}: set a larger share aside, use a larger epsilon or "
                  "delta, or a smaller workload",
                  marginals, format_number(rho), format_number(each),
                  format_number(kLeastDistanceRho)));
}

MeasuredErrors measure_errors(release::MarginalCurator& curator, const GraphicalModel& model,
                              const Workload& workload, double sigma, int threads) {
  std::vector<data::AttributeSet> sets;
  for (const WorkloadMarginal& one : workload) sets.push_back(one.set);
  std::vector<std::vector<double>> expected = model.marginals(sets, threads);
  std::vector<release::ComparedTable> tables;
  MeasuredErrors errors{sigma, {}, {}};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    release::ComparedTable& table = tables.emplace_back();
    table.set = sets[i];
    double lost = 0;
    for (const double rows : expected[i]) {
      const double steps = std::nearbyint(rows * kSteps);
      lost += std::abs(steps - rows * kSteps) / kSteps;
      table.steps.push_back(static_cast<std::int64_t>(steps));
    }
    errors.rounding.push_back(lost);
  }
  for (const std::int64_t steps : curator.distances(tables))
    errors.rows.push_back(static_cast<double>(steps) / kSteps);
  return errors;
}

double distance_width(double sigma, double beta) { return width_of(sigma, beta); }

double mean_distance_width(double sigma, const Workload& workload, double beta) {
  double squares = 0;
  for (const WorkloadMarginal& one : workload)
    squares += static_cast<double>(one.weight) * static_cast<double>(one.weight);
  return width_of(sigma * std::sqrt(squares) / weight_sum(workload), beta);
}

ErrorInterval marginal_error(const MeasuredErrors& errors, std::size_t marginal, double total,
                             double beta) {
  return interval(errors.rows.at(marginal),
                  distance_width(errors.sigma, beta) + errors.rounding.at(marginal), total);
}

ErrorInterval mean_error(const MeasuredErrors& errors, const Workload& workload, double total,
                         double beta) {
  SHOAL_CHECK(!workload.empty() && errors.rows.size() == workload.size());
  const double weights = weight_sum(workload);
  double mean = 0;
  double width = mean_distance_width(errors.sigma, workload, beta);
  for (std::size_t i = 0; i < workload.size(); ++i) {
    const double share = static_cast<double>(workload[i].weight) / weights;
    mean += share * errors.rows[i];
    width += share * errors.rounding[i];
  }
  return interval(mean, width, total);
}

}  // namespace shoal::synth
