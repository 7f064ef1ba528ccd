// Solvers: the minimiser of a sum of losses, a regulariser and a linear term. Not private by
// themselves.
//
//   J(w) = sum_i loss(<x_i, w>, y_i) + l2 / 2 |w|^2 + l1 |w|_1 + <linear, w>,  w in a convex set
//
// Invariants: the result depends on rows and options alone, not on the number of threads: sums are
// made over fixed parts of the rows and joined in a fixed order. `distance_bound` of a solution is
// a bound on its distance from the exact minimiser over the real numbers that counts every rounding
// error; proof: src/learn/certificate.proof.md.
#pragma once

#include <shoal/learn/loss.hpp>
#include <shoal/learn/regulariser.hpp>
#include <shoal/learn/rows.hpp>
#include <shoal/learn/set.hpp>

#include <cstdint>
#include <vector>

namespace shoal::learn {

struct Objective {
  Loss loss = Logistic{};
  Regulariser regulariser = {};
  std::vector<double> linear = {};  // empty: none
  ConvexSet set = WholeSpace{};
};

struct SolverOptions {
  // The certified residual (a bound on the norm of a subgradient of J at the solution) to stop at.
  double residual = 1e-6;
  int most_iterations = 500;
  unsigned threads = 0;  // 0: one a core
};

struct Solution {
  std::vector<double> weights;
  double residual_bound = 0;  // of a subgradient's norm at weights, certified
  double distance_bound = 0;  // residual_bound / l2, rounded up; infinite without l2
  int iterations = 0;
  bool converged = false;  // the residual asked for was certified
};

// Picks Newton with a factored Hessian up to kNewtonDimension features, else Newton with conjugate
// gradients; proximal gradients where there is an l1 part or a set. Throws invalid_argument for a
// loss that is not smooth and for an objective without l2 part, unsupported for softmax.
Solution minimise(const RowSource& rows, const Objective& objective, const SolverOptions& options);

inline constexpr std::size_t kNewtonDimension = 1024;

// Each solver by itself: for smooth objectives over the whole space.
Solution minimise_newton(const RowSource& rows, const Objective& objective,
                         const SolverOptions& options);
Solution minimise_newton_cg(const RowSource& rows, const Objective& objective,
                            const SolverOptions& options);
Solution minimise_lbfgs(const RowSource& rows, const Objective& objective,
                        const SolverOptions& options);
Solution minimise_proximal(const RowSource& rows, const Objective& objective,
                           const SolverOptions& options);

}  // namespace shoal::learn
