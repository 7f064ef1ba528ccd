// Accelerated proximal gradients with restarts (Nesterov 1983, O'Donoghue and Candes 2015), for an
// l1 part and for weights confined to a set.
//
// The certificate: p = prox(v) for a vector of doubles v makes (v - p) / step a subgradient of the
// non-smooth part at p, so grad(p) + (v - p) / step is one of J. Proof: certificate.proof.md.
#include "learn/certificate.hpp"
#include "learn/certified_projection.hpp"
#include "learn/solver_parts.hpp"

#include <shoal/numeric/directed.hpp>

#include <cmath>
#include <limits>

namespace shoal::learn {
using numeric::add_up;
using numeric::multiply_up;

Solution minimise_proximal(const RowSource& rows, const Objective& objective,
                           const SolverOptions& options) {
  check_objective(rows, objective);
  const RowPasses passes(rows, objective.loss, options.threads);
  const double l2 = objective.regulariser.l2;
  const double smooth = add_up(l2, multiply_up(static_cast<double>(rows.row_count()),
                                               smoothness(objective.loss, rows.row_norm())));
  double step = 1 / smooth;
  double rate = (1 - std::sqrt(l2 * step)) / (1 + std::sqrt(l2 * step));
  std::vector<double> weights(rows.dimension(), 0.0);
  std::vector<double> ahead = weights;
  double bound = std::numeric_limits<double>::infinity();
  double offset = 0;
  Precision precision = Precision::plain;
  int iterations = 0;
  const int most = 100 * options.most_iterations;
  while (iterations < most) {
    ++iterations;
    const CertifiedGradient there = certified_gradient(passes, objective, ahead, precision);
    std::vector<double> v = ahead;
    for (std::size_t j = 0; j < v.size(); ++j) v[j] -= step * there.gradient[j];
    ProximalPoint next = certified_proximal(objective.set, v, step * objective.regulariser.l1);
    double turned = 0;
    std::vector<double> moved(v.size());
    for (std::size_t j = 0; j < v.size(); ++j) {
      moved[j] = next.weights[j] - weights[j];
      turned += (ahead[j] - next.weights[j]) * moved[j];
    }
    const double momentum = turned > 0 ? 0 : rate;
    for (std::size_t j = 0; j < v.size(); ++j) ahead[j] = next.weights[j] + momentum * moved[j];
    weights = std::move(next.weights);
    if (iterations % 8 != 0 && norm_up(moved) > 0) continue;
    const CertifiedGradient here = certified_gradient(passes, objective, weights, precision);
    std::vector<double> residual(v.size());
    std::vector<double> pulls(v.size());
    for (std::size_t j = 0; j < v.size(); ++j) {
      pulls[j] = (v[j] - weights[j]) / step;
      residual[j] = here.gradient[j] + pulls[j];
    }
    const double rounding = multiply_up(0x1p-50, add_up(norm_up(here.gradient), norm_up(pulls)));
    const double shifted = multiply_up(next.error, add_up(smooth, numeric::divide_up(1, step)));
    bound = add_up(add_up(norm_up(residual), here.error), add_up(rounding, shifted));
    offset = next.error;
    if (bound <= options.residual) break;
    if (precision == Precision::plain && norm_up(residual) < here.error) {
      precision = Precision::extended;
    }
  }
  return finish(objective, options, std::move(weights), bound, iterations, offset);
}

}  // namespace shoal::learn
