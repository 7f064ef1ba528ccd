// How far a model is from the data, measured with noise: what a synthesis pays for beside itself.
//
// The L1 distance of every marginal of a workload, in rows, between the data and the model's counts
// rounded to whole rows. Noise is of one sigma and independent, so the mean over W marginals is
// known sqrt(W) times better than each: as well as if the mean alone had been measured.
#pragma once

#include <shoal/release/marginal_curator.hpp>
#include <shoal/synth/graphical_model.hpp>
#include <shoal/synth/workload.hpp>

#include <cstdint>
#include <vector>

namespace shoal::synth {

struct MeasuredErrors {
  double sigma = 0;                // of the noise in each distance, in rows
  std::vector<std::int64_t> rows;  // one a marginal of the workload: distances with noise
};

// The sigma at which the distances of so many marginals cost this rho, or half of mu squared.
double distance_sigma(std::size_t marginals, double rho, const release::MarginalUnit& unit);

// Measures what was prepaid with this sigma.
MeasuredErrors measure_errors(release::MarginalCurator& curator, const GraphicalModel& model,
                              const Workload& workload, double sigma, int threads);

// A distance as a share of a number of rows, from 0 to 2, and an interval that holds it with
// probability 1 - beta: of one marginal, and of the mean of all.
struct ErrorInterval {
  double value = 0;
  double lower = 0;
  double upper = 0;
};
// Noise that is discrete or rounded Gaussian: its tails are no heavier than sigma's, but for half a
// row of rounding. Half the width of the interval, in rows, for the mean of so many.
double distance_width(double sigma, std::size_t of, double beta);
ErrorInterval marginal_error(const MeasuredErrors& errors, std::size_t marginal, double total,
                             double beta);
ErrorInterval mean_error(const MeasuredErrors& errors, double total, double beta);

}  // namespace shoal::synth
