#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/gradient_descent.hpp>
#include <shoal/mechanism/gaussian_calibration.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

using numeric::divide_up;
using numeric::multiply_up;
using numeric::sqrt_up;

constexpr DescentDefaults kDefaults{.steps = 128, .momentum = 0.9};
// The number of rows has one part in so many of the whole mu^2.
constexpr double kCountPart = 64;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

privacy::Event event_of(const GradientDescent& method) {
  const privacy::Event steps = privacy::event::Repeat{
      method.path.steps,
      privacy::event::Gaussian{method.noise.sigma, gradient_sensitivity(method.noise)}};
  if (method.count_sigma == 0) return steps;
  // Exchanged for one without a label, a row is gone.
  return privacy::event::Compose{{privacy::event::Gaussian{method.count_sigma, 1, 1}, steps}};
}

}  // namespace

double gradient_mu_up(const GradientDescent& method) {
  const bool replace = method.neighbors == Neighbors::replace_one;
  const double once =
      divide_up((replace ? 2 : 1) * gradient_sensitivity(method.noise), method.noise.sigma);
  double square = multiply_up(static_cast<double>(method.path.steps), multiply_up(once, once));
  if (method.count_sigma != 0) {
    const double count = divide_up(1, method.count_sigma);
    square = numeric::add_up(square, multiply_up(count, count));
  }
  return sqrt_up(square);
}

GradientDescent calibrate_gradient(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                                   Delta delta, const DescentOptions& options) {
  validate(problem);
  if (!(epsilon.value() > 0)) refuse("gradient perturbation needs an epsilon above 0");
  if (!(delta.value() > 0)) {
    refuse(
        "gradient perturbation has Gaussian noise, which needs a delta above 0; for a delta of 0 "
        "use the objective method");
  }
  GradientDescent method;
  method.neighbors = neighbors;
  method.epsilon = epsilon.value();
  method.delta = delta.value();
  method.noise.clip = clip_or_bound(problem, options.clip);
  const double reach = neighbors == Neighbors::replace_one ? 2 : 1;
  // Of all steps and the count together, for gradients of norm 1.
  const double total = mechanism::analytic_gaussian_sigma(
      multiply_up(reach, sqrt_up(options.rows ? 1 : 1 + 1 / kCountPart)), epsilon, delta);
  method.path = descent_path(problem, options, kDefaults, total * method.noise.clip);
  const double ratio = multiply_up(total, sqrt_up(static_cast<double>(method.path.steps)));
  method.noise.exponent = gradient_exponent(method.noise.clip, ratio);
  method.noise.sigma = numeric::step_up(multiply_up(ratio, gradient_sensitivity(method.noise)), 8);
  if (method.path.rows == 0) {
    method.count_sigma =
        std::max(numeric::step_up(multiply_up(total, std::sqrt(kCountPart)), 8), random::kMinScale);
  }
  validate(method, problem);
  return method;
}

void validate(const GradientDescent& method, const Problem& problem) {
  validate(problem);
  validate(method.noise);
  validate(method.path, problem);
  if (!(method.epsilon > 0) || !(method.delta > 0) ||
      (method.count_sigma == 0) != (method.path.rows > 0)) {
    refuse("the parts of this gradient perturbation do not fit together; calibrate it anew");
  }
  if (method.count_sigma != 0)
    random::check_scale(method.count_sigma, "noise of the number of rows");
  if (!(numeric::gaussian_delta_up(1, gradient_mu_up(method), method.epsilon) <= method.delta)) {
    refuse(fmt::format(
        "{} steps with noise {} do not give epsilon {} and delta {}; raise the noise",
        method.path.steps, format_rounded(std::ldexp(method.noise.sigma, method.noise.exponent), 6),
        format_number(method.epsilon), format_number(method.delta)));
  }
}

privacy::Event privacy_event(const GradientDescent& method, const Problem& problem) {
  validate(method, problem);
  return event_of(method);
}

}  // namespace shoal::learn
