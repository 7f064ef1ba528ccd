// The `count` highest noisy scores, in order, with Gumbel noise that is drawn once: the same law as
// using the exponential mechanism `count` times, each time without those already chosen (Durfee and
// Rogers 2019). With a count of one it is the exponential mechanism. Proof note:
// src/mechanism/noisy_top_k.proof.md.
// Contracts of the functions: selection.hpp.
#pragma once

#include <shoal/mechanism/selection.hpp>

namespace shoal::mechanism {

// The double stands for its exact value, in score steps, from 2^-10 to 2^50.
struct NoisyTopK {
  double scale = 0;        // to be set: 0 is refused
  std::int64_t count = 0;  // how many to choose, from 1 to 2^20
  bool operator==(const NoisyTopK&) const = default;
};

void validate(const NoisyTopK& spec);
SelectionNoise selection_noise(const NoisyTopK& spec);
double log_probability(const NoisyTopK& spec, std::span<const Int128> scores,
                       std::span<const std::size_t> choice);
privacy::Event privacy_event(const NoisyTopK& spec, ScoreSensitivity sensitivity);
double loss_bound(const NoisyTopK& spec, CandidateCount candidates, Confidence confidence);
AuditScores audit_target(const NoisyTopK& spec, ScoreSensitivity sensitivity);
std::string_view name(const NoisyTopK& spec);
std::string describe(const NoisyTopK& spec);
std::string to_json(const NoisyTopK& spec);
void from_json(std::string_view text, NoisyTopK& spec);

static_assert(Selection<NoisyTopK>);

}  // namespace shoal::mechanism
