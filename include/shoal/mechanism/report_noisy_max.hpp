// Report noisy max: the candidate whose score plus Laplace noise is highest. At the same epsilon
// permute_and_flip does better; this one is here for whoever must follow a protocol that names it.
// Proof note: src/mechanism/report_noisy_max.proof.md.
// Contracts of the functions: selection.hpp.
#pragma once

#include <shoal/mechanism/selection.hpp>

namespace shoal::mechanism {

// The double stands for its exact value, in score steps, from 2^-10 to 2^50.
struct ReportNoisyMax {
  double scale = 0;  // to be set: 0 is refused
  bool operator==(const ReportNoisyMax&) const = default;
};

void validate(const ReportNoisyMax& spec);
SelectionNoise selection_noise(const ReportNoisyMax& spec);
double log_probability(const ReportNoisyMax& spec, std::span<const Int128> scores,
                       std::span<const std::size_t> choice);
privacy::Event privacy_event(const ReportNoisyMax& spec, ScoreSensitivity sensitivity);
double loss_bound(const ReportNoisyMax& spec, CandidateCount candidates, Confidence confidence);
AuditScores audit_target(const ReportNoisyMax& spec, ScoreSensitivity sensitivity);
std::string_view name(const ReportNoisyMax& spec);
std::string describe(const ReportNoisyMax& spec);
std::string to_json(const ReportNoisyMax& spec);
void from_json(std::string_view text, ReportNoisyMax& spec);

static_assert(Selection<ReportNoisyMax>);

}  // namespace shoal::mechanism
