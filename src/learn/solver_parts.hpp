// What the solvers share.
#pragma once

#include <shoal/learn/solver.hpp>

#include <vector>

namespace shoal::learn {

// Throws invalid_argument or unsupported unless the loss is pointwise and smooth, the linear term
// of the rows' dimension and the objective strongly convex.
void check_objective(const RowSource& rows, const Objective& objective);
// And there is neither an l1 part nor a set.
void check_smooth_objective(const RowSource& rows, const Objective& objective);

Solution finish(const Objective& objective, const SolverOptions& options,
                std::vector<double> weights, double residual_bound, int iterations,
                double offset = 0);

}  // namespace shoal::learn
