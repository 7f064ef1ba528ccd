// What the selections share: checks of what they are asked about, their accuracy, their worst pair.
#pragma once

#include "mechanism/noise_spec.hpp"

#include <shoal/mechanism/selection.hpp>

#include <cstddef>
#include <span>

namespace shoal::mechanism {

// Throws invalid_argument unless there are scores, all in range, and `choice` names `count`
// different ones of them.
void check_choice(std::span<const Int128> scores, std::span<const std::size_t> choice,
                  std::int64_t count);

// Throws invalid_argument unless 1 <= best <= all <= 2^53 and all >= count.
void check_candidates(const CandidateCount& candidates, std::int64_t count);

// (score - other) / scale, nearly.
double scaled_gap(Int128 score, Int128 other, double scale);

// The loss of the exponential mechanism that is passed with chance at most `alpha`: scale * ln((all
// - best) (1 - alpha) / (best alpha)), rounded up, and never negative.
double exponential_loss(double scale, const CandidateCount& candidates, double alpha);

// Equal scores; then the first `count` candidates rise and, if the change is two-sided, all others
// fall. There are so many others that the first ones hardly ever win.
AuditScores equal_scores_target(const ScoreSensitivity& sensitivity, std::int64_t count);

}  // namespace shoal::mechanism
