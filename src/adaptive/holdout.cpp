#include "adaptive/transcripts.hpp"

#include <shoal/adaptive/generalization.hpp>
#include <shoal/adaptive/holdout.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/sparse_calibration.hpp>
#include <shoal/numeric/directed.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::adaptive {
namespace {

using namespace numeric;

// An answer of the holdout's own is a multiple of this: each tells one of 101 values.
constexpr double kAnswerStep = 0.01;
constexpr double kAnswerValues = 101;
// Of epsilon, for the values of disagreements.
constexpr double kAnswerShare = 0.3;
// The chance that noise leaves its bounds, as a part of the chance to miss. By counting, half; the
// transfer theorem divides by it, so there it has to be small.
constexpr double kNoisePart = 0.5;
constexpr double kTinyPart = 1e-4;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

mechanism::ScoreSensitivity sensitivity() {
  return {Sensitivity(kGridSteps), mechanism::ScoreChange::two_sided};
}

double steps_of(const HoldoutPlan& plan) {
  return static_cast<double>(plan.rows) * static_cast<double>(kGridSteps);
}

double noise_miss(const HoldoutPlan& plan) {
  const double beta = subtract_down(1, plan.confidence);
  return beta * (plan.bound == HoldoutBound::transcripts ? kNoisePart : kTinyPart);
}

// From the sample: how far an answer is from the mean over the holdout, except with the chance of
// noise_miss for all of them together.
double agreeing_noise(const HoldoutPlan& plan) {
  // error_bounds halves its chance between threshold and questions; the threshold's half is used.
  const double over = mechanism::error_bounds(plan.noise, 1, Confidence(1 - noise_miss(plan))).over;
  return add_up(plan.tolerance, divide_up(over + 1, steps_of(plan)));
}

double own_noise(const HoldoutPlan& plan) {
  // P(|X| > x) <= 2 e^(-x / scale) for each of them.
  const double each = divide_down(noise_miss(plan) / 2, static_cast<double>(plan.noise.hits));
  const double reach = multiply_up(plan.noise.answer_scale, log_up(divide_up(2, each)));
  return add_up(divide_up(reach + 1, steps_of(plan)), kAnswerStep / 2);
}

double overfit(const HoldoutPlan& plan, double noise, std::int64_t asked,
               std::int64_t disagreements) {
  const double beta = subtract_down(1, plan.confidence);
  if (plan.bound == HoldoutBound::tanh_posterior) {
    // The theorem's accuracy is that of the least accurate answer.
    const double worst = std::max(agreeing_noise(plan), own_noise(plan));
    const double epsilon = mechanism::sparse_epsilon(plan.noise, sensitivity());
    return tanh_transfer(worst, noise_miss(plan), epsilon, 0, Confidence(plan.confidence));
  }
  const TranscriptCount count{plan.rows, plan.noise.questions, plan.noise.hits, kAnswerValues,
                              beta * (1 - kNoisePart)};
  return add_up(noise, transcript_width(count, asked, disagreements));
}

double width(const HoldoutPlan& plan, double noise, std::int64_t asked,
             std::int64_t disagreements) {
  return std::min(1.0, add_up(overfit(plan, noise, asked, disagreements), 2 * kRounding));
}

// As near as the noise allows: questions that did not overfit seldom disagree.
double nearest_tolerance(const HoldoutGoal& goal, const HoldoutPlan& plan) {
  const double beta = 1 - goal.confidence.value();
  const auto questions = static_cast<double>(goal.questions);
  const auto error = mechanism::error_bounds(plan.noise, goal.questions, goal.confidence);
  const double sampling =
      std::sqrt(std::log(2 * questions / beta) / static_cast<double>(goal.rows));
  return std::min(0.999, error.short_of / steps_of(plan) + sampling);
}

}  // namespace

std::string_view to_string(HoldoutBound bound) {
  return bound == HoldoutBound::transcripts ? "transcripts" : "tanh_posterior";
}

void validate(const HoldoutPlan& plan) {
  if (plan.rows < 1 || plan.rows > kMostRows) {
    refuse(fmt::format("the holdout has {} rows; it must have from 1 to 2^40", plan.rows));
  }
  if (!(plan.tolerance > 0 && plan.tolerance < 1)) {
    refuse(fmt::format("the tolerance is {}; it must be above 0 and below 1",
                       format_number(plan.tolerance)));
  }
  Confidence{plan.confidence};
  mechanism::validate(plan.noise);
  if (plan.noise.questions < 1 || plan.noise.answer_scale == 0 || plan.noise.gap ||
      plan.noise.noise != mechanism::SparseNoise::geometric || plan.noise.redraw) {
    refuse("a holdout has geometric noise, a number of questions and noise for its own answers");
  }
}

HoldoutPlan plan_holdout(const HoldoutGoal& goal) {
  if (goal.questions < 1) refuse("the number of questions must be at least 1");
  HoldoutPlan plan;
  plan.rows = goal.rows;
  plan.confidence = goal.confidence.value();
  plan.noise = mechanism::calibrate_sparse({.epsilon = goal.epsilon,
                                            .hits = goal.disagreements,
                                            .sensitivity = sensitivity(),
                                            .answer_share = kAnswerShare,
                                            .questions = goal.questions});
  plan.tolerance = goal.tolerance.value_or(0.5);
  validate(plan);
  if (!goal.tolerance) plan.tolerance = nearest_tolerance(goal, plan);
  validate(plan);
  // The better one at the end, when all was asked. Decided here, before data.
  HoldoutPlan other = plan;
  other.bound = HoldoutBound::tanh_posterior;
  const std::int64_t last = goal.questions;
  const std::int64_t told = std::min(goal.disagreements, last) - 1;
  if (agreeing_width(other, last, told) < agreeing_width(plan, last, told)) return other;
  return plan;
}

privacy::Event privacy_event(const HoldoutPlan& plan) {
  validate(plan);
  return mechanism::privacy_event(plan.noise, sensitivity());
}

double agreeing_width(const HoldoutPlan& plan, std::int64_t asked, std::int64_t disagreements) {
  return width(plan, agreeing_noise(plan), asked, disagreements);
}

double own_width(const HoldoutPlan& plan, std::int64_t asked, std::int64_t disagreements) {
  return width(plan, own_noise(plan), asked, disagreements);
}

std::string to_json(const HoldoutPlan& plan) {
  return fmt::format(
      "{{\"rows\": {}, \"confidence\": {}, \"tolerance\": {}, \"bound\": \"{}\", \"noise\": {}}}",
      plan.rows, format_number(plan.confidence), format_number(plan.tolerance),
      to_string(plan.bound), mechanism::to_json(plan.noise));
}

HoldoutPlan holdout_plan_from_json(std::string_view text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    HoldoutPlan plan;
    plan.rows = json.at("rows").get<std::int64_t>();
    plan.confidence = json.at("confidence").get<double>();
    plan.tolerance = json.at("tolerance").get<double>();
    const auto bound = json.at("bound").get<std::string>();
    plan.bound =
        bound == "tanh_posterior" ? HoldoutBound::tanh_posterior : HoldoutBound::transcripts;
    if (bound != to_string(plan.bound)) throw Error(ErrorCode::parse_error, "unknown bound");
    mechanism::from_json(json.at("noise").dump(), plan.noise);
    validate(plan);
    return plan;
  } catch (const std::exception& error) {
    throw Error(ErrorCode::corrupt, fmt::format("this is no holdout's plan: {}", error.what()));
  }
}

Holdout::Holdout(const HoldoutPlan& plan, random::BitSource& bits)
    : plan_((validate(plan), plan)), watch_(plan.noise, bits) {}

namespace {

nlohmann::json saved_json(std::string_view saved) {
  const nlohmann::json json = nlohmann::json::parse(saved, nullptr, false);
  if (json.is_object() && json.contains("plan") && json.contains("watch")) return json;
  throw Error(ErrorCode::corrupt, "the saved state is no holdout's; restore it");
}

}  // namespace

Holdout::Holdout(std::string_view saved, random::BitSource& bits)
    : plan_(holdout_plan_from_json(saved_json(saved)["plan"].dump())),
      watch_(saved_json(saved)["watch"].dump(), bits) {
  if (watch_.spec() == plan_.noise) return;
  throw Error(ErrorCode::corrupt, "the saved state is not of this holdout's plan; restore it");
}

void Holdout::check_rows(std::int64_t rows) const {
  if (rows == plan_.rows) return;
  refuse(fmt::format("there are {} values and the holdout has {} rows; give one for each row", rows,
                     plan_.rows));
}

HoldoutAnswer Holdout::ask(double training_value, std::span<const double> holdout_values) {
  check_rows(static_cast<std::int64_t>(holdout_values.size()));
  return ask_sum(training_value, grid_sum(holdout_values));
}

void Holdout::require_open(double training_value) const {
  if (!(training_value >= 0 && training_value <= 1)) {
    refuse(fmt::format("the training value is {}; it must be from 0 to 1",
                       format_number(training_value)));
  }
  if (exhausted()) {
    throw Error(ErrorCode::budget_exceeded,
                fmt::format("the holdout is exhausted: {} of {} questions were asked and {} of {} "
                            "disagreements told; take a new one",
                            asked(), plan_.noise.questions, plan_.noise.hits - disagreements_left(),
                            plan_.noise.hits));
  }
}

HoldoutAnswer Holdout::ask_sum(double training_value, Int128 sum) {
  require_open(training_value);
  const double steps = steps_of(plan_);
  const auto guess = static_cast<Int128>(std::llround(training_value * steps));
  const auto threshold = static_cast<Int128>(std::llround(plan_.tolerance * steps));
  const Int128 apart = sum > guess ? sum - guess : guess - sum;
  const std::int64_t question = asked() + 1;
  const std::int64_t told = plan_.noise.hits - disagreements_left();
  const mechanism::SparseReply reply = watch_.ask(apart, threshold, sum);
  HoldoutAnswer answer;
  answer.agrees = reply.verdict == mechanism::Verdict::below;
  double half = 0;
  if (answer.agrees) {
    answer.value = training_value;
    half = agreeing_width(plan_, question, told);
  } else {
    const double noisy = std::clamp(static_cast<double>(*reply.value) / steps, 0.0, 1.0);
    answer.value = std::round(noisy / kAnswerStep) * kAnswerStep;
    half = own_width(plan_, question, told);
  }
  answer.lower = std::max(0.0, answer.value - half);
  answer.upper = std::min(1.0, answer.value + half);
  return answer;
}

std::int64_t Holdout::questions_left() const {
  return exhausted() ? 0 : watch_.questions_left().value_or(0);
}

std::string Holdout::save() const {
  return fmt::format("{{\"plan\": {}, \"watch\": {}}}", to_json(plan_), watch_.save());
}

}  // namespace shoal::adaptive
