#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/multiplicative_weights.hpp>
#include <shoal/mechanism/sparse_calibration.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/unit_grid.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shoal::mechanism {
namespace {

constexpr double kAnswerShare = 0.3;
constexpr std::int64_t kMostCells = std::int64_t{1} << 28;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

ScoreSensitivity sensitivity() {
  return {Sensitivity(numeric::kGridSteps), ScoreChange::two_sided};
}

double steps_of(const WeightsPlan& plan) {
  return static_cast<double>(plan.rows) * static_cast<double>(numeric::kGridSteps);
}

}  // namespace

WeightsPlan plan_weights(const WeightsGoal& goal) {
  if (goal.rows < 1 || goal.rows > std::int64_t{1} << 40 || goal.questions < 1) {
    refuse(
        fmt::format("there are {} rows and {} questions; there must be from 1 to 2^40 rows and "
                    "at least one question",
                    goal.rows, goal.questions));
  }
  if (goal.cells < 2 || goal.cells > kMostCells) {
    refuse(
        fmt::format("the universe has {} cells; it must have from 2 to 2^28, each of which is "
                    "kept in memory",
                    goal.cells));
  }
  if (!(goal.accuracy > 0 && goal.accuracy < 1)) {
    refuse(fmt::format("the accuracy is {}; it must be above 0 and below 1",
                       format_number(goal.accuracy)));
  }
  const double needed =
      std::ceil(4 * std::log(static_cast<double>(goal.cells)) / (goal.accuracy * goal.accuracy));
  const std::int64_t updates =
      goal.updates != 0
          ? goal.updates
          : static_cast<std::int64_t>(std::min(needed, static_cast<double>(kMaxChoices)));
  WeightsPlan plan{goal.rows, goal.cells, 0.75 * goal.accuracy, {}};
  plan.noise = calibrate_sparse({.epsilon = goal.epsilon,
                                 .delta = goal.delta,
                                 .hits = updates,
                                 .sensitivity = sensitivity(),
                                 .answer_share = kAnswerShare,
                                 .questions = goal.questions});
  return plan;
}

privacy::Event privacy_event(const WeightsPlan& plan) {
  return privacy_event(plan.noise, sensitivity());
}

double weights_error(const WeightsPlan& plan, Confidence confidence) {
  using namespace numeric;
  const double miss = subtract_down(1, confidence.value()) / 2;
  const double over = error_bounds(plan.noise, 1, Confidence(1 - miss)).over;
  const double each = divide_down(miss, static_cast<double>(plan.noise.hits));
  const double reach = multiply_up(plan.noise.answer_scale, log_up(divide_up(2, each)));
  const double untold = add_up(plan.threshold, divide_up(over + 2, steps_of(plan)));
  return add_up(std::max(untold, divide_up(reach + 1, steps_of(plan))), 2 * kGridRounding);
}

MultiplicativeWeights::MultiplicativeWeights(const WeightsPlan& plan,
                                             std::vector<std::int64_t>&& histogram,
                                             random::BitSource& bits)
    : plan_(plan), histogram_(std::move(histogram)), watch_(plan.noise, bits) {
  if (static_cast<std::int64_t>(histogram_.size()) != plan.cells) {
    refuse(fmt::format("the histogram has {} cells and the plan {}; give one count for each",
                       histogram_.size(), plan.cells));
  }
  Int128 rows = 0;
  for (const std::int64_t count : histogram_) {
    if (count < 0) refuse("a count of the histogram is negative; correct it");
    rows += count;
  }
  if (rows != plan.rows) refuse("the histogram has not as many rows as the plan; correct either");
  guess_.assign(histogram_.size(), 1 / static_cast<double>(plan.cells));
}

WeightsAnswer MultiplicativeWeights::ask(std::span<const double> cell_values) {
  if (cell_values.size() != histogram_.size()) {
    refuse(fmt::format("there are {} values and {} cells; give one for each cell",
                       cell_values.size(), histogram_.size()));
  }
  if (exhausted()) {
    throw Error(ErrorCode::budget_exceeded,
                "all updates or questions were used; the last guess may still be asked, for free");
  }
  Int128 sum = 0;
  double guessed = 0;
  for (std::size_t i = 0; i < cell_values.size(); ++i) {
    const std::int64_t value = numeric::grid_value(cell_values[i]);
    sum += static_cast<Int128>(value) * histogram_[i];
    guessed += static_cast<double>(value) * guess_[i];
  }
  guessed /= static_cast<double>(numeric::kGridSteps);
  const double steps = steps_of(plan_);
  const auto guess = static_cast<Int128>(std::llround(guessed * steps));
  const auto threshold = static_cast<Int128>(std::llround(plan_.threshold * steps));
  const SparseReply reply = watch_.ask(sum > guess ? sum - guess : guess - sum, threshold, sum);
  if (reply.verdict == Verdict::below) return {std::clamp(guessed, 0.0, 1.0), false};
  const double told = std::clamp(static_cast<double>(*reply.value) / steps, 0.0, 1.0);
  learn(cell_values, told - guessed);
  return {told, true};
}

// The distance that was told is the rate at which the potential falls fastest.
void MultiplicativeWeights::learn(std::span<const double> cell_values, double by) {
  double sum = 0;
  for (std::size_t i = 0; i < guess_.size(); ++i) {
    const double value = static_cast<double>(numeric::grid_value(cell_values[i])) /
                         static_cast<double>(numeric::kGridSteps);
    guess_[i] *= std::exp(by * value);
    sum += guess_[i];
  }
  for (double& weight : guess_) weight /= sum;
}

}  // namespace shoal::mechanism
