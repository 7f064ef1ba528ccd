#include "learn/row_view.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/risk.hpp>
#include <shoal/learn/solver.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

// Calls action(loss) for every row.
template <typename Action>
void for_each_loss(const Loss& loss, const RowSource& rows, std::span<const double> weights,
                   Action&& action) {
  const auto* softmax = std::get_if<Softmax>(&loss);
  std::vector<double> z(softmax ? softmax->classes : 1);
  SHOAL_CHECK(weights.size() == z.size() * rows.dimension());
  BlockBuffer buffer;
  for (std::size_t b = 0; b < rows.block_count(); ++b) {
    const RowBlock block = rows.block(b, buffer);
    for (std::size_t i = 0; i < block.rows; ++i) {
      const Row row = row_of(block, i);
      for (std::size_t k = 0; k < z.size(); ++k) {
        z[k] = 0;
        for (std::size_t at = 0; at < row.size; ++at)
          z[k] += row.values[at] * weights[k * block.dimension + row.column(at)];
      }
      action(softmax ? softmax_value(z, static_cast<std::size_t>(block.labels[i]))
                     : value(loss, z[0], block.labels[i]));
    }
  }
}

double norm(std::span<const double> weights) {
  double square = 0;
  for (const double w : weights) square += w * w;
  return std::sqrt(square);
}

// The mean length of the noise, and of its square, in units of the weights; `offset` is what
// rounding to the grid moves.
struct NoiseSize {
  double mean = 0;
  double square = 0;
  double offset = 0;
};

NoiseSize size_of(const OutputNoise& noise, double d) {
  const double step = std::ldexp(1.0, noise.exponent);
  // Rounding the noise adds at most half a step to each coordinate.
  const double rounding = 0.5 * step * std::sqrt(d);
  const double scale = noise.scale * step;
  if (noise.shape == NoiseShape::norm) {
    const double mean = d * scale + rounding;
    return {mean, d * (d + 1) * scale * scale + 2 * mean * rounding, rounding};
  }
  // The rounded normal's variance is at most sigma^2 + (sigma + 1/2 step) step.
  const double square = d * (scale * scale + (scale + step / 2) * step);
  return {std::sqrt(square), square, rounding};
}

double shrinking(const Problem& problem, double l2, double weight_norm) {
  const double d = static_cast<double>(weight_count(problem));
  return l2 / 2 * weight_norm * weight_norm + problem.regulariser.l1 * std::sqrt(d) * weight_norm;
}

double stability(const Problem& problem, double l2) {
  const double slope = gradient_bound(problem);
  return 2 * slope * slope / l2;
}

ExcessRiskBound bound_of(const ObjectivePerturbation& method, const Problem& problem,
                         double weight_norm) {
  const double d = static_cast<double>(weight_count(problem));
  const double noise = method.shape == NoiseShape::norm ? d * (d + 1) : d;
  const NoiseSize output = size_of(method.output, d);
  return {gradient_bound(problem) * (output.mean + output.offset + method.residual / method.l2),
          noise * method.scale * method.scale / (2 * method.l2) +
              shrinking(problem, method.l2, weight_norm),
          stability(problem, method.l2)};
}

ExcessRiskBound bound_of(const OutputPerturbation& method, const Problem& problem,
                         double weight_norm) {
  const NoiseSize output = size_of(method.output, static_cast<double>(weight_count(problem)));
  const double slope = gradient_bound(problem);
  const double moved = output.offset + method.residual / method.l2;
  double fixed = slope * (output.mean + moved);
  // Noise of mean zero costs only by curvature; a projection afterwards would shift its mean.
  if (std::holds_alternative<WholeSpace>(problem.set)) {
    fixed = std::min(fixed,
                     slope * moved + smoothness(problem.loss, problem.row_norm) / 2 *
                                         (output.square + 2 * moved * output.mean + moved * moved));
  }
  return {fixed, shrinking(problem, method.l2, weight_norm), stability(problem, method.l2)};
}

}  // namespace

double empirical_risk(const Loss& loss, const RowSource& rows, std::span<const double> weights) {
  long double sum = 0;
  for_each_loss(loss, rows, weights, [&](double one) { sum += one; });
  if (rows.row_count() == 0) return 0;
  return static_cast<double>(sum / static_cast<long double>(rows.row_count()));
}

RiskEstimate population_risk(const Loss& loss, const RowSource& held_out,
                             std::span<const double> weights, double confidence) {
  LossSummary summary(
      loss_range(loss, held_out.row_norm() * norm(weights), held_out.label_bound()));
  for_each_loss(loss, held_out, weights, [&](double one) { summary.add(one); });
  return summary.population_risk(confidence);
}

double excess_risk(const Problem& problem, const RowSource& rows, std::span<const double> weights) {
  validate(problem);
  Objective objective;
  objective.loss = problem.loss;
  objective.regulariser = problem.regulariser;
  objective.set = problem.set;
  const Solution best = minimise(rows, objective, {});
  return empirical_risk(problem.loss, rows, weights) -
         empirical_risk(problem.loss, rows, best.weights);
}

double generalisation_gap(const Loss& loss, const RowSource& training, const RowSource& held_out,
                          std::span<const double> weights) {
  return empirical_risk(loss, held_out, weights) - empirical_risk(loss, training, weights);
}

std::optional<ExcessRiskBound> expected_excess_risk(const Method& method, const Problem& problem,
                                                    double weight_norm) {
  return std::visit(
      [&](const auto& one) -> std::optional<ExcessRiskBound> {
        if constexpr (requires { bound_of(one, problem, weight_norm); }) {
          return bound_of(one, problem, weight_norm);
        } else {
          return {};
        }
      },
      method);
}

}  // namespace shoal::learn
