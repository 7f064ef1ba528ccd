#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/private_selection.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

constexpr double kMostRuns = 10'000;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

// What a candidate claims, which its own validate() has checked.
CandidateCost cost_of(const Method& method, const Problem& problem) {
  const privacy::Event event = privacy_event(method, problem);
  if (const auto* pure = std::get_if<privacy::event::Pure>(&event.node()))
    return {pure->epsilon, 0};
  if (const auto* range = std::get_if<privacy::event::Exponential>(&event.node()))
    return {range->epsilon, 0};
  return std::visit(
      [&](const auto& one) -> CandidateCost {
        if constexpr (requires { one.epsilon + one.delta; }) {
          return {one.epsilon, one.delta};
        } else {
          refuse(
              fmt::format("a private choice needs candidates with an epsilon and a delta, and "
                          "{} has none",
                          name(method)));
        }
      },
      method);
}

// Twice the epsilon of the dearest run (doubling is exact), and its delta once a run.
CandidateCost charged_up(const PrivateSelection& selection, const Problem& problem) {
  CandidateCost once{numeric::divide_up(static_cast<double>(kScoreSteps), selection.score_scale),
                     0};
  for (const Method& one : selection.candidates) {
    const CandidateCost cost = cost_of(one, problem);
    once.epsilon = std::max(once.epsilon, cost.epsilon);
    once.delta = std::max(once.delta, cost.delta);
  }
  return {2 * once.epsilon, numeric::multiply_up(once.delta, mean_runs_up(selection.run_scale))};
}

}  // namespace

// q / ((1 - q) ln(1 / (1 - q))) for q = e^(-1 / scale).
double mean_runs_up(double run_scale) {
  const double fall_down = numeric::divide_down(1, run_scale);
  const double fall_up = numeric::divide_up(1, run_scale);
  const double last_down = -numeric::expm1_up(-fall_down);
  const double last_up = -numeric::expm1_down(-fall_up);
  const double below = numeric::multiply_down(last_down, -numeric::log_up(last_up));
  return std::max(1.0, numeric::divide_up(numeric::exp_up(-fall_down), below));
}

double run_scale_of(double runs) {
  if (!(runs >= 1.01 && runs <= kMostRuns)) {
    refuse(fmt::format("{} runs are not from 1.01 to {}", format_number(runs),
                       format_number(kMostRuns)));
  }
  double below = 0x1p-4;
  double above = 1;
  while (mean_runs_up(above) < runs) above *= 2;
  while (above - below > above * 0x1p-20) {
    const double middle = (above + below) / 2;
    (mean_runs_up(middle) < runs ? below : above) = middle;
  }
  return above;
}

CandidateCost candidate_cost(Epsilon epsilon, Delta delta, double run_scale) {
  return {epsilon.value() / 2, numeric::divide_down(delta.value(), mean_runs_up(run_scale))};
}

PrivateSelection calibrate_selection(const Problem& problem, std::vector<Method> candidates,
                                     Epsilon epsilon, Delta delta, double run_scale) {
  if (!(epsilon.value() > 0)) refuse("a private choice needs an epsilon above 0");
  PrivateSelection selection;
  selection.candidates = std::move(candidates);
  selection.epsilon = epsilon.value();
  selection.delta = delta.value();
  selection.score_scale = numeric::divide_up(static_cast<double>(kScoreSteps), epsilon.value() / 2);
  selection.run_scale = run_scale;
  validate(selection, problem);
  return selection;
}

void validate(const PrivateSelection& selection, const Problem& problem) {
  if (selection.candidates.empty() || !(selection.epsilon > 0))
    refuse("a private choice needs candidates and an epsilon above 0");
  if (std::holds_alternative<Softmax>(problem.loss)) {
    throw Error(ErrorCode::unsupported,
                "a private choice scores two classes or numbers; softmax has neither");
  }
  for (const Method& candidate : selection.candidates) {
    if (neighbors_of(candidate) != neighbors_of(selection.candidates.front()))
      refuse("the candidates are stated for different relations; state all for one");
  }
  random::check_scale(selection.score_scale, "noise of the scores, in steps,");
  random::check_scale(selection.run_scale, "scale of the number of runs");
  if (mean_runs_up(selection.run_scale) > 2 * kMostRuns) refuse("there would be too many runs");
  const CandidateCost charged = charged_up(selection, problem);
  if (!(charged.epsilon <= selection.epsilon && charged.delta <= selection.delta)) {
    refuse(
        fmt::format("the choice costs epsilon {} and delta {}, and {} and {} are stated; give "
                    "candidates half of epsilon, and delta over the mean number of runs",
                    format_number(charged.epsilon), format_number(charged.delta),
                    format_number(selection.epsilon), format_number(selection.delta)));
  }
}

privacy::Event privacy_event(const PrivateSelection& selection, const Problem& problem) {
  validate(selection, problem);
  const CandidateCost charged = charged_up(selection, problem);
  if (charged.delta == 0) return privacy::event::Pure{charged.epsilon};
  return privacy::event::EpsilonDelta{charged.epsilon, charged.delta};
}

}  // namespace shoal::learn
