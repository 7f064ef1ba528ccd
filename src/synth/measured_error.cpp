#include <shoal/base/error.hpp>
#include <shoal/synth/measured_error.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::synth {
namespace {

ErrorInterval interval(double rows, double width, double total) {
  const auto share = [&](double value) { return std::clamp(value / total, 0.0, 2.0); };
  return {share(rows), share(rows - width), share(rows + width)};
}

}  // namespace

double distance_sigma(std::size_t marginals, double rho, const release::MarginalUnit& unit) {
  SHOAL_CHECK(marginals > 0 && rho > 0);
  const double moves = unit.neighbors == Neighbors::add_remove ? 1 : 2;
  const double reach = moves * static_cast<double>(unit.rows_per_unit);
  // A little more, so that charges that are rounded up fit.
  return std::sqrt(static_cast<double>(marginals) * reach * reach / (2 * rho)) * (1 + 1e-6);
}

MeasuredErrors measure_errors(release::MarginalCurator& curator, const GraphicalModel& model,
                              const Workload& workload, double sigma, int threads) {
  std::vector<data::AttributeSet> sets;
  for (const WorkloadMarginal& one : workload) sets.push_back(one.set);
  std::vector<std::vector<double>> expected = model.marginals(sets, threads);
  std::vector<release::ComparedTable> tables;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    release::ComparedTable& table = tables.emplace_back();
    table.set = sets[i];
    for (const double rows : expected[i]) table.rows.push_back(std::llround(rows));
  }
  return {sigma, curator.distances(tables)};
}

double distance_width(double sigma, std::size_t of, double beta) {
  return sigma * std::sqrt(2 * std::log(2 / beta) / static_cast<double>(of)) + 0.5;
}

ErrorInterval marginal_error(const MeasuredErrors& errors, std::size_t marginal, double total,
                             double beta) {
  return interval(static_cast<double>(errors.rows.at(marginal)),
                  distance_width(errors.sigma, 1, beta), total);
}

ErrorInterval mean_error(const MeasuredErrors& errors, double total, double beta) {
  SHOAL_CHECK(!errors.rows.empty());
  double sum = 0;
  for (const std::int64_t rows : errors.rows) sum += static_cast<double>(rows);
  const std::size_t size = errors.rows.size();
  return interval(sum / static_cast<double>(size), distance_width(errors.sigma, size, beta), total);
}

}  // namespace shoal::synth
