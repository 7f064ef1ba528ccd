#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/sampled_descent.hpp>
#include <shoal/mechanism/gaussian_calibration.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/privacy/calibration.hpp>
#include <shoal/privacy/profile.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

constexpr DescentDefaults kDefaults{.steps = 512, .momentum = 0.9};
// The noise of the count beside that of a release that had the whole budget to itself.
constexpr double kCountFactor = 8;
// How far the noise may be above the least, relatively, and how closely it is certified.
constexpr double kTolerance = 1e-3;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

privacy::Event plan_of(std::int64_t steps, double rate, double sigma, double sensitivity,
                       double count_sigma) {
  const privacy::Event all = privacy::event::Repeat{
      steps, privacy::event::PoissonSampled{rate, privacy::event::Gaussian{sigma, sensitivity}}};
  if (count_sigma == 0) return all;
  return privacy::event::Compose{{privacy::event::Gaussian{count_sigma, 1, 1}, all}};
}

std::uint64_t units_of(double rate) {
  if (!(rate > 0 && rate <= 1))
    refuse(fmt::format("the sampling rate is {}; it must be above 0 and at most 1",
                       format_number(rate)));
  return static_cast<std::uint64_t>(std::ceil(std::ldexp(rate, kRateBits)));
}

}  // namespace

double rate(const SampledDescent& method) {
  return std::ldexp(static_cast<double>(method.rate_units), -kRateBits);
}

privacy::Event sampled_plan(const SampledDescent& method) {
  return plan_of(method.path.steps, rate(method), method.noise.sigma,
                 gradient_sensitivity(method.noise), method.count_sigma);
}

SampledDescent calibrate_sampled(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                                 Delta delta, const SampledOptions& options) {
  validate(problem);
  if (!(epsilon.value() > 0)) refuse("stochastic gradient descent needs an epsilon above 0");
  if (!(delta.value() > 0)) {
    refuse(
        "stochastic gradient descent has Gaussian noise, which needs a delta above 0; for a delta "
        "of 0 use the objective method");
  }
  SampledDescent method;
  method.neighbors = neighbors;
  method.epsilon = epsilon.value();
  method.delta = delta.value();
  method.rate_units = units_of(options.rate);
  method.noise.clip = clip_or_bound(problem, options.descent.clip);
  const double whole = mechanism::analytic_gaussian_sigma(
      neighbors == Neighbors::replace_one ? 2 : 1, epsilon, delta);
  if (!options.descent.rows) method.count_sigma = std::max(kCountFactor * whole, random::kMinScale);
  method.path = descent_path(problem, options.descent, kDefaults, whole * method.noise.clip);
  // The decimal that is charged may be a little below the double.
  const privacy::Target target{Epsilon(numeric::step_down(method.epsilon, 4)),
                               Delta(numeric::step_down(method.delta, 4)), neighbors};
  const double ratio =
      privacy::calibrate(
          [&](double sigma) {
            return plan_of(method.path.steps, rate(method), sigma, 1, method.count_sigma);
          },
          target,
          {.tolerance = kTolerance,
           .start = std::max(1.0, whole),
           .least = 0x1p-10,
           .most = 0x1p40})
          .parameter;
  method.noise.exponent = gradient_exponent(method.noise.clip, ratio);
  // The profile of the search and that of the check may differ in their last digits.
  method.noise.sigma =
      numeric::multiply_up(ratio, gradient_sensitivity(method.noise) * (1 + 0x1p-20));
  validate(method, problem);
  return method;
}

void validate(const SampledDescent& method, const Problem& problem) {
  validate(problem);
  validate(method.noise);
  validate(method.path, problem);
  if (!(method.epsilon > 0) || !(method.delta > 0) || method.rate_units == 0 ||
      method.rate_units > (std::uint64_t{1} << kRateBits) ||
      (method.count_sigma == 0) != (method.path.rows > 0)) {
    refuse("the parts of this stochastic gradient descent do not fit together; calibrate it anew");
  }
  if (method.count_sigma != 0)
    random::check_scale(method.count_sigma, "noise of the number of rows");
  const privacy::Profile profile(sampled_plan(method), method.neighbors, {.tolerance = kTolerance});
  if (!(profile.delta(method.epsilon).bounds.upper <= method.delta)) {
    refuse(
        fmt::format("{} steps at rate {} with noise {} do not give epsilon {} and delta {}; raise "
                    "the noise",
                    method.path.steps, format_number(rate(method)),
                    format_rounded(std::ldexp(method.noise.sigma, method.noise.exponent), 6),
                    format_number(method.epsilon), format_number(method.delta)));
  }
}

privacy::Event privacy_event(const SampledDescent& method, const Problem& problem) {
  validate(method, problem);
  return privacy::event::EpsilonDelta{method.epsilon, method.delta};
}

}  // namespace shoal::learn
