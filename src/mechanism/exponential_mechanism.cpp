#include "mechanism/parameter_json.hpp"
#include "mechanism/selection_spec.hpp"

#include <shoal/base/text.hpp>
#include <shoal/mechanism/exponential_mechanism.hpp>
#include <shoal/mechanism/noisy_top_k.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "exponential_mechanism";
constexpr std::string_view kParameter = "scale";

}  // namespace

void validate(const ExponentialMechanism& spec) { random::check_scale(spec.scale, kParameter); }

SelectionNoise selection_noise(const ExponentialMechanism& spec) {
  validate(spec);
  return {ScoreNoise::gumbel, spec.scale, 1};
}

double log_probability(const ExponentialMechanism& spec, std::span<const Int128> scores,
                       std::span<const std::size_t> choice) {
  return log_probability(NoisyTopK{spec.scale, 1}, scores, choice);
}

privacy::Event privacy_event(const ExponentialMechanism& spec, ScoreSensitivity sensitivity) {
  return privacy::event::Exponential{selection_epsilon(spec.scale, sensitivity)};
}

double loss_bound(const ExponentialMechanism& spec, CandidateCount candidates,
                  Confidence confidence) {
  validate(spec);
  check_candidates(candidates, 1);
  return exponential_loss(spec.scale, candidates, alpha_down(confidence));
}

AuditScores audit_target(const ExponentialMechanism& spec, ScoreSensitivity sensitivity) {
  validate(spec);
  return equal_scores_target(sensitivity, 1);
}

std::string_view name(const ExponentialMechanism&) { return kName; }

std::string describe(const ExponentialMechanism& spec) {
  return fmt::format("exponential mechanism, scale {} score steps", format_number(spec.scale));
}

std::string to_json(const ExponentialMechanism& spec) {
  validate(spec);
  return parameter_to_json(kName, kParameter, spec.scale);
}

void from_json(std::string_view text, ExponentialMechanism& spec) {
  const ExponentialMechanism read{parameter_from_json(text, kName, kParameter)};
  validate_read(read);
  spec = read;
}

}  // namespace shoal::mechanism
