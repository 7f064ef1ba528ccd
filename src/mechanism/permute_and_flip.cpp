#include "mechanism/choice_quadrature.hpp"
#include "mechanism/parameter_json.hpp"
#include "mechanism/selection_spec.hpp"

#include <shoal/base/text.hpp>
#include <shoal/mechanism/permute_and_flip.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "permute_and_flip";
constexpr std::string_view kParameter = "scale";

}  // namespace

void validate(const PermuteAndFlip& spec) { random::check_scale(spec.scale, kParameter); }

SelectionNoise selection_noise(const PermuteAndFlip& spec) {
  validate(spec);
  return {ScoreNoise::exponential, spec.scale, 1};
}

double log_probability(const PermuteAndFlip& spec, std::span<const Int128> scores,
                       std::span<const std::size_t> choice) {
  validate(spec);
  check_choice(scores, choice, 1);
  return log_win_exponential(scores, choice[0], spec.scale);
}

privacy::Event privacy_event(const PermuteAndFlip& spec, ScoreSensitivity sensitivity) {
  return privacy::event::Pure{
      numeric::decimal_at_least(selection_epsilon(spec.scale, sensitivity))};
}

// A candidate c scales below the best wins with probability at most e^-c / (best + 1); and never
// with more than under the exponential mechanism: the better bound for large alpha.
double loss_bound(const PermuteAndFlip& spec, CandidateCount candidates, Confidence confidence) {
  validate(spec);
  check_candidates(candidates, 1);
  const double alpha = alpha_down(confidence);
  const double ratio_up =
      numeric::divide_up(static_cast<double>(candidates.all - candidates.best),
                         numeric::multiply_down(static_cast<double>(candidates.best + 1), alpha));
  if (ratio_up <= 1) return 0;
  return std::min(numeric::multiply_up(spec.scale, numeric::log_up(ratio_up)),
                  exponential_loss(spec.scale, candidates, alpha));
}

AuditScores audit_target(const PermuteAndFlip& spec, ScoreSensitivity sensitivity) {
  validate(spec);
  return equal_scores_target(sensitivity, 1);
}

std::string_view name(const PermuteAndFlip&) { return kName; }

std::string describe(const PermuteAndFlip& spec) {
  return fmt::format("permute-and-flip, scale {} score steps", format_number(spec.scale));
}

std::string to_json(const PermuteAndFlip& spec) {
  validate(spec);
  return parameter_to_json(kName, kParameter, spec.scale);
}

void from_json(std::string_view text, PermuteAndFlip& spec) {
  const PermuteAndFlip read{parameter_from_json(text, kName, kParameter)};
  validate_read(read);
  spec = read;
}

}  // namespace shoal::mechanism
