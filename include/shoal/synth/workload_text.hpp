// Workloads as people write them:
//   all-3way              every marginal of three columns
//   all-3way:income       those of them that have the column
//   age*sex,age*income=5  a list; a weight may follow, 1 if none does
// Spaces around names, signs and weights do not count.
#pragma once

#include <shoal/synth/workload.hpp>

#include <span>
#include <string>
#include <string_view>

namespace shoal::synth {

// Throws invalid_argument for a text of another form and what all_marginals refuses, and not_found
// for a column that is not among the names, with the nearest one.
Workload parse_workload(std::string_view text, std::span<const std::string> names);

}  // namespace shoal::synth
