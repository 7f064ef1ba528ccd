// Training by objective perturbation, approximate minima and output perturbation: draw, minimise,
// put on the grid, add noise.
#include "learn/bounded_proximal.hpp"
#include "learn/linear_term.hpp"
#include "learn/methods.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/solver.hpp>
#include <shoal/numeric/directed.hpp>

#include <utility>

namespace shoal::learn {
namespace {

// The weights, at most residual / l2 from the exact minimiser. A fast solver mostly certifies that
// it is so near. Where it does not, the one that needs no certificate takes over: whoever sees the
// released weights cannot tell which of the two it was.
std::vector<long double> minimiser(const RowSource& rows, const Problem& problem,
                                   std::vector<double> linear, double l2, double residual,
                                   const FitOptions& options) {
  Objective objective;
  objective.loss = problem.loss;
  objective.regulariser = {l2, problem.regulariser.l1};
  objective.linear = std::move(linear);
  objective.set = problem.set;
  SolverOptions solver;
  solver.residual = residual / 2;
  solver.threads = options.threads;
  const Solution solution = minimise(rows, objective, solver);
  if (solution.distance_bound <= numeric::divide_down(residual, l2))
    return {solution.weights.begin(), solution.weights.end()};
  return minimise_surely(rows, objective, residual, options.threads);
}

// The minimiser with a random linear term, at most residual / l2 from the ideal one, rounding of
// the term included.
std::vector<long double> perturbed_minimiser(const RowSource& rows, const Problem& problem,
                                             NoiseShape shape, double scale, double l2,
                                             double residual, random::BitSource& bits,
                                             const FitOptions& options) {
  LinearTerm term = draw_linear_term(shape, scale, problem.dimension, bits);
  const double left = numeric::subtract_down(residual, term.rounding);
  SHOAL_CHECK(left > 0);  // a matter of the draw, and not of the rows
  return minimiser(rows, problem, std::move(term.values), l2, left, options);
}

}  // namespace

std::vector<double> train(const ObjectivePerturbation& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options) {
  const std::vector<long double> weights = perturbed_minimiser(
      rows, problem, method.shape, method.scale, method.l2, method.residual, bits, options);
  return project(problem.set, add_output_noise(weights, method.output, bits));
}

std::vector<double> train(const MinimaPerturbation& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options) {
  const std::vector<long double> weights = perturbed_minimiser(
      rows, problem, NoiseShape::gaussian, method.sigma, method.l2, method.residual, bits, options);
  return project(problem.set, add_output_noise(weights, method.output, bits));
}

std::vector<double> train(const OutputPerturbation& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options) {
  const std::vector<long double> weights =
      minimiser(rows, problem, {}, method.l2, method.residual, options);
  return project(problem.set, add_output_noise(weights, method.output, bits));
}

}  // namespace shoal::learn
