// L-BFGS for a smooth convex function of many tables, with a diagonal that says how curved it is in
// each cell, and a line search that halves the step until the function falls as promised.
#pragma once

#include "synth/worker_team.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace shoal::synth {

struct SolverOptions {
  int max_iterations = 300;
  double tolerance = 0;  // stop when half the squared Newton step, by the diagonal, is below this
  std::size_t memory = 12;
};

struct SolverResult {
  int iterations = 0;
  bool converged = false;
  double promise = 0;
};

// Sets the gradient at a point and gives the value there.
using Objective = std::function<double(std::span<const double> point, std::span<double> gradient)>;

// Sets the diagonal of the curvature, roughly, at the point that was evaluated last.
using Curvature = std::function<void(std::span<double> diagonal)>;

// Moves `point` to where the gradient is small. A start without a finite value is given up for 0.
// Ends at the same point for any number of threads in the team if the objective is the same.
SolverResult minimise(const Objective& objective, const Curvature& curvature,
                      std::vector<double>& point, const SolverOptions& options, WorkerTeam& team);

}  // namespace shoal::synth
