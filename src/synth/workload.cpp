#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/synth/workload.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
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
  if (columns > data::kMaxAttributes) {
    refuse("marginals of " + std::to_string(columns) + " columns: give at most " +
           std::to_string(data::kMaxAttributes));
  }
  if (ways == 0 || ways > columns) {
    refuse("the workload asks for marginals of " + std::to_string(ways) + " columns each, and " +
           std::to_string(columns) + " are synthesised: give from 1 way to as many as there are");
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
  double count = 0;
  for (const WorkloadMarginal& marginal : workload)
    count += std::exp2(static_cast<double>(marginal.set.size())) - 1;
  if (count > kMaxClosure) {
    refuse("the marginals of the workload have " + format_rounded(count, 3) +
           " marginals within them, each counted where it occurs, and at most " +
           std::to_string(kMaxClosure) +
           " are gone through: ask for fewer ways, or for fewer marginals");
  }
  std::vector<AttributeSet> sets;
  sets.reserve(static_cast<std::size_t>(count));
  // What a set shares with the workload is the sum of what its columns do.
  std::array<std::int64_t, data::kMaxAttributes> weights{};
  for (const WorkloadMarginal& marginal : workload) {
    const std::uint64_t all = marginal.set.bits();
    for (std::uint64_t part = all; part != 0; part = (part - 1) & all)
      sets.push_back(AttributeSet(part));
    for (const std::size_t column : marginal.set.members()) weights[column] += marginal.weight;
  }
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  std::vector<Candidate> candidates;
  candidates.reserve(sets.size());
  for (const AttributeSet set : sets) {
    Candidate candidate{set, 0};
    for (std::uint64_t rest = set.bits(); rest != 0; rest &= rest - 1)
      candidate.weight += weights[static_cast<std::size_t>(std::countr_zero(rest))];
    candidates.push_back(candidate);
  }
  return candidates;
}

}  // namespace shoal::synth
