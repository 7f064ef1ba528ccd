#include "engine/group_results.hpp"

#include <algorithm>
#include <utility>

namespace shoal::engine {

data::GroupedAggregate finish_groups(const GroupShape& shape, const GroupingSet& set,
                                     std::vector<data::ExactGroup>&& groups) {
  if (set.keys.empty() && groups.empty() && shape.min_units <= 1) {
    data::ExactGroup& total = groups.emplace_back();
    total.sums.resize(shape.integers.size());
    total.leaves.resize(shape.leaves.size());
  }
  std::sort(groups.begin(), groups.end(),
            [](const data::ExactGroup& a, const data::ExactGroup& b) { return a.key < b.key; });
  return data::GroupedAggregate(std::move(groups));
}

std::vector<KeyType> types_of(const std::vector<KeyType>& keys, const GroupingSet& set) {
  std::vector<KeyType> types;
  for (const std::size_t key : set.keys) types.push_back(keys[key]);
  return types;
}

}  // namespace shoal::engine
