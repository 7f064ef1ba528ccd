// Permute-and-flip (McKenna and Sheldon 2020): the candidate whose score plus exponential noise is
// highest (Ding et al. 2021). At the same epsilon its expected score is never below that of the
// exponential mechanism. Proof note: src/mechanism/permute_and_flip.proof.md.
// Contracts of the functions: selection.hpp.
#pragma once

#include <shoal/mechanism/selection.hpp>

namespace shoal::mechanism {

// The double stands for its exact value, in score steps, from 2^-10 to 2^50.
struct PermuteAndFlip {
  double scale = 0;  // to be set: 0 is refused
  bool operator==(const PermuteAndFlip&) const = default;
};

void validate(const PermuteAndFlip& spec);
SelectionNoise selection_noise(const PermuteAndFlip& spec);
double log_probability(const PermuteAndFlip& spec, std::span<const Int128> scores,
                       std::span<const std::size_t> choice);
privacy::Event privacy_event(const PermuteAndFlip& spec, ScoreSensitivity sensitivity);
double loss_bound(const PermuteAndFlip& spec, CandidateCount candidates, Confidence confidence);
AuditScores audit_target(const PermuteAndFlip& spec, ScoreSensitivity sensitivity);
std::string_view name(const PermuteAndFlip& spec);
std::string describe(const PermuteAndFlip& spec);
std::string to_json(const PermuteAndFlip& spec);
void from_json(std::string_view text, PermuteAndFlip& spec);

static_assert(Selection<PermuteAndFlip>);

}  // namespace shoal::mechanism
