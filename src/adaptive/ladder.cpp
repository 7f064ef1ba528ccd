#include "adaptive/minimum.hpp"
#include "adaptive/transcripts.hpp"

#include <shoal/adaptive/ladder.hpp>
#include <shoal/base/error.hpp>
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

constexpr double kAnswerShare = 0.3;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

double steps_of(const LadderPlan& plan) {
  return static_cast<double>(plan.rows) * static_cast<double>(kGridSteps);
}

double beta_of(const LadderPlan& plan) { return subtract_down(1, plan.confidence); }

mechanism::ScoreSensitivity sensitivity() {
  return {Sensitivity(kGridSteps), mechanism::ScoreChange::two_sided};
}

// Blum and Hardt 2015, theorem 3.1: P(error > e + step) <= exp(-2 e^2 n + (1/step + 2) ln(4 k /
// step) + 1).
double published_width(const LadderPlan& plan) {
  const double logarithm = log_up(divide_up(4 * static_cast<double>(plan.submissions), plan.step));
  double exponent = multiply_up(add_up(divide_up(1, plan.step), 2), logarithm);
  exponent = add_up(add_up(exponent, 1), -log_down(beta_of(plan)));
  return add_up(sqrt_up(divide_up(exponent, 2 * static_cast<double>(plan.rows))), plan.step);
}

// Counting transcripts, as for the holdout: an improvement tells one of 1 / step + 2 values.
double private_width(const LadderPlan& plan) {
  const mechanism::SparseVector& noise = *plan.noise;
  const double miss = beta_of(plan) / 2;
  const double over = mechanism::error_bounds(noise, 1, Confidence(1 - miss)).over;
  const double each = divide_down(miss / 2, static_cast<double>(noise.hits));
  const double reach = multiply_up(noise.answer_scale, log_up(divide_up(2, each)));
  const double told = add_up(divide_up(reach + 1, steps_of(plan)), plan.step / 2);
  const double untold = add_up(divide_up(over + 1, steps_of(plan)), plan.step);
  const TranscriptCount count{plan.rows, plan.submissions, noise.hits, 1 / plan.step + 2,
                              beta_of(plan) / 2};
  const std::int64_t last = plan.submissions;
  double sample = 0;
  for (std::int64_t j = 0; j <= std::min(noise.hits, last - 1); ++j) {
    sample = std::max(sample, transcript_width(count, last, j));
  }
  return add_up(sample, std::max(told, untold));
}

}  // namespace

double ladder_width(const LadderPlan& plan) {
  const double width = plan.noise ? private_width(plan) : published_width(plan);
  return std::min(1.0, add_up(width, 2 * kRounding));
}

void validate(const LadderPlan& plan) {
  if (plan.rows < 1 || plan.rows > kMostRows || plan.submissions < 1) {
    refuse(
        fmt::format("there are {} rows and {} submissions; there must be from 1 to 2^40 rows "
                    "and at least one submission",
                    plan.rows, plan.submissions));
  }
  if (!(plan.step >= 1e-6 && plan.step <= 0.5)) {
    refuse(fmt::format("the step is {}; it must be from 1e-6 to 0.5", format_number(plan.step)));
  }
  Confidence{plan.confidence};
  if (plan.noise) mechanism::validate(*plan.noise);
}

LadderPlan plan_ladder(const LadderGoal& goal) {
  LadderPlan plan{
      goal.rows, goal.submissions, goal.confidence.value(), goal.step.value_or(0.1), {}};
  validate(plan);
  if (goal.epsilon) {
    plan.noise = mechanism::calibrate_sparse({.epsilon = *goal.epsilon,
                                              .hits = goal.improvements,
                                              .sensitivity = sensitivity(),
                                              .answer_share = kAnswerShare,
                                              .questions = goal.submissions});
  }
  if (goal.step) return plan;
  const auto width = [&](double log_step) {
    LadderPlan other = plan;
    other.step = std::exp(log_step);
    return ladder_width(other);
  };
  plan.step = std::exp(minimise(width, std::log(1e-4), std::log(0.5), 40).at);
  return plan;
}

privacy::Event privacy_event(const LadderPlan& plan) {
  if (!plan.noise) return privacy::event::Compose{};
  return mechanism::privacy_event(*plan.noise, sensitivity());
}

Ladder::Ladder(const LadderPlan& plan, random::BitSource& bits) : plan_(plan) {
  validate(plan);
  if (plan.noise) watch_.emplace(*plan.noise, bits);
}

Ladder::Ladder(std::string_view saved, random::BitSource& bits) {
  try {
    const nlohmann::json json = nlohmann::json::parse(saved);
    plan_.rows = json.at("rows").get<std::int64_t>();
    plan_.submissions = json.at("submissions").get<std::int64_t>();
    plan_.confidence = json.at("confidence").get<double>();
    plan_.step = json.at("step").get<double>();
    best_ = json.at("best").get<double>();
    submitted_ = json.at("submitted").get<std::int64_t>();
    improved_ = json.at("improved").get<bool>();
    if (!json.at("watch").is_null()) {
      watch_.emplace(json.at("watch").dump(), bits);
      plan_.noise = watch_->spec();
    }
    validate(plan_);
  } catch (const std::exception&) {
    throw Error(ErrorCode::corrupt, "the saved state is no leaderboard's; restore it");
  }
}

std::int64_t Ladder::submissions_left() const {
  return watch_ && watch_->halted() ? 0 : plan_.submissions - submitted_;
}

bool Ladder::improves(Int128 sum, Int128 limit, std::optional<Int128>& told) {
  if (!watch_) {
    told = sum;
    return sum < limit;
  }
  const mechanism::SparseReply reply = watch_->ask(limit - sum, 0, sum);
  told = reply.value;
  return reply.verdict == mechanism::Verdict::above;
}

void Ladder::require_open() const {
  if (submissions_left() > 0) return;
  throw Error(ErrorCode::budget_exceeded,
              fmt::format("the leaderboard is closed: {} of {} submissions were made{}", submitted_,
                          plan_.submissions,
                          watch_ ? " and all improvements that were paid for may be told" : ""));
}

LadderStanding Ladder::submit(std::span<const double> losses) {
  if (static_cast<std::int64_t>(losses.size()) != plan_.rows) {
    refuse(fmt::format("there are {} losses and {} rows; give one for each row", losses.size(),
                       plan_.rows));
  }
  require_open();
  ++submitted_;
  const auto limit = static_cast<Int128>(std::llround((best_ - plan_.step) * steps_of(plan_)));
  std::optional<Int128> told;
  improved_ = improves(grid_sum(losses), limit, told);
  if (improved_) {
    const double loss = std::clamp(static_cast<double>(*told) / steps_of(plan_), 0.0, 1.0);
    // To the grid, and never back up: noise may have let through what is no improvement.
    best_ = std::min({best_, 1.0, std::round(loss / plan_.step) * plan_.step});
  }
  return standing();
}

LadderStanding Ladder::standing() const {
  if (submitted_ == 0) return {};
  const double width = ladder_width(plan_);
  return {best_, std::max(0.0, best_ - width), std::min(1.0, best_ + width), improved_};
}

std::string Ladder::save() const {
  return fmt::format(
      "{{\"rows\": {}, \"submissions\": {}, \"confidence\": {}, \"step\": {}, \"best\": {}, "
      "\"submitted\": {}, \"improved\": {}, \"watch\": {}}}",
      plan_.rows, plan_.submissions, format_number(plan_.confidence), format_number(plan_.step),
      format_number(best_), submitted_, improved_, watch_ ? watch_->save() : "null");
}

}  // namespace shoal::adaptive
