// Private quantiles: what the mechanisms for them share. The data is how many values lie on each
// step of a public range, one histogram a group; a unit adds at most so many values to each of at
// most so many groups. The mechanisms: quantile_choice.hpp (one or two quantiles),
// quantile_tree.hpp (any number for one price).
//
// The rank of a step is how many values lie below it. Step s is an exact quantile of rank r if at
// most r values lie below it and at least r at or below it: for p N, at most a share p of the N
// values lies below s, and at most a share 1 - p above. There is always such a step, and if there
// are several they are all steps from one to another.
#pragma once

#include <shoal/base/int128.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace shoal::mechanism {

// The values on one step.
struct LeafCount {
  std::int64_t step;
  std::int64_t count;
  bool operator==(const LeafCount&) const = default;
};

// Steps from lower to upper, both included: public, at most kMaxLeaves of them.
inline constexpr std::int64_t kMaxLeaves = 65'537;
struct StepRange {
  std::int64_t lower;
  std::int64_t upper;
  bool operator==(const StepRange&) const = default;
};

// How many steps. Throws invalid_argument if there are none or more than kMaxLeaves, or if an end
// is 2^62 or more in size.
std::int64_t leaf_count(const StepRange& range);

// Throws invalid_argument, naming no value, unless steps increase and lie in the range, counts are
// positive and their sum is below 2^62. Returns the sum.
std::int64_t checked_total(std::span<const LeafCount> leaves, const StepRange& range);

// A share of the values, numerator / denominator, strictly between 0 and 1; denominators up to
// kMaxDenominator.
inline constexpr std::int64_t kMaxDenominator = 1'000'000;
struct Fraction {
  std::int64_t numerator = 0;  // to be set
  std::int64_t denominator = 0;
  bool operator==(const Fraction&) const = default;
};

// 0.25 is 1/4: the decimal as it is written, in lowest terms. Throws invalid_argument if it has
// more than six decimals or does not lie strictly between 0 and 1.
Fraction fraction_of(double decimal);

// Minimum and maximum cannot be told privately; the value of a small rank from that end can, and
// has to be labelled as such. rank from 1 to 2^40: see extreme_rank. In groups of fewer than twice
// as many values, half of them take its place.
enum class Extreme { minimum, maximum };
struct ExtremeRank {
  Extreme end = Extreme::minimum;
  std::int64_t rank = 0;  // to be set
  bool operator==(const ExtremeRank&) const = default;
};

using QuantileTarget = std::variant<Fraction, ExtremeRank>;

// Throws invalid_argument if it is out of range.
void validate(const QuantileTarget& target);

// "1/4", "minimum 30", "maximum 30"; reading throws parse_error for anything else.
std::string to_string(const QuantileTarget& target);
QuantileTarget parse_target(std::string_view text);

// What a unit may add: so many values to each of so many groups. one_group: there is just one group
// (no GROUP BY), so whoever leaves and whoever comes are in the same. Counts from 1 to 2^31.
struct GroupContribution {
  std::int64_t max_groups = 1;
  std::int64_t values_per_group = 1;
  bool one_group = false;
  bool operator==(const GroupContribution&) const = default;
};

// Throws invalid_argument if it is out of range, or one group is several.
void validate(const GroupContribution& contribution);

// A released step, and a confidence interval, both ends included, for all exact quantiles:
// lower <= value <= upper.
struct QuantileEstimate {
  std::int64_t lower = 0;
  std::int64_t value = 0;
  std::int64_t upper = 0;
  bool operator==(const QuantileEstimate&) const = default;
};

}  // namespace shoal::mechanism
