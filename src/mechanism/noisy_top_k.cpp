#include "mechanism/parameter_json.hpp"
#include "mechanism/selection_spec.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/noisy_top_k.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "noisy_top_k";

}  // namespace

void validate(const NoisyTopK& spec) {
  random::check_scale(spec.scale, "scale");
  if (spec.count < 1 || spec.count > kMaxChoices) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("count is {}; it must be from 1 to {}", spec.count, kMaxChoices));
  }
}

SelectionNoise selection_noise(const NoisyTopK& spec) {
  validate(spec);
  return {ScoreNoise::gumbel, spec.scale, spec.count};
}

// Each choice in turn, among those left: its weight over their sum.
double log_probability(const NoisyTopK& spec, std::span<const Int128> scores,
                       std::span<const std::size_t> choice) {
  validate(spec);
  check_choice(scores, choice, spec.count);
  std::vector<bool> gone(scores.size(), false);
  double log_sum = 0;
  for (const std::size_t chosen : choice) {
    Int128 best = -kScoreLimit;
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (!gone[j]) best = std::max(best, scores[j]);
    }
    double sum = 0;
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (!gone[j]) sum += std::exp(scaled_gap(scores[j], best, spec.scale));
    }
    log_sum += scaled_gap(scores[chosen], best, spec.scale) - std::log(sum);
    gone[chosen] = true;
  }
  return log_sum;
}

privacy::Event privacy_event(const NoisyTopK& spec, ScoreSensitivity sensitivity) {
  validate(spec);
  const privacy::Event once =
      privacy::event::Exponential{selection_epsilon(spec.scale, sensitivity)};
  if (spec.count == 1) return once;
  return privacy::event::Repeat{spec.count, once};
}

// In each round the best that is left scores at least as the j-th highest of all; the chance to
// miss is shared out among the rounds.
double loss_bound(const NoisyTopK& spec, CandidateCount candidates, Confidence confidence) {
  validate(spec);
  check_candidates(candidates, spec.count);
  if (spec.count > 1) candidates.best = 1;
  const double alpha =
      numeric::divide_down(alpha_down(confidence), static_cast<double>(spec.count));
  return exponential_loss(spec.scale, candidates, alpha);
}

AuditScores audit_target(const NoisyTopK& spec, ScoreSensitivity sensitivity) {
  validate(spec);
  return equal_scores_target(sensitivity, spec.count);
}

std::string_view name(const NoisyTopK&) { return kName; }

std::string describe(const NoisyTopK& spec) {
  return fmt::format("noisy top {} with Gumbel noise, scale {} score steps", spec.count,
                     format_number(spec.scale));
}

std::string to_json(const NoisyTopK& spec) {
  validate(spec);
  return fmt::format("{{\"{}\": {{\"scale\": {}, \"count\": {}}}}}", kName,
                     format_number(spec.scale), spec.count);
}

void from_json(std::string_view text, NoisyTopK& spec) {
  const std::string key = mechanism_key(text);
  if (key != kName) {
    throw Error(ErrorCode::parse_error, fmt::format("the mechanism is \"{}\"; expected \"{}\"",
                                                    printable(key, 100), kName));
  }
  // That it is JSON, and that no key comes twice, was checked with the key.
  const nlohmann::json json = nlohmann::json::parse(text);
  const nlohmann::json& parameters = json.begin().value();
  if (!parameters.is_object() || parameters.size() != 2 || !parameters.contains("scale") ||
      !parameters["scale"].is_number() || !parameters.contains("count") ||
      !parameters["count"].is_number_integer()) {
    throw Error(ErrorCode::parse_error,
                fmt::format("/{} must be an object with a number, \"scale\", and an integer, "
                            "\"count\"",
                            kName));
  }
  // An integer beyond 64 bits signed is out of range in any case; it must not wrap into it.
  const nlohmann::json& count = parameters["count"];
  const bool huge = count.is_number_unsigned() &&
                    count.get<std::uint64_t>() > static_cast<std::uint64_t>(kMaxChoices);
  const NoisyTopK read{parameters["scale"].get<double>(),
                       huge ? kMaxChoices + 1 : count.get<std::int64_t>()};
  validate_read(read);
  spec = read;
}

}  // namespace shoal::mechanism
