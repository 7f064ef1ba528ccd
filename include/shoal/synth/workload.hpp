// Workloads: which marginals a synthetic table shall have right, and how much each matters. Public.
#pragma once

#include <shoal/data/attribute_set.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace shoal::synth {

struct WorkloadMarginal {
  data::AttributeSet set;
  std::int64_t weight = 1;  // from 1 to 1'000'000
  bool operator==(const WorkloadMarginal&) const = default;
};

using Workload = std::vector<WorkloadMarginal>;

// All marginals of `ways` of the columns; with a target, those that have it (as one of the `ways`).
// Throws invalid_argument for fewer columns than ways, no ways at all, a target that is no column,
// and more than kMaxWorkload marginals.
inline constexpr std::int64_t kMaxWorkload = 100'000;
Workload all_marginals(std::size_t columns, std::size_t ways,
                       std::optional<std::size_t> target = std::nullopt);

// Throws invalid_argument for none, an empty set, a column that the domain lacks, a weight out of
// range and a set that is listed twice.
void validate(const Workload& workload, std::span<const std::uint32_t> sizes);

// A marginal that may be measured, and what measuring it says about the workload: the sum over the
// workload of its weight times the columns they share.
struct Candidate {
  data::AttributeSet set;
  std::int64_t weight = 0;
  bool operator==(const Candidate&) const = default;
};

// Every set within one of the workload, by ascending bits. Throws invalid_argument if the sets
// within each, added up over the workload, are more than kMaxClosure.
inline constexpr std::int64_t kMaxClosure = std::int64_t{1} << 23;
std::vector<Candidate> downward_closure(const Workload& workload);

}  // namespace shoal::synth
