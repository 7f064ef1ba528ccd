#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/prefix_descent.hpp>
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

constexpr DescentDefaults kDefaults{.steps = 64, .momentum = 0.5};
// The number of rows has one part in so many of the whole mu^2.
constexpr double kCountPart = 64;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

// The norm of the factor's first column, its longest, in units.
double factor_norm_up(std::int64_t steps) {
  double squares = 0;  // whole numbers below 2^53: 4096 of at most 2^32
  for (const std::int64_t one : prefix_factor(steps)) squares += static_cast<double>(one * one);
  return sqrt_up(squares);
}

double mu_up(const PrefixDescent& method) {
  const bool replace = method.neighbors == Neighbors::replace_one;
  const double all = divide_up((replace ? 2 : 1) * prefix_sensitivity(method), method.noise.sigma);
  if (method.count_sigma == 0) return all;
  const double count = divide_up(1, method.count_sigma);
  return sqrt_up(numeric::add_up(multiply_up(all, all), multiply_up(count, count)));
}

}  // namespace

std::vector<std::int64_t> prefix_factor(std::int64_t steps) {
  SHOAL_CHECK(steps >= 1 && steps <= kMaxPrefixSteps);
  std::vector<std::int64_t> factor;
  double exact = 1;
  for (std::int64_t k = 0; k < steps; ++k) {
    if (k > 0) exact *= (2 * static_cast<double>(k) - 1) / (2 * static_cast<double>(k));
    factor.push_back(std::max<std::int64_t>(std::llround(std::ldexp(exact, kPrefixBits)), 1));
  }
  return factor;
}

double prefix_sensitivity(const PrefixDescent& method) {
  return multiply_up(factor_norm_up(method.path.steps), gradient_sensitivity(method.noise));
}

PrefixDescent calibrate_prefix(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                               Delta delta, const DescentOptions& options) {
  validate(problem);
  if (!(epsilon.value() > 0)) refuse("descent in one pass needs an epsilon above 0");
  if (!(delta.value() > 0)) {
    refuse(
        "descent in one pass has Gaussian noise, which needs a delta above 0; for a delta of 0 use "
        "the objective method");
  }
  PrefixDescent method;
  method.neighbors = neighbors;
  method.epsilon = epsilon.value();
  method.delta = delta.value();
  method.noise.clip = clip_or_bound(problem, options.clip);
  const double reach = neighbors == Neighbors::replace_one ? 2 : 1;
  const double total = mechanism::analytic_gaussian_sigma(
      multiply_up(reach, sqrt_up(options.rows ? 1 : 1 + 1 / kCountPart)), epsilon, delta);
  // A sum of all batches has noise of about the factor's norm squared.
  const double log_steps = std::log(static_cast<double>(
      std::clamp<std::int64_t>(options.steps.value_or(kDefaults.steps), 1, kMaxPrefixSteps)));
  method.path =
      descent_path(problem, options, kDefaults, total * method.noise.clip * (1 + log_steps / M_PI));
  if (method.path.steps > kMaxPrefixSteps) {
    refuse(fmt::format("descent in one pass takes at most {} steps, not {}", kMaxPrefixSteps,
                       method.path.steps));
  }
  method.noise.exponent =
      gradient_exponent(method.noise.clip, total * factor_norm_up(method.path.steps));
  method.noise.sigma = numeric::step_up(multiply_up(total, prefix_sensitivity(method)), 8);
  if (method.path.rows == 0) {
    method.count_sigma =
        std::max(numeric::step_up(multiply_up(total, std::sqrt(kCountPart)), 8), random::kMinScale);
  }
  validate(method, problem);
  return method;
}

void validate(const PrefixDescent& method, const Problem& problem) {
  validate(problem);
  validate(method.noise);
  validate(method.path, problem);
  if (!(method.epsilon > 0) || !(method.delta > 0) || method.path.steps > kMaxPrefixSteps ||
      (method.count_sigma == 0) != (method.path.rows > 0)) {
    refuse("the parts of this descent in one pass do not fit together; calibrate it anew");
  }
  if (method.count_sigma != 0)
    random::check_scale(method.count_sigma, "noise of the number of rows");
  if (!(numeric::gaussian_delta_up(1, mu_up(method), method.epsilon) <= method.delta)) {
    refuse(fmt::format(
        "noise {} does not give epsilon {} and delta {}; raise it",
        format_rounded(std::ldexp(method.noise.sigma, method.noise.exponent - kPrefixBits), 6),
        format_number(method.epsilon), format_number(method.delta)));
  }
}

privacy::Event privacy_event(const PrefixDescent& method, const Problem& problem) {
  validate(method, problem);
  const privacy::Event sums =
      privacy::event::Gaussian{method.noise.sigma, prefix_sensitivity(method)};
  if (method.count_sigma == 0) return sums;
  return privacy::event::Compose{{privacy::event::Gaussian{method.count_sigma, 1, 1}, sums}};
}

}  // namespace shoal::learn
