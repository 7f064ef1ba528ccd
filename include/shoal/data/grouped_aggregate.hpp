// Exact sums by group, before noise. They are secret, and so is which groups there are: no getter,
// no printing, no JSON, no copy, no comparison. The only way out is release_groups().
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/catalog/key.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace shoal::release {
class GroupedAggregateKey;
}

namespace shoal::data {

// How many values fell on each step, in the order of the steps, without those that none fell on.
struct Leaf {
  std::int64_t step;
  std::int64_t count;
};
using Leaves = std::vector<Leaf>;

// One group as an engine hands it over. Units are counted after each was bounded to its groups.
struct ExactGroup {
  catalog::Key key;
  std::int64_t units = 0;
  std::vector<Int128> sums = {};    // one a statistic that is an integer, in the order of the plan
  std::vector<Leaves> leaves = {};  // one a statistic of kind leaves, likewise
};

class GroupedAggregate {
 public:
  explicit GroupedAggregate(std::vector<ExactGroup>&& groups) : groups_(std::move(groups)) {}
  GroupedAggregate(GroupedAggregate&& other) noexcept : groups_(std::move(other.groups_)) {
    other.groups_.clear();
  }
  GroupedAggregate& operator=(GroupedAggregate&&) = delete;
  GroupedAggregate(const GroupedAggregate&) = delete;
  GroupedAggregate& operator=(const GroupedAggregate&) = delete;
  ~GroupedAggregate();  // wipes the sums

  template <typename Stream>
  friend Stream& operator<<(Stream&, const GroupedAggregate&) = delete;

 private:
  friend class ::shoal::release::GroupedAggregateKey;
  std::vector<ExactGroup> groups_;
};

}  // namespace shoal::data
