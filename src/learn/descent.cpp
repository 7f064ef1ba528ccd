#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/descent.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace shoal::learn {
namespace {

// Weights stay in this range, so that nothing on the way overflows.
constexpr double kMostWeight = 0x1p100;
// What the rows themselves are trusted to add to the curvature, as in objective perturbation.
constexpr double kGuessedRows = 20;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

void check_range(std::string_view what, double value, double least, double most) {
  if (value >= least && value <= most) return;
  refuse(fmt::format("the {} is {}; it must be from {} to {}", what, format_number(value),
                     format_number(least), format_number(most)));
}

// Smooth losses: half of what can overshoot. Others: that of the subgradient method.
double default_row_step(const Problem& problem, double steps, double momentum, double weight_norm) {
  const double smooth = smoothness(problem.loss, problem.row_norm);
  if (std::isfinite(smooth)) return (1 + momentum) / smooth;
  return weight_norm / (gradient_bound(problem) * std::sqrt(steps));
}

}  // namespace

DescentPath descent_path(const Problem& problem, const DescentOptions& options,
                         const DescentDefaults& defaults, double total_noise) {
  if (!(options.weight_norm > 0 && std::isfinite(options.weight_norm)))
    refuse("the guess of the weights' norm must be positive and finite");
  DescentPath path;
  path.momentum = options.momentum.value_or(defaults.momentum);
  path.steps = options.steps.value_or(defaults.steps);
  path.row_step = options.row_step ? *options.row_step
                                   : default_row_step(problem, static_cast<double>(path.steps),
                                                      path.momentum, options.weight_norm);
  path.averaged = options.averaged;
  path.rows = options.rows.value_or(0);
  if (options.rows && !(*options.rows >= 1))
    refuse(fmt::format("the guess of the number of rows is {}; it must be at least 1",
                       format_number(*options.rows)));
  // Where noise and shrinking harm alike: see useful_l2 of objective perturbation.
  const double d = static_cast<double>(weight_count(problem));
  const double smooth = smoothness(problem.loss, problem.row_norm);
  const double balanced = total_noise * std::sqrt(d) / options.weight_norm -
                          kGuessedRows * (std::isfinite(smooth) ? smooth : 0);
  if (options.l2 && !(*options.l2 >= 0))
    refuse(fmt::format("the l2 weight is {}; it must not be negative", format_number(*options.l2)));
  path.l2 = options.l2.value_or(std::max(balanced, 0.0));
  path.l2 = std::max(path.l2, problem.regulariser.l2);
  validate(path, problem);
  return path;
}

void validate(const DescentPath& path, const Problem& problem) {
  if (path.steps < 1 || path.steps > kMaxDescentSteps)
    refuse(fmt::format("there are to be {} steps; from 1 to {} are taken", path.steps,
                       kMaxDescentSteps));
  check_range("step size of one row", path.row_step, 0x1p-100, 0x1p100);
  check_range("momentum", path.momentum, 0, 0.999);
  check_range("averaged part of the steps", path.averaged, 0, 1);
  check_range("guess of the number of rows", path.rows, 0, 0x1p50);
  if (!(path.l2 >= problem.regulariser.l2 && path.l2 <= 0x1p100))
    refuse(fmt::format("the l2 weight is {}; it must be finite and at least the problem's, {}",
                       format_number(path.l2), format_number(problem.regulariser.l2)));
}

Descent::Descent(const Problem& problem, const DescentPath& path, double rows)
    : problem_(problem),
      path_(path),
      step_size_(1 / (std::max(rows, 1.0) / path.row_step + path.l2)),
      weights_(project(problem.set, std::vector<double>(weight_count(problem), 0.0))),
      before_(weights_),
      sum_(weights_.size(), 0.0) {}

void Descent::step(std::span<const double> gradient) {
  // Momentum is what the weights moved last, shrinking and projection included: so the path rests
  // where a step without momentum would.
  std::vector<double> next(weights_.size());
  for (std::size_t j = 0; j < next.size(); ++j) {
    const double moved = path_.momentum * (weights_[j] - before_[j]);
    const double pulled = step_size_ * (gradient[j] + path_.l2 * weights_[j]);
    next[j] = std::clamp(weights_[j] + moved - pulled, -kMostWeight, kMostWeight);
  }
  if (problem_.regulariser.l1 > 0)
    next = proximal_point({0, problem_.regulariser.l1}, next, step_size_);
  before_ = std::exchange(weights_, project(problem_.set, next));
  ++taken_;
  const auto steps = static_cast<double>(path_.steps);
  if (static_cast<double>(taken_) <= steps - path_.averaged * steps) return;
  ++summed_;
  for (std::size_t j = 0; j < weights_.size(); ++j) sum_[j] += weights_[j];
}

std::vector<double> Descent::result() const {
  if (summed_ == 0) return weights_;
  std::vector<double> mean = sum_;
  for (double& w : mean) w /= static_cast<double>(summed_);
  return project(problem_.set, mean);
}

}  // namespace shoal::learn
