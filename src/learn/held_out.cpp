#include "learn/methods.hpp"
#include "learn/selection_runs.hpp"
#include "learn/training_rows_key.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/held_out.hpp>
#include <shoal/mechanism/discrete_laplace.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

constexpr double kSteps = static_cast<double>(kScoreSteps);

// How far the two sums move together, in L1 norm: a row gives kScoreSteps in all, an exchange can
// take them from one and give them to the other.
double moved(Neighbors neighbors) {
  return neighbors == Neighbors::replace_one ? 2 * kSteps : kSteps;
}

double epsilon_up(const HeldOutCounts& counts) {
  return numeric::divide_up(moved(counts.neighbors), counts.scale);
}

// wrong / (wrong + right) rises with wrong and falls with right, and the ends of the two intervals
// that make it least, and most, have the same sum.
HeldOutEstimate estimate_of(const HeldOutCounts& counts, Int128 wrong, Int128 right) {
  HeldOutEstimate estimate;
  estimate.epsilon = counts.epsilon;
  const double all = static_cast<double>(wrong + right);
  estimate.rows = std::max(0.0, all / kSteps);
  if (!(all > 0)) {
    estimate.wrong = 0.5;
    return estimate;
  }
  const double width = static_cast<double>(
      mechanism::error_interval(mechanism::DiscreteLaplace{counts.scale}, Confidence(0.975)));
  const auto share = [&](double steps) { return std::clamp(steps / all, 0.0, 1.0); };
  estimate.wrong = share(static_cast<double>(wrong));
  estimate.lower = share(static_cast<double>(wrong) - width);
  estimate.upper = share(static_cast<double>(wrong) + width);
  return estimate;
}

}  // namespace

HeldOutCounts calibrate_held_out(Neighbors neighbors, Epsilon epsilon) {
  if (!(epsilon.value() > 0)) {
    throw Error(ErrorCode::invalid_argument,
                "an estimate of accuracy needs an epsilon above 0; raise --evaluate-epsilon");
  }
  // An event reads 0.1 as one tenth, which may lie under the double.
  HeldOutCounts counts{neighbors, epsilon.value(),
                       numeric::divide_up(moved(neighbors), numeric::step_down(epsilon.value()))};
  validate(counts);
  return counts;
}

void validate(const HeldOutCounts& counts) {
  mechanism::validate(mechanism::DiscreteLaplace{counts.scale});
  if (!(counts.epsilon > 0) || !(epsilon_up(counts) <= counts.epsilon)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("noise of {} steps does not give epsilon {} to the counts; raise it",
                            format_rounded(counts.scale, 6), format_number(counts.epsilon)));
  }
}

privacy::Event privacy_event(const HeldOutCounts& counts) {
  validate(counts);
  return privacy::event::Pure{numeric::decimal_at_least(epsilon_up(counts))};
}

privacy::Event privacy_event(const Method& method, const HeldOutCounts& counts,
                             const Problem& problem) {
  if (std::holds_alternative<Softmax>(problem.loss)) {
    throw Error(ErrorCode::unsupported,
                "the estimate of accuracy is for two classes or numbers, not for softmax");
  }
  if (neighbors_of(method) != counts.neighbors) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the method is stated for {} and the counts for {}; state both for one",
                            to_string(neighbors_of(method)), to_string(counts.neighbors)));
  }
  return privacy::event::Compose{{privacy_event(method, problem), privacy_event(counts)}};
}

FittedAndCounted fit_and_count(const Problem& problem, const Method& method,
                               const HeldOutCounts& counts, TrainingRows&& rows,
                               privacy::Reservation&& reservation, random::BitSource& bits,
                               const FitOptions& options) {
  privacy::Reservation mine = std::move(reservation);
  const TrainingRows secret = std::move(rows);
  SHOAL_CHECK(mine.touched());
  SHOAL_CHECK(privacy_event(method, counts, problem) == mine.event());
  SHOAL_CHECK(counts.neighbors == mine.neighbors());
  check_rows(secret, problem);
  std::vector<double> weights;
  std::string failure;
  HeldOutEstimate estimate;
  try {
    const mechanism::DiscreteLaplace noise{counts.scale};
    const Int128 wrong_noise = mechanism::sample(noise, bits);
    const Int128 right_noise = mechanism::sample(noise, bits);
    const SplitRows split = split_rows(TrainingRowsKey::open(secret), bits);
    weights = std::visit(
        [&](const auto& one) { return train(one, problem, *split.training, bits, options); },
        method);
    const Int128 wrong = -held_out_score(problem.loss, *split.held_out, weights);
    const Int128 right = Int128{kScoreSteps} * split.held_out->row_count() - wrong;
    estimate = estimate_of(counts, wrong + wrong_noise, right + right_noise);
  } catch (const std::exception& reason) {
    weights.clear();
    failure = reason.what();
  }
  return {{std::move(weights), std::move(failure), std::move(mine).spend()}, estimate};
}

}  // namespace shoal::learn
