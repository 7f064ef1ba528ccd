#include "learn/bounded_proximal.hpp"
#include "learn/linear_term.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/objective_perturbation.hpp>
#include <shoal/mechanism/gaussian_calibration.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

using numeric::add_up;
using numeric::divide_up;
using numeric::expm1_down;
using numeric::log1p_up;
using numeric::log_up;
using numeric::multiply_up;
using numeric::sqrt_up;

// The part of epsilon and delta that is for the released weights' grid noise.
constexpr double kOutputShare = 0x1p-8;
// The residual that the solver certifies, relative to the noise of a coordinate.
constexpr double kResidualShare = 0x1p-24;

constexpr double kGuessedRows = 20;

struct Choice {
  double scale = 0;
  double l2 = 0;
};

// The parts of a calibration that every rule needs.
struct Asked {
  const Problem& problem;
  Neighbors neighbors;
  NoiseShape shape;
  double epsilon;  // of the linear term
  double delta;
  double smooth;    // beta
  double reach;     // L, or 2 L under replace_one
  double given_l2;  // 0: none
  double weight_norm;
};

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

[[noreturn]] void l2_too_small(double l2, double least, std::string_view rule) {
  refuse(
      fmt::format("the l2 weight {} is below what the {} rule needs at this epsilon, {}; raise "
                  "one of them",
                  format_number(l2), rule, format_rounded(least, 6)));
}

bool meets(const Asked& asked, double scale, double l2) {
  if (asked.shape == NoiseShape::norm)
    return objective_epsilon_up(asked.problem, asked.neighbors, scale, l2) <= asked.epsilon;
  return objective_delta_up(asked.problem, asked.neighbors, scale, l2, asked.epsilon) <=
         asked.delta;
}

// The least scale, to a part in 2^30, with which the bounds meet the target at this l2.
double least_scale(const Asked& asked, double l2) {
  double above = asked.reach / asked.epsilon;
  for (int i = 0; i < 200 && !meets(asked, above, l2); ++i) above *= 2;
  if (!meets(asked, above, l2)) refuse("no noise within range meets this epsilon and delta");
  double below = above / 2;
  while (below > above * 0x1p-60 && meets(asked, below, l2)) {
    above = below;
    below /= 2;
  }
  while (above - below > above * 0x1p-30) {
    const double middle = below + (above - below) / 2;
    (meets(asked, middle, l2) ? above : below) = middle;
  }
  return above;
}

// The l2 weight at which noise and shrinking harm alike: noise costs about |noise|^2 / (l2 + h) and
// shrinking l2 |w|^2, h being what the rows themselves add to the curvature. Little is assumed of
// them: that of kGuessedRows at their steepest. Never so little that no solver surely ends in time.
double useful_l2(const Asked& asked, double scale) {
  const double d = static_cast<double>(weight_count(asked.problem));
  const double noise = asked.shape == NoiseShape::norm ? scale * d : scale * std::sqrt(d);
  return std::max({noise / asked.weight_norm - kGuessedRows * asked.smooth,
                   asked.problem.regulariser.l2, least_reachable_l2(asked.problem)});
}

// Logistic loss: the noise of the plain mechanism, and the l2 weight that goes with it.
Choice tight_logistic(const Asked& asked) {
  const double square = multiply_up(asked.problem.row_norm, asked.problem.row_norm);
  const bool replace = asked.neighbors == Neighbors::replace_one;
  Choice choice;
  // Noise is rounded up first and l2 computed from it: with more noise the condition asks for more.
  choice.scale = asked.shape == NoiseShape::norm
                     ? numeric::step_up(divide_up(asked.reach, asked.epsilon))
                     : mechanism::analytic_gaussian_sigma(asked.reach, Epsilon(asked.epsilon),
                                                          Delta(asked.delta));
  double least = divide_up((replace ? 2 : 1) * square, asked.epsilon);
  if (asked.shape == NoiseShape::norm) {
    least = divide_up((replace ? 2 : 1) * square, numeric::step_down(asked.epsilon, 4));
  } else if (!replace) {
    const double square_down =
        numeric::multiply_down(asked.problem.row_norm, asked.problem.row_norm);
    least = divide_up(
        square, numeric::add_down(asked.epsilon,
                                  numeric::divide_down(
                                      square_down, 2 * multiply_up(choice.scale, choice.scale))));
  }
  least = numeric::step_up(least, 4);
  if (asked.given_l2 > 0 && asked.given_l2 < least) return {0, least};
  choice.l2 = asked.given_l2 > 0 ? asked.given_l2 : std::max(least, useful_l2(asked, choice.scale));
  return choice;
}

Choice tight(const Asked& asked) {
  if (bounds(asked.problem.loss).logistic_like) {
    const Choice choice = tight_logistic(asked);
    if (choice.scale > 0) return choice;
  }
  if (asked.given_l2 > 0) {
    const double least = divide_up(asked.smooth, expm1_down(asked.epsilon));
    if (asked.given_l2 <= least)
      l2_too_small(asked.given_l2, least, to_string(ObjectiveRule::tight));
    return {least_scale(asked, asked.given_l2), asked.given_l2};
  }
  // A tenth of epsilon for the Jacobian costs a tenth more noise, and more l2 than that little
  // helps.
  Choice choice;
  choice.l2 = divide_up(asked.smooth, expm1_down(asked.epsilon / 10));
  choice.scale = least_scale(asked, choice.l2);
  choice.l2 = std::max(choice.l2, useful_l2(asked, choice.scale));
  choice.scale = least_scale(asked, choice.l2);
  return choice;
}

double l2_or(const Asked& asked, double least, double scale, ObjectiveRule rule) {
  if (asked.given_l2 > 0 && asked.given_l2 < least)
    l2_too_small(asked.given_l2, least, to_string(rule));
  return asked.given_l2 > 0 ? asked.given_l2 : std::max(least, useful_l2(asked, scale));
}

Choice chaudhuri(const Asked& asked) {
  if (asked.shape != NoiseShape::norm)
    refuse("the chaudhuri rule is for pure differential privacy; ask for a delta of 0");
  const double least = divide_up(asked.smooth, expm1_down(asked.epsilon / 4));
  double l2 = std::max(asked.given_l2, asked.problem.regulariser.l2);
  if (asked.given_l2 == 0) l2 = std::max(l2, least_reachable_l2(asked.problem));
  double left = asked.epsilon - 2 * std::log1p(asked.smooth / std::max(l2, 1e-300));
  if (!(left > 0)) {
    l2 = std::max(least, l2);
    left = asked.epsilon / 2;
  }
  return {divide_up(asked.reach, left), l2};
}

Choice kifer(const Asked& asked) {
  const double least = divide_up(2 * asked.smooth, asked.epsilon);
  Choice choice;
  if (asked.shape == NoiseShape::norm) {
    choice.scale = divide_up(2 * asked.reach, asked.epsilon);
  } else {
    const double variance = add_up(8 * log_up(divide_up(2, asked.delta)), 4 * asked.epsilon);
    choice.scale = divide_up(multiply_up(asked.reach, sqrt_up(variance)), asked.epsilon);
  }
  choice.l2 = l2_or(asked, least, choice.scale, ObjectiveRule::kifer);
  return choice;
}

// 2 G(eps - |ln(1 - beta / l2)|; L / sigma), which needs l2 > beta. Its own l2 is that at which
// sigma is within a third of the plain mechanism's.
Choice redberg(const Asked& asked) {
  if (asked.shape == NoiseShape::norm)
    refuse("the redberg rule is for Gaussian noise; give a delta above 0");
  const double plain =
      mechanism::analytic_gaussian_sigma(asked.reach, Epsilon(asked.epsilon), Delta(asked.delta));
  const auto sigma_at = [&](double l2) {
    const double cost = -std::log1p(-asked.smooth / l2);
    if (!(l2 > asked.smooth) || !(cost < asked.epsilon)) return 0.0;
    return mechanism::analytic_gaussian_sigma(asked.reach, Epsilon(asked.epsilon - cost),
                                              Delta(asked.delta / 2));
  };
  if (asked.given_l2 > 0) {
    const double sigma = sigma_at(asked.given_l2);
    if (!(sigma > 0)) {
      l2_too_small(asked.given_l2, asked.smooth / -std::expm1(-asked.epsilon),
                   to_string(ObjectiveRule::redberg));
    }
    return {sigma, asked.given_l2};
  }
  double l2 = 2 * asked.smooth / asked.epsilon;
  for (int i = 0; i < 1000; ++i, l2 *= 1.05) {
    const double sigma = sigma_at(l2);
    if (sigma > 0 && sigma <= 1.3 * plain) return {sigma, std::max(l2, useful_l2(asked, sigma))};
  }
  refuse("the redberg rule finds no l2 weight for this target; use the tight rule");
}

// Half of epsilon for the noise and half for the Jacobian. The notes' Gaussian constant, sigma^2 =
// 10 L^2 ln(1 / delta) / eps^2 for eps / 2, is too small by half: that much noise is worth eps.
Choice lecture_notes(const Asked& asked) {
  const double half = asked.epsilon / 2;
  Choice choice;
  if (asked.shape == NoiseShape::norm) {
    choice.scale = divide_up(asked.reach, half);
  } else {
    const double log = log_up(divide_up(1, asked.delta));
    if (half > 0.5 * log) {
      refuse(
          fmt::format("the lecture_notes rule holds for epsilon up to ln(1 / delta), {}; use the "
                      "tight rule",
                      format_rounded(log, 4)));
    }
    choice.scale = divide_up(multiply_up(asked.reach, sqrt_up(10 * log)), half);
  }
  const double least = divide_up(asked.smooth, expm1_down(half));
  choice.l2 = l2_or(asked, least, choice.scale, ObjectiveRule::lecture_notes);
  return choice;
}

Choice choose(ObjectiveRule rule, const Asked& asked) {
  switch (rule) {
    case ObjectiveRule::tight:
      return tight(asked);
    case ObjectiveRule::chaudhuri:
      return chaudhuri(asked);
    case ObjectiveRule::kifer:
      return kifer(asked);
    case ObjectiveRule::redberg:
      return redberg(asked);
    case ObjectiveRule::lecture_notes:
      return lecture_notes(asked);
  }
  throw Error(ErrorCode::internal, "no rule of objective perturbation");
}

void check_problem(const Problem& problem) {
  validate(problem);
  const LossBounds facts = bounds(problem.loss);
  if (!facts.pointwise) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("no bound of objective perturbation is proven for the {} loss, which is "
                    "not a function of one linear prediction; use the gradient method",
                    name(problem.loss)));
  }
  if (!facts.smooth) {
    refuse(
        fmt::format("objective perturbation needs a smooth loss, and {} is not; use "
                    "huberised_hinge, or the gradient method",
                    name(problem.loss)));
  }
  if (!std::isfinite(facts.slope)) {
    refuse(
        fmt::format("objective perturbation needs a loss of bounded slope, and {} is not; use "
                    "huber, or output perturbation on an l2_ball",
                    name(problem.loss)));
  }
}

double output_distance(const ObjectivePerturbation& method) {
  return divide_up(2 * method.residual, method.l2);
}

// Noise for the released weights. It is so small beside the linear term's that the textbook's sigma
// does, where it holds, and spares the search for the least.
OutputNoise cover_distance(double distance, std::size_t dimension, double epsilon, double delta) {
  if (!(delta > 0) || !(epsilon < 1))
    return calibrate_output_noise(distance, dimension, Epsilon(epsilon), Delta(delta));
  OutputNoise noise;
  noise.exponent = fine_exponent(distance, dimension);
  noise.scale = mechanism::classic_gaussian_sigma(
      grid_sensitivity(distance, noise.exponent, dimension), Epsilon(epsilon), Delta(delta));
  return noise;
}

}  // namespace

std::string_view to_string(ObjectiveRule rule) {
  constexpr std::string_view kNames[] = {"tight", "chaudhuri", "kifer", "redberg", "lecture_notes"};
  return kNames[static_cast<std::size_t>(rule)];
}

ObjectiveRule parse_objective_rule(std::string_view text) {
  for (const ObjectiveRule rule :
       {ObjectiveRule::tight, ObjectiveRule::chaudhuri, ObjectiveRule::kifer,
        ObjectiveRule::redberg, ObjectiveRule::lecture_notes}) {
    if (text == to_string(rule)) return rule;
  }
  refuse(
      fmt::format("there is no rule {} of objective perturbation; rules are tight, chaudhuri, "
                  "kifer, redberg and lecture_notes",
                  printable(text, 60)));
}

ObjectivePerturbation calibrate_objective(const Problem& problem, Neighbors neighbors,
                                          Epsilon epsilon, Delta delta,
                                          const ObjectiveOptions& options) {
  check_problem(problem);
  if (!(epsilon.value() > 0)) refuse("objective perturbation needs an epsilon above 0");
  if (!(options.weight_norm > 0 && std::isfinite(options.weight_norm)))
    refuse("the guess of the weights' norm must be positive and finite");
  const double asked_l2 = options.l2.value_or(0);
  if (options.l2 && !(asked_l2 > 0 && std::isfinite(asked_l2)))
    refuse("every weight, the intercept's too, must be regularised: give an l2 weight above 0");
  ObjectivePerturbation method;
  method.rule = options.rule;
  method.neighbors = neighbors;
  method.shape = delta.value() > 0 ? NoiseShape::gaussian : NoiseShape::norm;
  method.epsilon = epsilon.value();
  method.delta = delta.value();
  const double output_epsilon = method.epsilon * kOutputShare;
  method.noise_epsilon =
      numeric::step_down(numeric::subtract_down(method.epsilon, output_epsilon), 4);
  method.noise_delta = numeric::step_down(method.delta * (1 - kOutputShare), 4);
  const double row_reach = lipschitz(problem.loss, problem.row_norm);
  const Asked asked{problem,
                    neighbors,
                    method.shape,
                    method.noise_epsilon,
                    method.noise_delta,
                    smoothness(problem.loss, problem.row_norm),
                    neighbors == Neighbors::replace_one ? 2 * row_reach : row_reach,
                    asked_l2,
                    options.weight_norm};
  const Choice choice = choose(options.rule, asked);
  method.scale = choice.scale;
  method.l2 = std::max(choice.l2, problem.regulariser.l2);
  method.residual = choice.scale * kResidualShare;
  method.output = cover_distance(output_distance(method), weight_count(problem), output_epsilon,
                                 method.delta * kOutputShare);
  validate(method, problem);
  return method;
}

void validate(const ObjectivePerturbation& method, const Problem& problem) {
  check_problem(problem);
  const bool pure = method.shape == NoiseShape::norm;
  if (!(method.epsilon > 0) || !(method.noise_epsilon > 0) ||
      method.noise_epsilon >= method.epsilon || !(method.residual > 0) || !(method.scale > 0) ||
      pure != (method.delta == 0) || pure != (method.output.shape == NoiseShape::norm)) {
    refuse("the parts of this objective perturbation do not fit together; calibrate it anew");
  }
  if (!(method.l2 > 0) || method.l2 < problem.regulariser.l2)
    refuse("every weight, the intercept's too, must be regularised: give an l2 weight above 0");
  random::check_scale(method.output.scale, "noise of the released weights, in grid steps,");
  check_perturbed(problem, method.shape, method.scale, method.l2, method.residual);
  const double rest = numeric::subtract_down(method.epsilon, method.noise_epsilon);
  const double distance = output_distance(method);
  const std::size_t count = weight_count(problem);
  bool holds = false;
  if (pure) {
    holds = add_up(objective_epsilon_up(problem, method.neighbors, method.scale, method.l2),
                   output_epsilon_up(method.output, distance, count)) <= method.epsilon;
  } else {
    holds = add_up(objective_delta_up(problem, method.neighbors, method.scale, method.l2,
                                      method.noise_epsilon),
                   output_delta_up(method.output, distance, count, rest)) <= method.delta;
  }
  if (!holds) {
    refuse(
        fmt::format("noise {} and l2 weight {} do not give epsilon {} and delta {} by any proven "
                    "bound; raise them",
                    format_rounded(method.scale, 6), format_rounded(method.l2, 6),
                    format_number(method.epsilon), format_number(method.delta)));
  }
}

privacy::Event privacy_event(const ObjectivePerturbation& method, const Problem& problem) {
  validate(method, problem);
  if (method.delta == 0) return privacy::event::Pure{method.epsilon};
  return privacy::event::EpsilonDelta{method.epsilon, method.delta};
}

}  // namespace shoal::learn
