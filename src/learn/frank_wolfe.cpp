#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/frank_wolfe.hpp>
#include <shoal/mechanism/selection.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/conversion.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

using numeric::multiply_up;

// Features and slopes have from 2^15 to 2^16 steps at most.
constexpr int kDigits = 15;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

void check_problem(const Problem& problem) {
  validate(problem);
  if (!std::holds_alternative<L1Ball>(problem.set))
    refuse("frank_wolfe needs weights in an l1 ball; give its radius with --radius");
  if (!bounds(problem.loss).pointwise) {
    throw Error(ErrorCode::unsupported,
                fmt::format("frank_wolfe takes losses of one prediction, and {} is none",
                            name(problem.loss)));
  }
  if (problem.regulariser.l1 > 0 || problem.regulariser.l2 > 0)
    refuse("frank_wolfe regularises by its ball; leave --l1 and --l2 out and set --radius");
}

int grid_of(double bound) { return std::ilogb(bound) - kDigits; }

// A row moves a coordinate of the gradient by no more, in steps.
mechanism::ScoreSensitivity sensitivity_of(const FrankWolfe& method) {
  const auto most = [](double bound, int exponent) {
    return static_cast<long long>(std::floor(std::ldexp(bound, -exponent)));
  };
  const long long once = most(method.feature_bound, method.feature_exponent) *
                         most(method.slope_bound, method.slope_exponent);
  return {Sensitivity(method.neighbors == Neighbors::replace_one ? 2 * once : once),
          mechanism::ScoreChange::two_sided};
}

// Bounded range e is e^2 / 8-zCDP, and that adds up however the choices depend on each other.
double rho_up(const FrankWolfe& method) {
  const double once = step_epsilon_up(method);
  return multiply_up(method.steps, multiply_up(once, once) / 8);
}

double pure_up(const FrankWolfe& method) {
  return multiply_up(method.steps, step_epsilon_up(method));
}

}  // namespace

double step_epsilon_up(const FrankWolfe& method) {
  return mechanism::selection_epsilon(method.scale, sensitivity_of(method));
}

FrankWolfe calibrate_frank_wolfe(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                                 Delta delta, const FrankWolfeOptions& options) {
  check_problem(problem);
  if (!(epsilon.value() > 0)) refuse("frank_wolfe needs an epsilon above 0");
  if (options.steps < 1 || options.steps > kMostFrankWolfeSteps) {
    refuse(fmt::format("frank_wolfe takes from 1 to {} steps, and {} were asked for",
                       kMostFrankWolfeSteps, options.steps));
  }
  if (!(options.feature_bound >= 0x1p-40 && options.feature_bound <= 0x1p40))
    refuse("frank_wolfe needs a public bound of every feature, from 2^-40 to 2^40");
  FrankWolfe method;
  method.neighbors = neighbors;
  method.epsilon = epsilon.value();
  method.delta = delta.value();
  method.steps = options.steps;
  method.feature_bound = options.feature_bound;
  // Predictions are at most |x|_infinity |w|_1.
  method.slope_bound = bounds(problem.loss).slope;
  if (!std::isfinite(method.slope_bound)) {
    method.slope_bound =
        options.feature_bound * std::get<L1Ball>(problem.set).radius + problem.label_bound;
  }
  method.feature_exponent = grid_of(method.feature_bound);
  method.slope_exponent = grid_of(method.slope_bound);
  const double steps = options.steps;
  const double spare = numeric::step_down(method.epsilon, 16);
  double once = numeric::divide_down(spare, steps);
  if (method.delta > 0) {
    const double rho = privacy::rho_within(Epsilon(spare), delta).value();
    once = std::max(once, std::sqrt(8 * rho / steps) * (1 - 0x1p-40));
  }
  method.scale =
      mechanism::selection_scale(Epsilon(std::min(once, kMaxEpsilon)), sensitivity_of(method));
  validate(method, problem);
  return method;
}

void validate(const FrankWolfe& method, const Problem& problem) {
  check_problem(problem);
  if (!(method.epsilon > 0) || method.steps < 1 || method.steps > kMostFrankWolfeSteps ||
      !(method.feature_bound > 0) || !(method.slope_bound > 0) || method.l2 != 0 ||
      method.feature_exponent != grid_of(method.feature_bound) ||
      method.slope_exponent != grid_of(method.slope_bound)) {
    refuse("the parts of this frank_wolfe do not fit together; calibrate it anew");
  }
  if (pure_up(method) <= method.epsilon) return;
  if (method.delta > 0 &&
      privacy::epsilon_of_rho_up(Rho(rho_up(method)), Delta(method.delta)) <= method.epsilon)
    return;
  refuse(fmt::format("{} choices of scale {} do not give epsilon {} and delta {}; raise it",
                     method.steps, format_rounded(method.scale, 6), format_number(method.epsilon),
                     format_number(method.delta)));
}

privacy::Event privacy_event(const FrankWolfe& method, const Problem& problem) {
  validate(method, problem);
  if (pure_up(method) <= method.epsilon)
    return privacy::event::Pure{numeric::decimal_at_least(pure_up(method))};
  return privacy::event::Zcdp{numeric::decimal_at_least(rho_up(method))};
}

}  // namespace shoal::learn
