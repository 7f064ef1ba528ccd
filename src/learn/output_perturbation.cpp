#include "learn/bounded_proximal.hpp"
#include "learn/output_check.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/output_perturbation.hpp>
#include <shoal/numeric/directed.hpp>

#include <fmt/format.h>

#include <cmath>

namespace shoal::learn {
namespace {

using numeric::add_up;
using numeric::divide_up;

// The residual that the solver certifies, relative to what one row can do.
constexpr double kResidualShare = 0x1p-20;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

void check_problem(const Problem& problem) {
  validate(problem);
  const LossBounds facts = bounds(problem.loss);
  if (!facts.smooth || !facts.pointwise) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("output perturbation needs a certified minimiser, and there is no solver "
                    "with a certificate for the {} loss; use huberised_hinge or logistic",
                    name(problem.loss)));
  }
}

}  // namespace

double output_distance_up(const OutputPerturbation& method, const Problem& problem) {
  const double once = gradient_bound(problem);
  const double moved = method.neighbors == Neighbors::replace_one ? 2 * once : once;
  return divide_up(add_up(moved, 2 * method.residual), method.l2);
}

OutputPerturbation calibrate_output(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                                    Delta delta, double l2) {
  check_problem(problem);
  if (!(epsilon.value() > 0)) refuse("output perturbation needs an epsilon above 0");
  if (!(l2 > 0 && std::isfinite(l2)) || l2 < problem.regulariser.l2) {
    refuse(
        fmt::format("output perturbation needs an l2 weight above 0 and at least the problem's; "
                    "{} is not: every weight, the intercept's too, must be regularised",
                    format_number(l2)));
  }
  OutputPerturbation method;
  method.neighbors = neighbors;
  method.epsilon = epsilon.value();
  method.delta = delta.value();
  method.l2 = l2;
  method.residual = gradient_bound(problem) * kResidualShare;
  // The decimal that is charged may be a little below the double.
  method.output =
      calibrate_output_noise(output_distance_up(method, problem), weight_count(problem),
                             Epsilon(numeric::step_down(method.epsilon, 4)),
                             Delta(delta.value() > 0 ? numeric::step_down(method.delta, 4) : 0));
  validate(method, problem);
  return method;
}

void validate(const OutputPerturbation& method, const Problem& problem) {
  check_problem(problem);
  const bool pure = method.output.shape == NoiseShape::norm;
  if (!(method.epsilon > 0) || !(method.residual > 0) || !(method.l2 > 0) ||
      method.l2 < problem.regulariser.l2 || pure != (method.delta == 0)) {
    refuse("the parts of this output perturbation do not fit together; calibrate it anew");
  }
  check_reachable(problem, method.l2, method.residual, 0);
  check_output(method.output, {method.epsilon, method.delta, output_distance_up(method, problem),
                               weight_count(problem), method.l2});
}

privacy::Event privacy_event(const OutputPerturbation& method, const Problem& problem) {
  validate(method, problem);
  return output_event(method.epsilon, method.delta);
}

}  // namespace shoal::learn
