// The exact numbers that the curator of marginals chooses by and measures: how far counts are from
// public tables. What they say is secret until noise is added. Here, so that the audit of a round
// sums the law of the same numbers that are released with it.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/release/marginal_curator.hpp>

#include <cstdint>
#include <span>

namespace shoal::release {

// In L1 norm, in so many steps to the row. Sizes are alike, counts at most 2^40 and steps at most
// 2^60 in all: the caller checks.
inline Int128 steps_apart(std::span<const std::int64_t> counts, std::span<const std::int64_t> steps,
                          std::int64_t steps_per_row) {
  Int128 distance = 0;
  for (std::size_t cell = 0; cell < counts.size(); ++cell) {
    const std::int64_t gap = counts[cell] * steps_per_row - steps[cell];
    distance += gap < 0 ? -gap : gap;
  }
  return distance;
}

// The score of a candidate whose marginal has these counts.
inline Int128 marginal_score(std::span<const std::int64_t> counts,
                             const MarginalCandidate& candidate) {
  return Int128{candidate.weight} *
         (steps_apart(counts, candidate.expected, kExpectedSteps) - candidate.penalty);
}

// How far a marginal with these counts is from a table, in steps of kComparedSteps.
inline Int128 marginal_distance(std::span<const std::int64_t> counts, const ComparedTable& table) {
  return steps_apart(counts, table.steps, kComparedSteps);
}

}  // namespace shoal::release
