// Workloads as people write them:
//   all-3way              every marginal of three columns
//   all-3way:income       those of them that have the column
//   age*sex,age*income=5  a list; a weight may follow, 1 if none does
//   prefix:age            how many are up to each value, for methods that take linear queries
//   ranges:age            how many are from one value to another, for the same; both in lists, too
// Spaces around names, signs and weights do not count.
#pragma once

#include <shoal/synth/workload.hpp>

#include <span>
#include <string>
#include <string_view>

namespace shoal::synth {

// Ranges of one column's values, in the order of its bins or categories.
struct RangeFamily {
  std::size_t column = 0;
  bool prefixes = false;  // those alone that begin with the first value
  bool operator==(const RangeFamily&) const = default;
};

struct WorkloadRequest {
  Workload marginals;
  std::vector<RangeFamily> ranges;
};

// Throws invalid_argument for a text of another form, ranges that are listed twice and what
// all_marginals refuses, and not_found for a column that is not among the names, with the nearest
// one.
WorkloadRequest parse_request(std::string_view text, std::span<const std::string> names);
// Of marginals alone: throws invalid_argument for ranges.
Workload parse_workload(std::string_view text, std::span<const std::string> names);

}  // namespace shoal::synth
