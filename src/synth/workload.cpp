#include <shoal/base/error.hpp>
#include <shoal/synth/workload.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace shoal::synth {
namespace {

using data::AttributeSet;

constexpr std::int64_t kMaxWeight = 1'000'000;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

void extend(std::size_t columns, std::size_t next, std::size_t missing, AttributeSet set,
            std::optional<std::size_t> target, Workload& workload) {
  if (missing == 0) {
    if (target && !set.contains(*target)) return;
    if (static_cast<std::int64_t>(workload.size()) == kMaxWorkload) {
      refuse("the workload has more than " + std::to_string(kMaxWorkload) +
             " marginals: ask for fewer ways, or list them");
    }
    workload.push_back({set, 1});
    return;
  }
  for (std::size_t column = next; column + missing <= columns; ++column) {
    extend(columns, column + 1, missing - 1, set | AttributeSet::single(column), target, workload);
  }
}

}  // namespace

Workload all_marginals(std::size_t columns, std::size_t ways, std::optional<std::size_t> target) {
  if (ways == 0 || ways > columns || columns > data::kMaxAttributes) {
    refuse("marginals of " + std::to_string(ways) + " of " + std::to_string(columns) +
           " columns: give from 1 way to as many as there are columns, of which " +
           std::to_string(data::kMaxAttributes) + " at most");
  }
  if (target && *target >= columns) {
    refuse("the target is column " + std::to_string(*target) + " of " + std::to_string(columns));
  }
  Workload workload;
  extend(columns, 0, ways, AttributeSet(), target, workload);
  return workload;
}

void validate(const Workload& workload, std::span<const std::uint32_t> sizes) {
  if (workload.empty()) refuse("the workload is empty: name at least one marginal");
  std::set<AttributeSet> seen;
  for (const WorkloadMarginal& marginal : workload) {
    if (marginal.set.empty()) refuse("a marginal of the workload has no columns");
    if (marginal.set.members().back() >= sizes.size()) {
      refuse("the workload names column " + std::to_string(marginal.set.members().back()) +
             ", but there are " + std::to_string(sizes.size()));
    }
    if (marginal.weight < 1 || marginal.weight > kMaxWeight) {
      refuse("a weight of " + std::to_string(marginal.weight) + " is out of range: give 1 to " +
             std::to_string(kMaxWeight));
    }
    if (!seen.insert(marginal.set).second) refuse("the workload lists a marginal twice");
  }
}

std::vector<Candidate> downward_closure(const Workload& workload) {
  std::set<AttributeSet> sets;
  for (const WorkloadMarginal& marginal : workload) {
    const std::uint64_t all = marginal.set.bits();
    for (std::uint64_t part = all; part != 0; part = (part - 1) & all) {
      sets.insert(AttributeSet(part));
    }
  }
  std::vector<Candidate> candidates;
  for (const AttributeSet set : sets) {
    Candidate candidate{set, 0};
    for (const WorkloadMarginal& marginal : workload) {
      candidate.weight += marginal.weight * static_cast<std::int64_t>((set & marginal.set).size());
    }
    candidates.push_back(candidate);
  }
  return candidates;
}

}  // namespace shoal::synth
