// The noise of a whole answer: for each way of grouping, how each statistic of a group is hidden
// and which groups show; one joint mechanism, priced as one event. Proof: src/mechanism/
// grouped_noise.proof.md.
//
// A unit is in at most max_groups groups of a grouping, and adds to a statistic of each a number in
// [least, most], where least <= 0 <= most.
#pragma once

#include <shoal/mechanism/key_selection.hpp>
#include <shoal/mechanism/quantile_choice.hpp>
#include <shoal/mechanism/quantile_tree.hpp>
#include <shoal/mechanism/registry.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace shoal::mechanism {

struct GroupStatistic {
  std::optional<AnyMechanism> noise;  // none: it is the unit count that the selection makes noisy
  std::int64_t least = 0;
  std::int64_t most = 1;
  bool operator==(const GroupStatistic&) const = default;
};

// Any number of quantiles of one histogram for one price.
struct TreeQuantiles {
  QuantileTree tree;
  std::vector<Fraction> fractions;
  bool operator==(const TreeQuantiles&) const = default;
};

// Quantiles of one histogram of a group, to which a unit adds at most so many values. Intervals
// have that confidence, each on its own.
struct GroupQuantiles {
  std::int64_t values_per_unit = 1;
  StepRange range = {0, 1};
  double confidence = 0.95;
  std::variant<std::vector<QuantileChoice>, TreeQuantiles> method;
  bool operator==(const GroupQuantiles&) const = default;
};

struct GroupedNoise {
  std::int64_t max_groups = 1;
  bool single = false;  // there is one group, and everybody is in it
  std::vector<GroupStatistic> statistics = {};
  std::vector<GroupQuantiles> quantiles = {};            // one a histogram
  std::optional<KeySelection> selection = std::nullopt;  // none: the keys are public
  bool operator==(const GroupedNoise&) const = default;
};

// How far one group's statistic can move between neighbours: by coming or going, or by an exchange
// of two units in the same group.
std::int64_t reach(const GroupStatistic& statistic);
std::int64_t exchange_reach(const GroupStatistic& statistic);

// Throws invalid_argument if a number is out of range.
void validate(const GroupedNoise& noise);

// What releasing all of it does to the data, between neighbours of that relation.
privacy::Event grouped_event(std::span<const GroupedNoise> noises, Neighbors neighbors);

}  // namespace shoal::mechanism
