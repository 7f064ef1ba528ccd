// Opens exact groups for tests of the engine and of whole questions. Production has one such key,
// in the release layer; the class here must stay the same to the letter, since a test may link
// both.
#pragma once

#include <shoal/data/grouped_aggregate.hpp>

#include <map>
#include <vector>

namespace shoal::release {

class GroupedAggregateKey {
 public:
  static const std::vector<data::ExactGroup>& groups(const data::GroupedAggregate& exact) {
    return exact.groups_;
  }
};

}  // namespace shoal::release

namespace shoal::test {

struct OpenGroup {
  long long units = 0;
  std::vector<long long> sums = {};
  std::vector<std::map<long long, long long>> leaves = {};
  bool operator==(const OpenGroup&) const = default;
};
using OpenGroups = std::map<catalog::Key, OpenGroup>;

inline OpenGroups open(const data::GroupedAggregate& exact) {
  OpenGroups groups;
  for (const data::ExactGroup& group : release::GroupedAggregateKey::groups(exact)) {
    OpenGroup& open = groups[group.key];
    open.units = group.units;
    for (const Int128 sum : group.sums) open.sums.push_back(static_cast<long long>(sum));
    for (const data::Leaves& leaves : group.leaves) {
      auto& counts = open.leaves.emplace_back();
      for (const data::Leaf& leaf : leaves) counts[leaf.step] += leaf.count;
    }
  }
  return groups;
}

}  // namespace shoal::test
