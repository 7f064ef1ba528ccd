// The exponential mechanism (McSherry and Talwar 2007): candidate i is chosen with probability
// proportional to exp(score_i / scale). Proof note: src/mechanism/exponential_mechanism.proof.md.
// Contracts of the functions: selection.hpp.
#pragma once

#include <shoal/mechanism/selection.hpp>

namespace shoal::mechanism {

// The double stands for its exact value, in score steps, from 2^-10 to 2^50.
struct ExponentialMechanism {
  double scale = 0;  // to be set: 0 is refused
  bool operator==(const ExponentialMechanism&) const = default;
};

void validate(const ExponentialMechanism& spec);
SelectionNoise selection_noise(const ExponentialMechanism& spec);
double log_probability(const ExponentialMechanism& spec, std::span<const Int128> scores,
                       std::span<const std::size_t> choice);
privacy::Event privacy_event(const ExponentialMechanism& spec, ScoreSensitivity sensitivity);
double loss_bound(const ExponentialMechanism& spec, CandidateCount candidates,
                  Confidence confidence);
AuditScores audit_target(const ExponentialMechanism& spec, ScoreSensitivity sensitivity);
std::string_view name(const ExponentialMechanism& spec);
std::string describe(const ExponentialMechanism& spec);
std::string to_json(const ExponentialMechanism& spec);
void from_json(std::string_view text, ExponentialMechanism& spec);

static_assert(Selection<ExponentialMechanism>);

}  // namespace shoal::mechanism
