#include "mechanism/choice_quadrature.hpp"
#include "mechanism/parameter_json.hpp"
#include "mechanism/selection_spec.hpp"

#include <shoal/base/text.hpp>
#include <shoal/mechanism/report_noisy_max.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "report_noisy_max";
constexpr std::string_view kParameter = "scale";

// P(X - Y >= c) for two independent Laplace noises: e^-c (2 + c) / 4.
double difference_tail_up(double c) {
  return numeric::multiply_up(numeric::exp_up(-c), numeric::add_up(2, c)) / 4;
}

}  // namespace

void validate(const ReportNoisyMax& spec) { random::check_scale(spec.scale, kParameter); }

SelectionNoise selection_noise(const ReportNoisyMax& spec) {
  validate(spec);
  return {ScoreNoise::laplace, spec.scale, 1};
}

double log_probability(const ReportNoisyMax& spec, std::span<const Int128> scores,
                       std::span<const std::size_t> choice) {
  validate(spec);
  check_choice(scores, choice, 1);
  return log_win_laplace(scores, choice[0], spec.scale);
}

privacy::Event privacy_event(const ReportNoisyMax& spec, ScoreSensitivity sensitivity) {
  return privacy::event::Pure{
      numeric::decimal_at_least(selection_epsilon(spec.scale, sensitivity))};
}

// Each candidate that is c scales or more below the best has to overtake it at least.
double loss_bound(const ReportNoisyMax& spec, CandidateCount candidates, Confidence confidence) {
  validate(spec);
  check_candidates(candidates, 1);
  const double alpha = alpha_down(confidence);
  const auto others = static_cast<double>(candidates.all - candidates.best);
  const auto suffices = [&](double c) {
    return numeric::multiply_up(others, difference_tail_up(c)) <= alpha;
  };
  if (suffices(0)) return 0;
  double low = 0;
  double high = 1;
  while (!suffices(high)) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = low + (high - low) / 2;
    (suffices(middle) ? high : low) = middle;
  }
  return numeric::multiply_up(spec.scale, high);
}

AuditScores audit_target(const ReportNoisyMax& spec, ScoreSensitivity sensitivity) {
  validate(spec);
  return equal_scores_target(sensitivity, 1);
}

std::string_view name(const ReportNoisyMax&) { return kName; }

std::string describe(const ReportNoisyMax& spec) {
  return fmt::format("report noisy max with Laplace noise, scale {} score steps",
                     format_number(spec.scale));
}

std::string to_json(const ReportNoisyMax& spec) {
  validate(spec);
  return parameter_to_json(kName, kParameter, spec.scale);
}

void from_json(std::string_view text, ReportNoisyMax& spec) {
  const ReportNoisyMax read{parameter_from_json(text, kName, kParameter)};
  validate_read(read);
  spec = read;
}

}  // namespace shoal::mechanism
