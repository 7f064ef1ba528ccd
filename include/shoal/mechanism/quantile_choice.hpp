// A quantile chosen by the exponential mechanism: a step with chance proportional to exp(-error /
// scale), where the error is how many values its ranks are off. With an interval, if bound_scale is
// set: two more choices, of ranks so far out that both ends hold. Proof note:
// src/mechanism/quantile_choice.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/mechanism/quantile.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/random/bit_source.hpp>

#include <span>
#include <string>
#include <string_view>

namespace shoal::mechanism {

// Scales are in values (ranks), from 2^-10 to 2^50; the doubles stand for their exact values.
struct QuantileChoice {
  QuantileTarget target = {};  // to be set
  double scale = 0;            // to be set
  double bound_scale = 0;      // 0: no choices for an interval, which is then the whole range
  bool operator==(const QuantileChoice&) const = default;
};

// Every function throws invalid_argument for arguments that validate refuses.
void validate(const QuantileChoice& choice);
std::string_view name(const QuantileChoice& choice);
std::string describe(const QuantileChoice& choice);
// {"quantile_choice": {"target": "1/2", "scale": 2, "bound_scale": 4}}; reading throws parse_error.
std::string to_json(const QuantileChoice& choice);
void from_json(std::string_view text, QuantileChoice& choice);

// The bounded range of one choice of this scale in a group that a unit adds up to values_per_group
// values to: 2 values max(p, 1 - p) / scale, and 2 values / scale for an extreme; if both a unit
// that leaves and one that comes are in the group, 2 values / scale for any target. Rounded up.
double choice_epsilon(const QuantileTarget& target, double scale,
                      const GroupContribution& contribution, Neighbors neighbors);

// The smallest scale for which choice_epsilon is at most epsilon. Throws invalid_argument if that
// is out of range.
double choice_scale(const QuantileTarget& target, Epsilon epsilon,
                    const GroupContribution& contribution, Neighbors neighbors);

// What the quantile of every group tells: max_groups times the choices of one group, each an
// exponential event with its choice_epsilon; if a unit is exchanged for one that may be in other
// groups, with twice that.
privacy::Event privacy_event(const QuantileChoice& choice, const GroupContribution& contribution,
                             Neighbors neighbors);

// The quantile of one group. With bound_scale the interval holds all exact quantiles (of an
// extreme: the exact minimum or maximum) with chance at least `confidence`, whatever the values;
// for an extreme the outer end is that of the range. All values equal to nothing, no values at all:
// any step. How long it takes depends on how many steps have values.
QuantileEstimate choose(const QuantileChoice& choice, const StepRange& range,
                        std::span<const LeafCount> leaves, Confidence confidence,
                        random::BitSource& bits);

// The chance that a choice of this scale among so many steps is off by a rank error of at least the
// result is at most 1 - confidence, whatever the values: scale ln((leaves - 1) c / (1 - c)),
// rounded up.
double rank_error(double scale, std::int64_t leaves, Confidence confidence);

// No more than this is the rank error on average, whatever the values: scale (1 + ln leaves),
// rounded up. If every value has a step of its own, it is about `scale`.
double expected_rank_error(double scale, std::int64_t leaves);

// The rank for which a choice of this scale is, with the confidence asked for, not beyond the exact
// minimum or maximum in groups of at least twice as many values: the smallest integer not below
// rank_error, at least 1.
std::int64_t extreme_rank(double scale, std::int64_t leaves, Confidence confidence);

}  // namespace shoal::mechanism
