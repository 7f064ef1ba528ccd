// Limited-memory quasi-Newton (Nocedal 1980) with a backtracking line search: for comparison and
// for dimensions where products with the Hessian are dear.
#include "learn/certificate.hpp"
#include "learn/secant_pairs.hpp"
#include "learn/solver_parts.hpp"

#include <Eigen/Core>

#include <cmath>

namespace shoal::learn {
namespace {

using Eigen::VectorXd;

VectorXd as_vector(const std::vector<double>& v) {
  return Eigen::Map<const VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
}

VectorXd descent(const SecantPairs& pairs, const VectorXd& gradient) {
  return pairs.apply_inverse(-gradient, [&](VectorXd& q) {
    if (!pairs.empty()) q *= pairs.newest_scale();
  });
}

}  // namespace

Solution minimise_lbfgs(const RowSource& rows, const Objective& objective,
                        const SolverOptions& options) {
  check_smooth_objective(rows, objective);
  const RowPasses passes(rows, objective.loss, options.threads);
  std::vector<double> weights(rows.dimension(), 0.0);
  CertifiedGradient now = certified_gradient(passes, objective, weights, Precision::plain, true);
  SecantPairs pairs;
  int iterations = 0;
  while (iterations < options.most_iterations && now.norm_bound() > options.residual) {
    ++iterations;
    const VectorXd gradient = as_vector(now.gradient);
    const VectorXd direction = descent(pairs, gradient);
    const double slope = direction.dot(gradient);
    bool moved = false;
    for (double size = pairs.empty() ? 1 / gradient.norm() : 1.0; size > 0x1p-40; size /= 2) {
      std::vector<double> next = weights;
      for (std::size_t j = 0; j < next.size(); ++j)
        next[j] += size * direction[static_cast<Eigen::Index>(j)];
      CertifiedGradient at = certified_gradient(passes, objective, next, Precision::plain, true);
      // Near the end values no longer tell, but gradients do.
      const bool lower = at.value <= now.value + 1e-4 * size * slope;
      if (!lower && norm_up(at.gradient) > (1 - 1e-4) * norm_up(now.gradient)) continue;
      pairs.add(as_vector(next) - as_vector(weights), as_vector(at.gradient) - gradient);
      weights = std::move(next);
      now = std::move(at);
      moved = true;
      break;
    }
    if (!moved && pairs.empty()) break;
    if (!moved) pairs.clear();
  }
  return finish(objective, options, std::move(weights), now.norm_bound(), iterations);
}

}  // namespace shoal::learn
