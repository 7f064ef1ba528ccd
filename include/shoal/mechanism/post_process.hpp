// Post-processing of released values that keeps their guarantees: privacy, because nothing but
// released values and public facts goes in; coverage, because each function says what it assumes of
// the truth and keeps every truth that satisfies it.
//
// Each function takes values with intervals and returns them moved to where the truth is known to
// be, with intervals that are no wider. If all given intervals hold and the assumption is true, all
// returned intervals hold. So the given intervals must hold together: ask for each with
// simultaneous(confidence, count).
//
// If what is known contradicts the intervals, one of the intervals misses (or the assumption is
// wrong). The values are then still moved, and all intervals are returned as they were given, never
// empty ones. That this happens is no secret: it follows from what was released.
//
// Values are computed in ordinary arithmetic. Ends of intervals are rounded outwards.
#pragma once

#include <shoal/base/quantity.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace shoal::mechanism {

// A released value and where the truth lies. lower <= upper; either may be infinite, the value not.
// The value need not lie between them.
struct Estimate {
  double value = 0;
  double lower = 0;
  double upper = 0;
  bool operator==(const Estimate&) const = default;
};

// Every function throws invalid_argument for an estimate that is none (see above) and for other
// arguments that are out of range, such as a weight that is not finite and above 0. No weights: all
// equal. A weight says how much a value is trusted: one over its variance.

// The confidence that each of `count` intervals needs so that all of them hold together with the
// given one (Bonferroni): at least 1 - (1 - confidence) / count. Requires count >= 1; throws
// invalid_argument if no double below 1 is near enough to 1.
Confidence simultaneous(Confidence confidence, std::int64_t count);

// Assumes: low <= truth <= high. Requires low <= high.
Estimate clamp(const Estimate& estimate, double low, double high);

// Assumes: truth >= 0.
Estimate non_negative(const Estimate& estimate);

// Assumes: the truth is a multiple of the step, where the step is the exact value of the double.
// The value becomes the nearest multiple. Requires step > 0.
Estimate round_to_multiple(const Estimate& estimate, double step);

// Assumes: no truth is larger than the one after it. The values become the nearest such sequence in
// weighted squares (isotonic regression by pooling adjacent violators).
std::vector<Estimate> monotone(std::span<const Estimate> estimates,
                               std::span<const double> weights = {});

// Assumes: the truths sum to exactly `total`. The values become the nearest such ones in weighted
// squares.
std::vector<Estimate> with_total(std::span<const Estimate> estimates, double total,
                                 std::span<const double> weights = {});

// Assumes: no truth is negative and they sum to exactly `total`. The values become the nearest such
// ones in weighted squares. Requires total >= 0.
std::vector<Estimate> non_negative_with_total(std::span<const Estimate> estimates, double total,
                                              std::span<const double> weights = {});

// The nearest vector that is not negative and sums to total: the values of the function above.
std::vector<double> project_to_total(std::span<const double> values, double total,
                                     std::span<const double> weights = {});

}  // namespace shoal::mechanism
