// A chosen quantile carried out: its target rank and those of the ends of its interval, and the
// choices. Argument: quantile_choice.proof.md.
#include "mechanism/noise_spec.hpp"
#include "mechanism/rank_choice.hpp"

#include <shoal/mechanism/quantile_choice.hpp>

#include <algorithm>
#include <utility>

namespace shoal::mechanism {
namespace {

TargetRank value_target(const QuantileTarget& target, std::int64_t total) {
  if (const auto* fraction = std::get_if<Fraction>(&target)) {
    return {static_cast<Int128>(fraction->numerator) * total, fraction->denominator};
  }
  const auto& extreme = std::get<ExtremeRank>(target);
  // In halves of a rank: the rank asked for, or half the values.
  const Int128 from_end = std::min<Int128>(2 * static_cast<Int128>(extreme.rank), total);
  return {extreme.end == Extreme::minimum ? from_end : 2 * static_cast<Int128>(total) - from_end,
          2};
}

// The rank of the exact quantile itself: p N, 0 or N.
TargetRank exact_target(const QuantileTarget& target, std::int64_t total) {
  if (std::holds_alternative<Fraction>(target)) return value_target(target, total);
  const bool minimum = std::get<ExtremeRank>(target).end == Extreme::minimum;
  return {minimum ? 0 : static_cast<Int128>(total), 1};
}

bool has_end(const QuantileTarget& target, Extreme end) {
  const auto* extreme = std::get_if<ExtremeRank>(&target);
  return !extreme || extreme->end != end;
}

// Chances of missing are shared between the ends that are chosen.
std::int64_t end_distance(const QuantileChoice& choice, std::int64_t leaves,
                          Confidence confidence) {
  if (!std::holds_alternative<Fraction>(choice.target)) {
    return extreme_rank(choice.bound_scale, leaves, confidence);
  }
  const double each = numeric::subtract_up(1, alpha_down(confidence) / 2);
  return extreme_rank(choice.bound_scale, leaves, Confidence(each));
}

}  // namespace

QuantileEstimate choose(const QuantileChoice& choice, const StepRange& range,
                        std::span<const LeafCount> leaves, Confidence confidence,
                        random::BitSource& bits) {
  validate(choice);
  const std::int64_t steps = leaf_count(range);
  const std::int64_t total = checked_total(leaves, range);
  const auto draw = [&](const TargetRank& target, double scale) {
    return choose_step(leaves, range, target, scale, bits);
  };
  QuantileEstimate found{range.lower, draw(value_target(choice.target, total), choice.scale),
                         range.upper};
  if (choice.bound_scale == 0) return found;
  const std::int64_t distance = end_distance(choice, steps, confidence);
  const TargetRank exact = exact_target(choice.target, total);
  // Values put on the end of the range move the ranks of all other steps: what is chosen is
  // `distance` further out, and the end itself where there are not so many values.
  if (has_end(choice.target, Extreme::minimum)) {
    TargetRank target = exact;
    target.more_at_lower = distance;
    found.lower = draw(target, choice.bound_scale);
  }
  if (has_end(choice.target, Extreme::maximum)) {
    TargetRank target = exact;
    target.rank += static_cast<Int128>(distance) * target.denominator;
    target.more_at_upper = distance;
    found.upper = draw(target, choice.bound_scale);
  }
  if (found.lower > found.upper) std::swap(found.lower, found.upper);
  found.value = std::clamp(found.value, found.lower, found.upper);
  return found;
}

}  // namespace shoal::mechanism
