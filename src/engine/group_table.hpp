// The exact sums of the groups of one grouping set, as far as one thread has added them up. Only
// what was bounded per unit comes in.
#pragma once

#include "engine/group_keys.hpp"
#include "engine/group_shape.hpp"

#include <shoal/data/grouped_aggregate.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::engine {

// How often each step was seen. What is apart is sorted and counted whenever it has doubled.
class LeafCounter {
 public:
  void add(std::int64_t step) { add({step, 1}); }
  void add(const data::Leaf& leaf) {
    const std::uint64_t place =
        static_cast<std::uint64_t>(leaf.step) - static_cast<std::uint64_t>(first_);
    if (place < counts_.size()) {
      counts_[place] += leaf.count;
    } else {
      add_apart(leaf);
    }
  }
  const data::Leaves& leaves();

 private:
  void add_apart(const data::Leaf& leaf);
  void tidy();
  void spread_out();
  void gather();

  data::Leaves leaves_;
  std::size_t tidy_ = 0;  // as many were there after the last tidying
  // Once many neighbouring steps have been seen: a count for each step from the first on. Others
  // are among the leaves.
  std::vector<std::int64_t> counts_;
  std::int64_t first_ = 0;
};

// Which values were seen.
class ValueSet {
 public:
  void add(std::int64_t value);
  const std::vector<std::int64_t>& values();

 private:
  void tidy();
  std::vector<std::int64_t> values_;
  std::size_t tidy_ = 0;
};

// What many short units add to a group, where no more is asked for than counts and one sum and
// every row has a value.
struct QuickSums {
  std::int64_t units = 0;
  std::int64_t rows = 0;
  Int128 sum = 0;
};

class GroupTable {
 public:
  explicit GroupTable(const GroupShape& shape) : shape_(&shape) {}

  // The place of a group, made at first sight.
  std::size_t place(GroupNumber group) {
    if (group < places_.size() && places_[group] != 0) return places_[group] - 1;
    return new_place(group);
  }
  // By number of the group, for so many groups: they are added to the others' when asked for.
  QuickSums* quick(std::size_t groups) {
    if (quick_.size() < groups) quick_.resize(std::max(groups, 2 * quick_.size()));
    return quick_.data();
  }
  void add_unit(std::size_t place) { ++units_[place]; }
  // The sums of a place: one an integer statistic.
  Int128* sums(std::size_t place) { return sums_.data() + place * shape_->integers.size(); }
  LeafCounter& leaves(std::size_t place, std::size_t index) {
    return leaves_[place * shape_->leaves.size() + index];
  }
  ValueSet& distinct(std::size_t place, std::size_t index) {
    return distinct_[place * shape_->distinct.size() + index];
  }

  // Adds another's groups; numbers[g] is the number here of its group g.
  void add(GroupTable& other, std::span<const GroupNumber> numbers);

  // The groups of at least min_units units, with their keys in words, in no order.
  std::vector<data::ExactGroup> groups(const GroupKeys& keys, std::span<const KeyType> types);

 private:
  std::size_t new_place(GroupNumber group);
  void settle();

  const GroupShape* shape_;
  std::vector<std::uint32_t> places_;  // by group: the place + 1, or 0
  std::vector<GroupNumber> group_of_;  // by place
  std::vector<std::int64_t> units_;
  std::vector<Int128> sums_;
  std::vector<LeafCounter> leaves_;
  std::vector<ValueSet> distinct_;
  std::vector<QuickSums> quick_;
};

}  // namespace shoal::engine
