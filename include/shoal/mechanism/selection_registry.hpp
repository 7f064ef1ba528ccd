// The registry of selections: one variant of every mechanism that chooses among candidates. Its
// members are constrained, so one that lacks its privacy, its accuracy or its audit does not
// compile; tests/contract runs over all of them.
//
// The functions below dispatch to the member's own; contracts: selection.hpp.
#pragma once

#include <shoal/mechanism/exponential_mechanism.hpp>
#include <shoal/mechanism/noisy_top_k.hpp>
#include <shoal/mechanism/permute_and_flip.hpp>
#include <shoal/mechanism/report_noisy_max.hpp>
#include <shoal/mechanism/selection.hpp>

#include <string>
#include <string_view>
#include <variant>

namespace shoal::mechanism {

template <Selection... Specs>
using SelectionRegistry = std::variant<Specs...>;

using AnySelection =
    SelectionRegistry<ExponentialMechanism, PermuteAndFlip, ReportNoisyMax, NoisyTopK>;

void validate(const AnySelection& spec);
SelectionNoise selection_noise(const AnySelection& spec);
double log_probability(const AnySelection& spec, std::span<const Int128> scores,
                       std::span<const std::size_t> choice);
privacy::Event privacy_event(const AnySelection& spec, ScoreSensitivity sensitivity);
double loss_bound(const AnySelection& spec, CandidateCount candidates, Confidence confidence);
AuditScores audit_target(const AnySelection& spec, ScoreSensitivity sensitivity);
std::string_view name(const AnySelection& spec);
std::string describe(const AnySelection& spec);
std::string to_json(const AnySelection& spec);

// Throws parse_error for text that is no JSON and for an unknown or malformed selection.
AnySelection selection_from_json(std::string_view text);

// P(candidate i is chosen first) for each candidate: approximate, for audits and tests. Time grows
// with the square of the number of candidates.
std::vector<double> first_choice_pmf(const AnySelection& spec, std::span<const Int128> scores);

}  // namespace shoal::mechanism
