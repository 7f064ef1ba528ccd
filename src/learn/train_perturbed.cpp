// Training by objective perturbation, approximate minima and output perturbation: draw, minimise
// with a certificate, put on the grid, add noise.
#include "learn/methods.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/solver.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/norm_noise.hpp>
#include <shoal/random/rounded_normal.hpp>

#include <cmath>

namespace shoal::learn {
namespace {

// The linear term is an exactly rounded draw of the ideal law, on a grid this much finer than its
// scale.
constexpr int kNoiseDigits = 40;

struct LinearTerm {
  std::vector<double> values;
  double rounding;  // the distance from the ideal draw is at most this
};

LinearTerm draw_linear_term(NoiseShape shape, double scale, std::size_t dimension,
                            random::BitSource& bits) {
  const int exponent = std::ilogb(scale) - kNoiseDigits;
  const double steps = std::ldexp(scale, -exponent);  // exact: a power of two
  std::vector<Int128> drawn;
  if (shape == NoiseShape::norm) {
    drawn = random::sample_norm_noise(steps, static_cast<std::int64_t>(dimension), bits);
  } else {
    const random::RoundedNormalSampler sampler(steps);
    for (std::size_t j = 0; j < dimension; ++j) drawn.push_back(sampler.sample(bits));
  }
  LinearTerm term;
  double largest = 0;
  for (const Int128 one : drawn) {
    term.values.push_back(std::ldexp(static_cast<double>(one), exponent));
    largest = std::fmax(largest, std::fabs(term.values.back()));
  }
  // Half a step for the rounded draw; beyond 2^53 steps the double rounds once more.
  const double each =
      numeric::add_up(std::ldexp(0.5, exponent), numeric::multiply_up(largest, 0x1p-53));
  term.rounding = numeric::multiply_up(numeric::sqrt_up(static_cast<double>(dimension)), each);
  return term;
}

// The weights, at most residual / l2 from the exact minimiser. A solution that cannot be certified
// is never released: see the limits in certificate.proof.md.
std::vector<double> minimiser(const RowSource& rows, const Problem& problem,
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
  solver.progress = options.progress;
  Solution solution = minimise(rows, objective, solver);
  SHOAL_CHECK(solution.distance_bound <= numeric::divide_down(residual, l2));
  return std::move(solution.weights);
}

// The minimiser with a random linear term, at most residual / l2 from the ideal one, rounding of
// the term included.
std::vector<double> perturbed_minimiser(const RowSource& rows, const Problem& problem,
                                        NoiseShape shape, double scale, double l2, double residual,
                                        random::BitSource& bits, const FitOptions& options) {
  LinearTerm term = draw_linear_term(shape, scale, problem.dimension, bits);
  const double left = numeric::subtract_down(residual, term.rounding);
  SHOAL_CHECK(left > 0);
  return minimiser(rows, problem, std::move(term.values), l2, left, options);
}

}  // namespace

std::vector<double> train(const ObjectivePerturbation& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options) {
  const std::vector<double> weights = perturbed_minimiser(
      rows, problem, method.shape, method.scale, method.l2, method.residual, bits, options);
  return project(problem.set, add_output_noise(weights, method.output, bits));
}

std::vector<double> train(const MinimaPerturbation& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options) {
  const std::vector<double> weights = perturbed_minimiser(
      rows, problem, NoiseShape::gaussian, method.sigma, method.l2, method.residual, bits, options);
  return project(problem.set, add_output_noise(weights, method.output, bits));
}

std::vector<double> train(const OutputPerturbation& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options) {
  const std::vector<double> weights =
      minimiser(rows, problem, {}, method.l2, method.residual, options);
  return project(problem.set, add_output_noise(weights, method.output, bits));
}

}  // namespace shoal::learn
