// Key selection: which groups of an open-ended GROUP BY may be shown. The keys are in the data, so
// that a group is there at all may give away who is in it; only groups that would very likely be
// there without any one unit are shown.
//
// A group is selected by how many units it has, where a unit adds 1 to each of at most `max_groups`
// groups. Groups without units are never looked at, and groups of fewer than `min_units` never
// shown: a group of n units is treated as one of n' = n - (min_units - 1). All of it, and what
// thresholds do to intervals: src/mechanism/key_selection.proof.md.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace shoal::mechanism {

inline constexpr std::int64_t kMaxThreshold = std::int64_t{1} << 53;
inline constexpr std::int64_t kMaxMinUnits = std::int64_t{1} << 31;
inline constexpr std::int64_t kMaxGroupsOfUnit = std::int64_t{1} << 31;
inline constexpr double kMinSelectionEpsilon = 0x1p-30;
inline constexpr double kMinSelectionDelta = 0x1p-300;

// Shown if n' + noise >= threshold, with discrete Laplace noise; n + noise is released. Doubles
// stand for their exact values, scales lie in [2^-10, 2^50], thresholds in [1, kMaxThreshold],
// min_units in [1, kMaxMinUnits].
struct LaplaceThreshold {
  double scale = 0;            // to be set: 0 is refused
  std::int64_t threshold = 0;  // likewise
  std::int64_t min_units = 1;
  bool operator==(const LaplaceThreshold&) const = default;
};

// The same with discrete Gaussian noise.
struct GaussianThreshold {
  double sigma = 0;
  std::int64_t threshold = 0;
  std::int64_t min_units = 1;
  bool operator==(const GaussianThreshold&) const = default;
};

// Shown with probability pi(n'), the largest that (epsilon, delta) of one group allows
// (Desfontaines, Voss, Gipson and Mandayam 2022): pi(0) = 0 and
//   pi(n) = min(e^epsilon pi(n - 1) + delta, 1 - e^-epsilon (1 - pi(n - 1) - delta), 1),
// taken at the doubles just below epsilon and delta, so that the pair holds whether it is read as
// binary or as decimal numbers. No count is released. epsilon in [2^-30, 1000], delta in [2^-300,
// 1).
struct OptimalSelection {
  double epsilon = 0;
  double delta = 0;
  std::int64_t min_units = 1;
  bool operator==(const OptimalSelection&) const = default;
};

using KeySelection = std::variant<LaplaceThreshold, GaussianThreshold, OptimalSelection>;

// A group that is shown. The noisy count is there for thresholds only, and is a release of
// COUNT(DISTINCT unit) that is paid for already.
struct SelectedGroup {
  std::optional<Int128> noisy_units;
  bool operator==(const SelectedGroup&) const = default;
};

// Each function throws invalid_argument for a selection that validate refuses.
void validate(const KeySelection& selection);
std::string_view name(const KeySelection& selection);
std::string describe(const KeySelection& selection);
// {"laplace_threshold": {"scale": 1, "threshold": 15, "min_units": 1}} and the like.
std::string to_json(const KeySelection& selection);
// Throws parse_error for text that is none.
KeySelection key_selection_from_json(std::string_view text);
std::int64_t min_units(const KeySelection& selection);

// One selection, prepared for many groups. Not to be shared between threads.
class KeySelector {
 public:
  explicit KeySelector(const KeySelection& selection);
  KeySelector(KeySelector&&) noexcept;
  KeySelector& operator=(KeySelector&&) noexcept;
  ~KeySelector();

  // Whether a group of so many units is shown. The random numbers of a call are drawn before the
  // units are looked at, so bits do not depend on them, but for one call in about 2^23 (noise near
  // a threshold of its sampler) or 2^63 (a word on a digit of pi). How many calls there are is the
  // number of groups, which is secret: who counts bits or time learns it. Throws invalid_argument
  // if units is negative.
  std::optional<SelectedGroup> select(std::int64_t units, random::BitSource& bits);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One group. Who has several is faster with a KeySelector.
std::optional<SelectedGroup> select(const KeySelection& selection, std::int64_t units,
                                    random::BitSource& bits);

// The chance that a group of so many units is shown: nearly, and between certified bounds.
double keep_probability(const KeySelection& selection, std::int64_t units);
double keep_probability_up(const KeySelection& selection, std::int64_t units);
double keep_probability_down(const KeySelection& selection, std::int64_t units);

// The smallest number of units whose group is shown with probability 1/2 or more.
std::int64_t even_chance_size(const KeySelection& selection);

// What all groups together tell, noisy counts included, if a unit is in at most max_groups groups:
//   thresholds   compose[repeat{max_groups, noise of sensitivity 1}, epsilon_delta{0, d}], where d
//                is the chance that one of max_groups groups of a single unit is shown, rounded up
//   optimal      repeat{max_groups, epsilon_delta{epsilon, delta}}
// Under replace_one twice as many groups change, but no more than max_groups of them are new. Holds
// for what is told of groups that are shown only; what else is released of them has its own event.
privacy::Event privacy_event(const KeySelection& selection, std::int64_t max_groups,
                             Neighbors neighbors);

// The smallest threshold whose d (see above) is at most delta. Throws invalid_argument for delta 0
// and if there is none up to kMaxThreshold.
LaplaceThreshold laplace_threshold(double scale, Delta delta, std::int64_t max_groups,
                                   std::int64_t min_units = 1);
GaussianThreshold gaussian_threshold(double sigma, Delta delta, std::int64_t max_groups,
                                     std::int64_t min_units = 1);

// Selections that are (epsilon, delta), to compare: even_chance_size says which shows more. Each
// throws invalid_argument for delta 0 and an epsilon out of reach.
//
// Laplace: all of epsilon for the counts and all of delta for the threshold.
LaplaceThreshold laplace_selection(Epsilon epsilon, Delta delta, std::int64_t max_groups,
                                   Neighbors neighbors = Neighbors::add_remove,
                                   std::int64_t min_units = 1);

// Gaussian: delta is shared between the counts and the threshold, nearly as well as can be; sigma
// by the accountant, for max_groups counts declared together.
GaussianThreshold gaussian_selection(Epsilon epsilon, Delta delta, std::int64_t max_groups,
                                     Neighbors neighbors = Neighbors::add_remove,
                                     std::int64_t min_units = 1);

// The optimal selection whose event is (epsilon, delta) by adding up: each of the groups that can
// change has an equal share, rounded down to a whole number of the units that charges are made of.
OptimalSelection optimal_selection(Epsilon epsilon, Delta delta, std::int64_t max_groups,
                                   Neighbors neighbors = Neighbors::add_remove,
                                   std::int64_t min_units = 1);

// From lower to upper, both included.
struct UnitInterval {
  Int128 lower;
  Int128 upper;
  bool operator==(const UnitInterval&) const = default;
};

// An interval for the units of a group that was shown with this noisy count. Among the times that a
// group of n units is shown, the interval holds n with chance at least `confidence`, whatever n:
// unlike noisy_units plus or minus the noise, which makes small groups that made it look large. It
// always holds noisy_units. Throws unsupported for OptimalSelection, which has no count, and
// invalid_argument for a count that is never shown.
UnitInterval survivor_interval(const KeySelection& selection, Int128 noisy_units,
                               Confidence confidence);

// The same, prepared for many groups. Immutable.
class SurvivorIntervals {
 public:
  SurvivorIntervals(const KeySelection& selection, Confidence confidence);
  UnitInterval operator()(Int128 noisy_units) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace shoal::mechanism
