#include "mechanism/noise_spec.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/sparse_calibration.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/privacy/calibration.hpp>
#include <shoal/privacy/profile.hpp>
#include <shoal/privacy/renyi_conversion.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::mechanism {
namespace {

// Noise so little wider than what just meets a goal that an accountant who is asked again, with
// another tolerance, finds the same.
constexpr double kRoom = 1 + 1e-5;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

double factor(const ScoreSensitivity& sensitivity) {
  return sensitivity.change == ScoreChange::two_sided ? 2 : 1;
}

double at_least_minimum(double scale) { return std::max(scale, random::kMinScale); }

SparseVector scaled(SparseVector spec, double by) {
  spec.threshold_scale = at_least_minimum(spec.threshold_scale * by);
  spec.query_scale = at_least_minimum(spec.query_scale * by);
  if (spec.answer_scale != 0) spec.answer_scale = at_least_minimum(spec.answer_scale * by);
  return spec;
}

SparseVector empty_spec(const SparseGoal& goal) {
  SparseVector spec;
  spec.noise = goal.noise;
  spec.hits = goal.hits;
  spec.gap = goal.gap;
  spec.questions = goal.questions;
  return spec;
}

// Scales at which verdicts cost `verdicts` and values `answers`; `draws` draws of the threshold.
SparseVector pure_spec(const SparseGoal& goal, bool redraw, double verdicts, double answers) {
  const double steps = steps_up(goal.sensitivity.steps);
  const auto hits = static_cast<double>(goal.hits);
  const double draws = redraw ? hits : 1;
  const double width = factor(goal.sensitivity) * hits;
  // Least variance for a sum of epsilons: shares in proportion to the two thirds' power of widths.
  const double weight = std::pow(width / draws, 2.0 / 3);
  const double threshold = verdicts / (1 + weight);
  SparseVector spec = empty_spec(goal);
  spec.redraw = redraw;
  spec.threshold_scale = at_least_minimum(draws * steps / threshold);
  spec.query_scale = at_least_minimum(width * steps / (verdicts - threshold));
  if (answers > 0) spec.answer_scale = at_least_minimum(hits * steps / answers);
  return spec;
}

// The scales above, widened by a few units in the last place until the price is not above epsilon.
SparseVector fitted(SparseVector spec, double epsilon, const ScoreSensitivity& sensitivity) {
  for (int tries = 0; sparse_epsilon(spec, sensitivity) > epsilon; ++tries) {
    SHOAL_CHECK(tries < 100);
    spec = scaled(spec, 1 + 0x1p-51);
  }
  return spec;
}

SparseVector one_draw(const SparseGoal& goal) {
  const double epsilon = goal.epsilon.value();
  const double answers = goal.answer_share * epsilon;
  return fitted(pure_spec(goal, false, epsilon - answers, answers), epsilon, goal.sensitivity);
}

// Each run with a threshold of its own, priced together by the accountant.
SparseVector many_runs(const SparseGoal& goal) {
  const SparseVector unit = pure_spec(goal, true, 1 - goal.answer_share, goal.answer_share);
  const auto family = [&](double by) { return privacy_event(scaled(unit, by), goal.sensitivity); };
  const privacy::Target target{goal.epsilon, goal.delta, Neighbors::add_remove};
  const privacy::CalibrationOptions options{
      .tolerance = 1e-4, .start = 1 / goal.epsilon.value(), .least = 0x1p-40, .most = 0x1p40};
  return scaled(unit, kRoom * privacy::calibrate(family, target, options).parameter);
}

SparseVector gaussian(const SparseGoal& goal) {
  const double steps = steps_up(goal.sensitivity.steps);
  SparseVector unit = empty_spec(goal);
  unit.threshold_scale = steps;
  // Least variance for a sum of squares: shares in proportion to the widths.
  unit.query_scale =
      steps * std::sqrt(factor(goal.sensitivity) * std::sqrt(static_cast<double>(goal.hits)));
  validate(unit);
  if (goal.delta.value() == 0) refuse("gaussian noise needs a delta above 0; choose one");
  if (goal.answer_share > 0) refuse("values are told with geometric or laplace noise only");
  const auto epsilon_at = [&](double by) {
    const privacy::Event event = privacy_event(scaled(unit, by), goal.sensitivity);
    const auto& table = std::get<privacy::event::Rdp>(event.node());
    std::vector<privacy::RenyiBound> bounds;
    for (std::size_t i = 0; i < table.orders.size(); ++i) {
      bounds.push_back({table.orders[i], table.epsilons[i]});
    }
    return privacy::epsilon_of_renyi_up(bounds, goal.delta);
  };
  double low = 1e-3;
  double high = 1;
  while (epsilon_at(high) > goal.epsilon.value()) {
    high *= 2;
    // The table has an end: its largest order leaves something that no noise takes away.
    if (high > 0x1p30) {
      refuse(fmt::format(
          "epsilon {} at delta {} is out of reach for gaussian noise and {} "
          "questions; choose geometric noise",
          format_number(goal.epsilon.value()), format_number(goal.delta.value()), goal.questions));
    }
  }
  while (high > low * (1 + 1e-6)) {
    const double middle = std::sqrt(low * high);
    (epsilon_at(middle) > goal.epsilon.value() ? low : high) = middle;
  }
  return scaled(unit, kRoom * high);
}

double variance(SparseNoise noise, double scale) {
  if (noise == SparseNoise::gaussian) return scale * scale;
  const double half = std::sinh(0.5 / scale);
  const double one_sided = 0.25 / (half * half);
  return noise == SparseNoise::geometric ? one_sided : 2 * one_sided;
}

void check(const SparseGoal& goal) {
  if (goal.epsilon.value() <= 0) refuse("epsilon is 0; it must be above 0, or nothing is answered");
  if (goal.hits < 1 || goal.hits > kMaxChoices) {
    refuse(fmt::format("hits is {}; it must be from 1 to {}", goal.hits, kMaxChoices));
  }
  if (!(goal.answer_share >= 0 && goal.answer_share <= 0.9)) {
    refuse(fmt::format("the share for values is {}; it must be from 0 to 0.9",
                       format_number(goal.answer_share)));
  }
}

SparseVector textbook(double threshold_scale, double query_scale, std::int64_t hits, bool redraw) {
  SparseVector spec;
  spec.noise = SparseNoise::laplace;
  spec.threshold_scale = threshold_scale;
  spec.query_scale = query_scale;
  spec.hits = hits;
  spec.redraw = redraw;
  validate(spec);
  return spec;
}

// sqrt(32 hits ln(part / delta)) / epsilon, or 2 hits / epsilon without a delta.
double textbook_scale(double epsilon, Delta delta, std::int64_t hits, double part,
                      Sensitivity sensitivity) {
  const double steps = steps_up(sensitivity);
  const auto count = static_cast<double>(hits);
  if (delta.value() == 0) {
    return numeric::divide_up(numeric::multiply_up(2 * count, steps), epsilon);
  }
  const double logarithm = numeric::log_up(numeric::divide_up(part, delta.value()));
  const double root = numeric::sqrt_up(numeric::multiply_up(32 * count, logarithm));
  return numeric::divide_up(numeric::multiply_up(root, steps), epsilon);
}

void check_textbook(Epsilon epsilon, Delta delta, std::int64_t hits) {
  check(
      {.epsilon = epsilon, .hits = hits, .sensitivity = {Sensitivity(1), ScoreChange::two_sided}});
  if (delta.value() > 0 && epsilon.value() > 1) {
    refuse(
        fmt::format("the textbook's noise is proven for epsilon up to 1 with a delta, and "
                    "epsilon is {}; calibrate instead",
                    format_number(epsilon.value())));
  }
}

}  // namespace

SparseVector calibrate_sparse(const SparseGoal& goal) {
  check(goal);
  if (goal.noise == SparseNoise::gaussian) return gaussian(goal);
  const SparseVector once = one_draw(goal);
  validate(once);
  if (goal.delta.value() == 0 || goal.hits == 1) return once;
  const SparseVector runs = many_runs(goal);
  return comparison_deviation(runs) < comparison_deviation(once) ? runs : once;
}

privacy::Event charged_event(const SparseVector& spec, const SparseGoal& goal) {
  const privacy::Event event = privacy_event(spec, goal.sensitivity);
  if (sparse_epsilon(spec, goal.sensitivity) <= goal.epsilon.value()) return event;
  // Sensitivities are stated for the relation in force, so either one prices them alike.
  const privacy::Profile profile(event, Neighbors::replace_one);
  SHOAL_CHECK(profile.epsilon(goal.delta).bounds.upper <= goal.epsilon.value());
  return privacy::event::EpsilonDelta{goal.epsilon.value(), goal.delta.value()};
}

double comparison_deviation(const SparseVector& spec) {
  validate(spec);
  return std::sqrt(variance(spec.noise, spec.threshold_scale) +
                   variance(spec.noise, spec.query_scale));
}

SparseVector textbook_above_threshold(Epsilon epsilon, Sensitivity sensitivity) {
  return textbook_sparse(epsilon, Delta(0), 1, sensitivity);
}

SparseVector textbook_sparse(Epsilon epsilon, Delta delta, std::int64_t hits,
                             Sensitivity sensitivity) {
  check_textbook(epsilon, delta, hits);
  const double scale = textbook_scale(epsilon.value(), delta, hits, 1, sensitivity);
  return textbook(scale, 2 * scale, hits, hits > 1);
}

SparseVector textbook_numeric_sparse(Epsilon epsilon, Delta delta, std::int64_t hits,
                                     Sensitivity sensitivity) {
  check_textbook(epsilon, delta, hits);
  // Shares of epsilon for verdicts and values. Laplace noise of scale 2 hits / e on `hits` values
  // costs e / 2, which is why the shares of the pure version sum to more than one.
  const double root = std::sqrt(512.0);
  const bool pure = delta.value() == 0;
  const double verdicts = pure ? 8.0 / 9 : root / (root + 1);
  const double answers = pure ? 2.0 / 9 : 2 / (root + 1);
  const double scale = textbook_scale(verdicts * epsilon.value(), delta, hits, 2, sensitivity);
  SparseVector spec = textbook(scale, 2 * scale, hits, hits > 1);
  spec.answer_scale = textbook_scale(answers * epsilon.value(), delta, hits, 2, sensitivity);
  validate(spec);
  return spec;
}

}  // namespace shoal::mechanism
