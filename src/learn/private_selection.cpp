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

double pure_epsilon(const Method& method, const Problem& problem) {
  const privacy::Event event = privacy_event(method, problem);
  if (const auto* pure = std::get_if<privacy::event::Pure>(&event.node())) return pure->epsilon;
  if (const auto* range = std::get_if<privacy::event::Exponential>(&event.node()))
    return range->epsilon;
  refuse(
      fmt::format("a private choice of parameters needs candidates without a delta, and {} has "
                  "one; ask with --delta 0",
                  name(method)));
}

// Twice what one run costs, rounded up; doubling is exact.
double selection_epsilon_up(const PrivateSelection& selection, const Problem& problem) {
  double once = numeric::divide_up(static_cast<double>(kScoreSteps), selection.score_scale);
  for (const Method& one : selection.candidates) once = std::max(once, pure_epsilon(one, problem));
  return 2 * once;
}

}  // namespace

double mean_runs(double run_scale) {
  const double next = std::exp(-1 / run_scale);
  const double last = -std::expm1(-1 / run_scale);
  return next / (last * -std::log(last));
}

PrivateSelection calibrate_selection(const Problem& problem, std::vector<Method> candidates,
                                     Epsilon epsilon, double runs) {
  if (candidates.empty()) refuse("there are no candidates to choose from");
  if (!(runs >= 1.01 && runs <= kMostRuns)) {
    refuse(fmt::format("{} runs are not from 1.01 to {}", format_number(runs),
                       format_number(kMostRuns)));
  }
  PrivateSelection selection;
  selection.candidates = std::move(candidates);
  selection.epsilon = epsilon.value();
  selection.score_scale = numeric::divide_up(static_cast<double>(kScoreSteps), epsilon.value() / 2);
  double below = 0x1p-4;
  double above = 1;
  while (mean_runs(above) < runs) above *= 2;
  while (above - below > above * 0x1p-20) {
    const double middle = (above + below) / 2;
    (mean_runs(middle) < runs ? below : above) = middle;
  }
  selection.run_scale = above;
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
  random::check_scale(selection.score_scale, "noise of the scores, in steps,");
  random::check_scale(selection.run_scale, "scale of the number of runs");
  if (mean_runs(selection.run_scale) > 2 * kMostRuns) refuse("there would be too many runs");
  const double charged = selection_epsilon_up(selection, problem);
  if (!(charged <= selection.epsilon)) {
    refuse(
        fmt::format("the choice costs {}, twice its dearest run, and {} is stated; calibrate "
                    "candidates for half of it",
                    format_number(charged), format_number(selection.epsilon)));
  }
}

privacy::Event privacy_event(const PrivateSelection& selection, const Problem& problem) {
  validate(selection, problem);
  return privacy::event::Pure{selection_epsilon_up(selection, problem)};
}

}  // namespace shoal::learn
