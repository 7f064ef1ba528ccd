#include "engine/group_table.hpp"

#include <algorithm>
#include <utility>

namespace shoal::engine {
namespace {

// Below this, sorting is put off.
constexpr std::size_t kFewest = 1024;
// Steps of a range for each of them that was seen: counts then take at most twice the memory of
// leaves.
constexpr std::size_t kMostSpread = 4;

}  // namespace

void LeafCounter::add_apart(const data::Leaf& leaf) {
  leaves_.push_back(leaf);
  if (leaves_.size() <= 2 * tidy_ + kFewest) return;
  tidy();
  if (counts_.empty()) spread_out();
}

const data::Leaves& LeafCounter::leaves() {
  gather();
  tidy();
  return leaves_;
}

void LeafCounter::tidy() {
  std::sort(leaves_.begin(), leaves_.end(),
            [](const data::Leaf& a, const data::Leaf& b) { return a.step < b.step; });
  std::size_t kept = 0;
  for (const data::Leaf& leaf : leaves_) {
    if (kept > 0 && leaves_[kept - 1].step == leaf.step) {
      leaves_[kept - 1].count += leaf.count;
    } else {
      leaves_[kept++] = leaf;
    }
  }
  leaves_.resize(kept);
  tidy_ = kept;
}

// Tidy leaves that fill a good part of their range become counts.
void LeafCounter::spread_out() {
  const std::uint64_t range = static_cast<std::uint64_t>(leaves_.back().step) -
                              static_cast<std::uint64_t>(leaves_.front().step);
  if (range >= kMostSpread * leaves_.size()) return;
  first_ = leaves_.front().step;
  counts_.assign(range + 1, 0);
  data::Leaves all;
  all.swap(leaves_);
  tidy_ = 0;
  for (const data::Leaf& leaf : all) add(leaf);
}

// And leaves again.
void LeafCounter::gather() {
  for (std::size_t place = 0; place < counts_.size(); ++place) {
    if (counts_[place] != 0)
      leaves_.push_back({first_ + static_cast<std::int64_t>(place), counts_[place]});
  }
  counts_ = {};
}

void ValueSet::add(std::int64_t value) {
  values_.push_back(value);
  if (values_.size() > 2 * tidy_ + kFewest) tidy();
}

const std::vector<std::int64_t>& ValueSet::values() {
  tidy();
  return values_;
}

void ValueSet::tidy() {
  std::sort(values_.begin(), values_.end());
  values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  tidy_ = values_.size();
}

std::size_t GroupTable::new_place(GroupNumber group) {
  if (group >= places_.size()) places_.resize(std::max<std::size_t>(group + 1, 2 * places_.size()));
  group_of_.push_back(group);
  units_.push_back(0);
  sums_.resize(sums_.size() + shape_->integers.size());
  leaves_.resize(leaves_.size() + shape_->leaves.size());
  distinct_.resize(distinct_.size() + shape_->distinct.size());
  places_[group] = static_cast<std::uint32_t>(group_of_.size());
  return group_of_.size() - 1;
}

void GroupTable::settle() {
  using catalog::StatisticKind;
  for (std::size_t group = 0; group < quick_.size(); ++group) {
    const QuickSums quick = std::exchange(quick_[group], QuickSums{});
    if (quick.units == 0) continue;
    const std::size_t at = place(static_cast<GroupNumber>(group));
    units_[at] += quick.units;
    Int128* to = sums(at);
    for (const IntegerPlan& plan : shape_->plans) {
      const bool rows = plan.kind == StatisticKind::rows || plan.kind == StatisticKind::values;
      *to++ += plan.kind == StatisticKind::units ? quick.units : rows ? quick.rows : quick.sum;
    }
  }
}

void GroupTable::add(GroupTable& other, std::span<const GroupNumber> numbers) {
  other.settle();
  for (std::size_t from = 0; from < other.group_of_.size(); ++from) {
    const std::size_t to = place(numbers[other.group_of_[from]]);
    units_[to] += other.units_[from];
    for (std::size_t i = 0; i < shape_->integers.size(); ++i) sums(to)[i] += other.sums(from)[i];
    for (std::size_t i = 0; i < shape_->leaves.size(); ++i) {
      for (const data::Leaf& leaf : other.leaves(from, i).leaves()) leaves(to, i).add(leaf);
    }
    for (std::size_t i = 0; i < shape_->distinct.size(); ++i) {
      for (const std::int64_t value : other.distinct(from, i).values()) distinct(to, i).add(value);
    }
  }
}

std::vector<data::ExactGroup> GroupTable::groups(const GroupKeys& keys,
                                                 std::span<const KeyType> types) {
  settle();
  std::vector<data::ExactGroup> groups;
  for (std::size_t place = 0; place < group_of_.size(); ++place) {
    if (units_[place] < shape_->min_units) continue;
    data::ExactGroup& group = groups.emplace_back();
    group.key = read_key(keys.bytes(group_of_[place]), types);
    group.units = units_[place];
    group.sums.assign(sums(place), sums(place) + shape_->integers.size());
    std::size_t distinct_at = 0;
    for (std::size_t i = 0; i < shape_->integers.size(); ++i) {
      if (shape_->statistics[shape_->integers[i]].kind != catalog::StatisticKind::distinct)
        continue;
      group.sums[i] = static_cast<Int128>(distinct(place, distinct_at++).values().size());
    }
    for (std::size_t i = 0; i < shape_->leaves.size(); ++i)
      group.leaves.push_back(leaves(place, i).leaves());
  }
  return groups;
}

}  // namespace shoal::engine
