// A start for Newton's method from a part of the rows.
#pragma once

#include "learn/factored_hessian.hpp"

#include <shoal/learn/solver.hpp>

#include <vector>

namespace shoal::learn {

// Weights near the minimum, and a Hessian in the solver that is not far off. Empty if there are too
// few rows for that, or if it went astray. Nothing is promised: who asks certifies.
std::vector<double> start_on_part(const RowPasses& passes, const Objective& objective,
                                  FactoredHessian& solver);

}  // namespace shoal::learn
