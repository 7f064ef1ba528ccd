#include "learn/bounded_proximal.hpp"
#include "learn/linear_term.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/approximate_minima.hpp>
#include <shoal/learn/objective_perturbation.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

using numeric::add_up;
using numeric::divide_up;
using numeric::log_up;
using numeric::multiply_up;
using numeric::sqrt_up;

// The part of epsilon and delta that is for the released weights' noise, as published.
constexpr double kOutputShare = 0.01;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

// The gap of the published proof, which takes the gradient for independent of the noise, is closed
// for losses of one linear prediction alone.
void check_problem(const Problem& problem) {
  validate(problem);
  const LossBounds facts = bounds(problem.loss);
  if (!facts.pointwise) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("approximate minima need a loss whose Hessian has rank 1 for every row, and "
                    "that of {} has rank {}; use the gradient method",
                    name(problem.loss), facts.hessian_rank));
  }
  if (!facts.smooth || !std::isfinite(facts.slope)) {
    refuse(
        fmt::format("approximate minima need a smooth loss of bounded slope, and {} is not; use "
                    "logistic, huberised_hinge or huber",
                    name(problem.loss)));
  }
}

// 1 + sqrt(2 ln(1 / delta)), rounded up: sigma is this times sensitivity / epsilon.
double published_factor(double delta) {
  return add_up(1, sqrt_up(2 * log_up(divide_up(1, delta))));
}

struct Inside {
  double sigma;
  double l2;
};

Inside published(const Problem& problem, const MinimaPerturbation& method, double delta,
                 double given_l2) {
  const double noise = method.noise_epsilon * published_noise_share(method.epsilon);
  const double reach = (method.neighbors == Neighbors::replace_one ? 2 : 1) *
                       lipschitz(problem.loss, problem.row_norm);
  const auto rank =
      static_cast<double>(std::min(weight_count(problem), 2 * bounds(problem.loss).hessian_rank));
  const double least = divide_up(multiply_up(rank, smoothness(problem.loss, problem.row_norm)),
                                 method.noise_epsilon - noise);
  if (given_l2 > 0 && given_l2 < least) {
    refuse(
        fmt::format("the l2 weight {} is below what the published rule needs at this epsilon, {}; "
                    "raise one of them",
                    format_number(given_l2), format_rounded(least, 6)));
  }
  return {divide_up(multiply_up(reach, published_factor(delta)), noise), std::max(least, given_l2)};
}

Inside tight(const Problem& problem, const MinimaPerturbation& method, double delta,
             const MinimaOptions& options) {
  const ObjectivePerturbation inside = calibrate_objective(
      problem, method.neighbors, Epsilon(method.noise_epsilon), Delta(delta),
      {.rule = ObjectiveRule::tight, .l2 = options.l2, .weight_norm = options.weight_norm});
  return {inside.scale, inside.l2};
}

}  // namespace

std::string_view to_string(MinimaRule rule) {
  constexpr std::string_view kNames[] = {"tight", "published"};
  return kNames[static_cast<std::size_t>(rule)];
}

MinimaRule parse_minima_rule(std::string_view text) {
  for (const MinimaRule rule : {MinimaRule::tight, MinimaRule::published})
    if (text == to_string(rule)) return rule;
  refuse(fmt::format("there is no rule {} of approximate minima; rules are tight and published",
                     printable(text, 60)));
}

double published_noise_share(double epsilon) {
  const double fitted = 0.88671 + 0.0186607 / std::pow(epsilon, 0.372906);
  return std::max(std::min(fitted, 0.99), 1 - 1 / epsilon + 0.001);
}

double minima_distance_up(const MinimaPerturbation& method) {
  return divide_up(2 * method.residual, method.l2);
}

MinimaPerturbation calibrate_minima(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                                    Delta delta, const MinimaOptions& options) {
  check_problem(problem);
  if (!(epsilon.value() > 0)) refuse("approximate minima need an epsilon above 0");
  if (!(delta.value() > 0))
    refuse("approximate minima need a delta above 0; for a delta of 0 use the objective method");
  if (!(options.rows >= 1 && options.rows <= 0x1p40)) {
    refuse(fmt::format("the guess of the number of rows is {}; it must be from 1 to 2^40",
                       format_number(options.rows)));
  }
  if (!(options.weight_norm > 0 && std::isfinite(options.weight_norm)))
    refuse("the guess of the weights' norm must be positive and finite");
  if (options.l2 && !(*options.l2 > 0 && std::isfinite(*options.l2)))
    refuse("every weight, the intercept's too, must be regularised: give an l2 weight above 0");
  MinimaPerturbation method;
  method.rule = options.rule;
  method.neighbors = neighbors;
  method.epsilon = epsilon.value();
  method.delta = delta.value();
  method.noise_epsilon = method.epsilon * (1 - kOutputShare);
  const double noise_delta = method.delta * (1 - kOutputShare);
  const Inside inside = options.rule == MinimaRule::published
                            ? published(problem, method, noise_delta, options.l2.value_or(0))
                            : tight(problem, method, noise_delta, options);
  method.sigma = inside.sigma;
  method.l2 = std::max(inside.l2, problem.regulariser.l2);
  if (!options.l2) method.l2 = std::max(method.l2, least_reachable_l2(problem));
  method.residual = lipschitz(problem.loss, problem.row_norm) / options.rows;
  const double rest =
      numeric::step_down(numeric::subtract_down(method.epsilon, method.noise_epsilon), 4);
  const double distance = minima_distance_up(method);
  if (options.rule == MinimaRule::published) {
    method.output.exponent = fine_exponent(distance, weight_count(problem));
    method.output.scale = divide_up(
        multiply_up(grid_sensitivity(distance, method.output.exponent, weight_count(problem)),
                    published_factor(method.delta * kOutputShare)),
        rest);
  } else {
    method.output =
        calibrate_output_noise(distance, weight_count(problem), Epsilon(rest),
                               Delta(numeric::step_down(method.delta * kOutputShare, 4)));
  }
  validate(method, problem);
  return method;
}

void validate(const MinimaPerturbation& method, const Problem& problem) {
  check_problem(problem);
  if (!(method.epsilon > 0) || !(method.delta > 0) || !(method.noise_epsilon > 0) ||
      method.noise_epsilon >= method.epsilon || !(method.residual > 0) || !(method.sigma > 0) ||
      !(method.l2 > 0) || method.l2 < problem.regulariser.l2 ||
      method.output.shape != NoiseShape::gaussian) {
    refuse("the parts of these approximate minima do not fit together; calibrate them anew");
  }
  random::check_scale(method.output.scale, "noise of the released weights, in grid steps,");
  // The linear term is a draw rounded at 2^-40 of sigma, which must be small beside the residual.
  const double finest =
      std::sqrt(static_cast<double>(weight_count(problem))) * method.sigma * 0x1p-32;
  if (!(method.residual >= finest)) {
    refuse(fmt::format("a residual of {} is finer than the noise is drawn, {}; guess fewer rows",
                       format_rounded(method.residual, 4), format_rounded(finest, 4)));
  }
  check_perturbed(problem, NoiseShape::gaussian, method.sigma, method.l2, method.residual);
  const double rest = numeric::subtract_down(method.epsilon, method.noise_epsilon);
  const double inside =
      objective_delta_up(problem, method.neighbors, method.sigma, method.l2, method.noise_epsilon);
  const double outside =
      output_delta_up(method.output, minima_distance_up(method), weight_count(problem), rest);
  if (!(add_up(inside, outside) <= method.delta)) {
    refuse(fmt::format(
        "noise {} inside, noise {} on the weights and l2 weight {} do not give epsilon "
        "{} and delta {} by any proven bound; raise them, or use the tight rule",
        format_rounded(method.sigma, 6),
        format_rounded(std::ldexp(method.output.scale, method.output.exponent), 6),
        format_rounded(method.l2, 6), format_number(method.epsilon), format_number(method.delta)));
  }
}

privacy::Event privacy_event(const MinimaPerturbation& method, const Problem& problem) {
  validate(method, problem);
  return privacy::event::EpsilonDelta{method.epsilon, method.delta};
}

}  // namespace shoal::learn
