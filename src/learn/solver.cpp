#include "learn/solver_parts.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/directed.hpp>

#include <fmt/format.h>

#include <cmath>

namespace shoal::learn {

void check_objective(const RowSource& rows, const Objective& objective) {
  validate(objective.loss);
  validate(objective.regulariser);
  validate(objective.set, rows.dimension());
  const LossBounds facts = bounds(objective.loss);
  if (!facts.pointwise) {
    throw Error(ErrorCode::unsupported, "this solver takes losses of one linear prediction");
  }
  if (!facts.smooth) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the {} loss is not smooth; use huberised_hinge, or a method that needs "
                    "no smoothness",
                    name(objective.loss)));
  }
  if (std::holds_alternative<Poisson>(objective.loss) && rows.label_kind() != LabelKind::count)
    throw Error(ErrorCode::invalid_argument, "the poisson loss takes labels that are counts");
  if (!objective.linear.empty() && objective.linear.size() != rows.dimension()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the linear term has {} coordinates where rows have {} features",
                            objective.linear.size(), rows.dimension()));
  }
  if (!(objective.regulariser.l2 > 0)) {
    throw Error(ErrorCode::invalid_argument,
                "the objective has no l2 regulariser, so nothing certifies how near a solution is; "
                "give one above 0");
  }
}

void check_smooth_objective(const RowSource& rows, const Objective& objective) {
  check_objective(rows, objective);
  if (objective.regulariser.l1 > 0 || !std::holds_alternative<WholeSpace>(objective.set)) {
    throw Error(ErrorCode::invalid_argument,
                "this solver takes smooth objectives over the whole space; use minimise_proximal");
  }
}

Solution finish(const Objective& objective, const SolverOptions& options,
                std::vector<double> weights, double residual_bound, int iterations, double offset) {
  Solution solution;
  solution.residual_bound = residual_bound;
  solution.distance_bound =
      numeric::add_up(numeric::divide_up(residual_bound, objective.regulariser.l2), offset);
  solution.iterations = iterations;
  solution.converged = residual_bound <= options.residual;
  solution.weights = std::move(weights);
  return solution;
}

Solution minimise(const RowSource& rows, const Objective& objective, const SolverOptions& options) {
  check_objective(rows, objective);
  if (objective.regulariser.l1 > 0 || !std::holds_alternative<WholeSpace>(objective.set)) {
    return minimise_proximal(rows, objective, options);
  }
  if (rows.dimension() > kNewtonDimension) return minimise_newton_cg(rows, objective, options);
  return minimise_newton(rows, objective, options);
}

}  // namespace shoal::learn
