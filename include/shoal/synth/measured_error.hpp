// How far a model is from the data, measured with noise: what a synthesis pays for beside itself.
//
// The L1 distance of every marginal of a workload, in rows, between the data and the model's
// counts. It is stated as a share of the model's rows, which are public, so that no noise but its
// own is in it; a wrong number of rows counts as error too. Noise is of one sigma and independent,
// so the mean over W marginals is known sqrt(W) times better than each: as well as if the mean
// alone had been measured. Proof: src/release/marginal_curator.proof.md.
#pragma once

#include <shoal/release/marginal_curator.hpp>
#include <shoal/synth/graphical_model.hpp>
#include <shoal/synth/workload.hpp>

#include <cstdint>
#include <vector>

namespace shoal::synth {

struct MeasuredErrors {
  double sigma = 0;          // of the noise in each distance, in rows
  std::vector<double> rows;  // one a marginal of the workload: distances with noise
  // What the model's counts lost, in rows, when they were rounded to steps; one a marginal. Public.
  std::vector<double> rounding;
};

// The sigma at which the distances of so many marginals cost this rho, or half of mu squared.
// Throws invalid_argument for less than 1e-13 a marginal, which the rounding of charges would eat
// up, and for more noise than can be drawn.
double distance_sigma(std::size_t marginals, double rho, const release::MarginalUnit& unit);

// Measures what was prepaid with this sigma.
MeasuredErrors measure_errors(release::MarginalCurator& curator, const GraphicalModel& model,
                              const Workload& workload, double sigma, int threads);

// A distance as a share of the model's rows, from 0 up (2: nothing in common, for as many rows as
// the data has), and an interval that holds it with probability 1 - beta: of one marginal, and of
// the mean of all by the workload's weights.
struct ErrorInterval {
  double value = 0;
  double lower = 0;
  double upper = 0;
};
ErrorInterval marginal_error(const MeasuredErrors& errors, std::size_t marginal, double total,
                             double beta);
ErrorInterval mean_error(const MeasuredErrors& errors, const Workload& workload, double total,
                         double beta);

// Half the width of such an interval, in rows, but for what rounding to steps adds, which depends
// on the model: of one marginal, and of the mean. Noise is discrete or rounded Gaussian, whose
// tails are no heavier than sigma's, but for half a step.
double distance_width(double sigma, double beta);
double mean_distance_width(double sigma, const Workload& workload, double beta);

}  // namespace shoal::synth
