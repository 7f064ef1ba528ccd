#include "engine/unit_bounder.hpp"

#include "engine/step_block.hpp"

#include <algorithm>
#include <limits>

namespace shoal::engine {
namespace {

// Serial numbers of units have 32 bits beside the index.
constexpr std::uint64_t kSerials = std::uint64_t{1} << 32;

// So many groups are kept in order one by one, and so many more than needed are put up with.
constexpr std::size_t kFewGroups = 16;

// What the hashes are of, told apart.
constexpr std::uint64_t kLeafHash = 0xA0761D6478BD642Fu;
constexpr std::uint64_t kDistinctHash = 0xE7037ED1A0B428DBu;

// A whole number below `size`, each as likely as any other but for size / 2^64.
std::size_t below(std::uint64_t hash, std::size_t size) {
  return static_cast<std::size_t>(static_cast<UInt128>(hash) * size >> 64);
}

// The places (first + i size) / most, for i = 0, 1, ..., most - 1, of a list of that size, which is
// no less than `most`; first < size. No two are the same.
class EvenPlaces {
 public:
  EvenPlaces(std::size_t first, std::size_t size, std::size_t most)
      : at_(first / most),
        rest_(first % most),
        step_(size / most),
        step_rest_(size % most),
        left_(most),
        most_(most) {}
  bool done() const { return left_ == 0; }
  std::size_t at() const { return at_; }
  void next() {
    --left_;
    at_ += step_;
    rest_ += step_rest_;
    if (rest_ < most_) return;
    rest_ -= most_;
    ++at_;
  }

 private:
  std::size_t at_;
  std::size_t rest_;
  std::size_t step_;
  std::size_t step_rest_;
  std::size_t left_;
  std::size_t most_;
};

}  // namespace

UnitBounder::UnitBounder(const GroupShape& shape, std::vector<const GroupKeys*> keys,
                         std::vector<GroupTable>& tables, ValueWords words)
    : shape_(shape),
      keys_(std::move(keys)),
      tables_(tables),
      sets_(shape.sets.size()),
      hashes_(kRowsAtOnce),
      counted_(kRowsAtOnce),
      key_words_(kRankedRoom),
      steps_(kRankedRoom) {
  for (const ValueColumn& value : shape_.values) readers_.emplace_back(value, words);
  plan_words();
  for (const bool listed : shape_.listed) has_lists_ = has_lists_ || listed;
  for (const bool squared : shape_.squared) has_squares_ = has_squares_ || squared;
  for (const IntegerPlan& plan : shape_.plans) {
    has_sums_ = has_sums_ || (plan.kind != catalog::StatisticKind::units &&
                              plan.kind != catalog::StatisticKind::rows);
  }
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    sets_[i].max_groups = static_cast<std::size_t>(shape.sets[i].max_groups);
    sets_[i].unit.lists.resize(shape.values.size());
    sets_[i].few = !has_lists_ && sets_[i].max_groups <= kFewGroups;
    grow(sets_[i].unit, kFewGroups);
  }
  plan_quick();
}

void UnitBounder::grow(UnitGroups& unit, std::size_t groups) const {
  unit.groups.resize(groups);
  unit.hashes.resize(groups);
  unit.rows.resize(groups);
  unit.sums.resize(groups * shape_.values.size());
}

void UnitBounder::begin(std::uint64_t unit_hash) {
  unit_hash_ = unit_hash;
  for (Set& set : sets_) {
    set.unit.size = 0;
    set.threshold = std::numeric_limits<std::uint64_t>::max();
    if (has_lists_) {
      for (auto& list : set.unit.lists) list.clear();
    }
  }
  if (++serial_ < kSerials) return;
  serial_ = 1;
  for (Set& set : sets_) std::fill(set.seen.begin(), set.seen.end(), 0);
}

inline std::uint32_t UnitBounder::index_of(Set& set, const GroupKeys& keys, GroupNumber group,
                                           std::uint64_t hash) {
  if (group >= set.seen.size()) set.seen.resize(std::max<std::size_t>(keys.size(), group + 1));
  std::uint64_t& mark = set.seen[group];
  if (mark >> 32 == serial_) return static_cast<std::uint32_t>(mark);
  UnitGroups& unit = set.unit;
  const std::size_t index = unit.size++;
  const std::size_t values = shape_.values.size();
  if (index == unit.groups.size()) grow(unit, 2 * index);
  mark = serial_ << 32 | index;
  unit.groups[index] = group;
  unit.hashes[index] = hash;
  unit.rows[index] = 0;
  for (std::size_t value = 0; value < values; ++value) unit.sums[index * values + value] = {};
  return static_cast<std::uint32_t>(index);
}

void UnitBounder::add(const RowBlock& block, std::size_t first, std::size_t last) {
  for (std::size_t set = 0; set < sets_.size(); ++set) add_to_set(set, block, first, last);
}

void UnitBounder::add_to_set(std::size_t at, const RowBlock& block, std::size_t first,
                             std::size_t last) {
  Set& set = sets_[at];
  if (set.few) return add_to_few(at, block, first, last);
  if (rows_.size() < last - first) {
    rows_.resize(last - first);
    indices_.resize(last - first);
  }
  const std::size_t values = shape_.values.size();
  const GroupKeys& keys = *keys_[at];
  const GroupNumber* groups = block.groups[at];
  kept_ = 0;
  for (std::size_t row = first; row < last; ++row) {
    const std::uint64_t hash = group_hash(unit_hash_, keys.hash(groups[row]));
    if (hash > set.threshold) continue;
    const std::uint32_t index = index_of(set, keys, groups[row], hash);
    ++set.unit.rows[index];
    add_values(block, row, set.unit.sums.data() + index * values);
    rows_[kept_] = static_cast<std::uint32_t>(row);
    indices_[kept_++] = index;
  }
  for (std::size_t value = 0; value < values; ++value) list_values(block, set.unit, value);
  if (set.unit.size > 4 * set.max_groups + kFewGroups) prune(set, keys);
}

// Where max_groups is small and no list has to be kept, only the groups with the smallest hashes so
// far are held at all. One that has to make room has max_groups smaller ones, and never comes back.
void UnitBounder::add_to_few(std::size_t at, const RowBlock& block, std::size_t first,
                             std::size_t last) {
  Set& set = sets_[at];
  const GroupKeys& keys = *keys_[at];
  const std::uint64_t* hashes = keys.hashes();
  const GroupNumber* groups = block.groups[at];
  const std::size_t values = shape_.values.size();
  for (std::size_t row = first; row < last; ++row) {
    const GroupNumber group = groups[row];
    const std::uint64_t hash = group_hash(unit_hash_, hashes[group]);
    if (hash > set.threshold) continue;
    std::size_t place = 0;
    while (place < set.unit.size && set.unit.groups[place] != group) ++place;
    if (place == set.unit.size) {
      place = take_place(set, keys, group, hash);
      if (place == set.max_groups) continue;
    }
    ++set.unit.rows[place];
    add_values(block, row, set.unit.sums.data() + place * values);
  }
}

// The place of a group that has none yet, or max_groups if it loses against all that have.
std::size_t UnitBounder::take_place(Set& set, const GroupKeys& keys, GroupNumber group,
                                    std::uint64_t hash) {
  UnitGroups& unit = set.unit;
  const auto before = [&](std::uint64_t a, GroupNumber one, std::uint64_t b, GroupNumber other) {
    return a != b ? a < b : keys.bytes(one) < keys.bytes(other);
  };
  std::size_t place = unit.size;
  if (unit.size < set.max_groups) {
    ++unit.size;
  } else {
    place = set.worst;
    if (!before(hash, group, unit.hashes[place], unit.groups[place])) return set.max_groups;
  }
  unit.groups[place] = group;
  unit.hashes[place] = hash;
  unit.rows[place] = 0;
  const std::size_t values = shape_.values.size();
  for (std::size_t value = 0; value < values; ++value) unit.sums[place * values + value] = {};
  if (unit.size == set.max_groups) {
    set.worst = 0;
    for (std::size_t i = 1; i < unit.size; ++i) {
      if (before(unit.hashes[set.worst], unit.groups[set.worst], unit.hashes[i], unit.groups[i]))
        set.worst = i;
    }
    set.threshold = unit.hashes[set.worst];
  }
  return place;
}

inline void UnitBounder::add_values(const RowBlock& block, std::size_t row, ValueSums* sums) const {
  for (std::size_t value = 0; value < readers_.size(); ++value) {
    const BlockValues& from = block.values[value];
    std::int64_t steps = 0;
    if (!readers_[value].read(from.words[row], from.valid(row), steps)) continue;
    ++sums[value].count;
    sums[value].sum += steps;
    if (!has_squares_ || !shape_.squared[value]) continue;
    const Int128 centred = static_cast<Int128>(steps) - readers_[value].middle();
    sums[value].squares += centred * centred;
  }
}

void UnitBounder::list_values(const RowBlock& block, UnitGroups& unit, std::size_t value) {
  if (!shape_.listed[value]) return;
  const BlockValues& from = block.values[value];
  for (std::size_t i = 0; i < kept_; ++i) {
    std::int64_t listed = 0;
    if (readers_[value].read(from.words[rows_[i]], from.valid(rows_[i]), listed))
      unit.lists[value].emplace_back(indices_[i], listed);
  }
}

void UnitBounder::add(const UnitPart& part, std::span<const std::vector<GroupNumber>> numbers) {
  const std::size_t values = shape_.values.size();
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    const UnitGroups& from = part[i];
    UnitGroups& unit = sets_[i].unit;
    if (indices_.size() < from.size) indices_.resize(from.size);
    for (std::size_t group = 0; group < from.size; ++group) {
      const std::uint32_t index =
          index_of(sets_[i], *keys_[i], numbers[i][from.groups[group]], from.hashes[group]);
      indices_[group] = index;
      unit.rows[index] += from.rows[group];
      for (std::size_t value = 0; value < values; ++value) {
        ValueSums& to = unit.sums[index * values + value];
        const ValueSums& more = from.sums[group * values + value];
        to.count += more.count;
        to.sum += more.sum;
        to.squares += more.squares;
      }
    }
    for (std::size_t value = 0; value < values; ++value) {
      for (const auto& [index, step] : from.lists[value])
        unit.lists[value].emplace_back(indices_[index], step);
    }
  }
}

UnitPart UnitBounder::take() const {
  UnitPart part;
  for (const Set& set : sets_) {
    UnitGroups& groups = part.emplace_back();
    const auto size = static_cast<std::ptrdiff_t>(set.unit.size);
    const auto sums = size * static_cast<std::ptrdiff_t>(shape_.values.size());
    groups.size = set.unit.size;
    groups.groups.assign(set.unit.groups.begin(), set.unit.groups.begin() + size);
    groups.hashes.assign(set.unit.hashes.begin(), set.unit.hashes.begin() + size);
    groups.rows.assign(set.unit.rows.begin(), set.unit.rows.begin() + size);
    groups.sums.assign(set.unit.sums.begin(), set.unit.sums.begin() + sums);
    groups.lists = set.unit.lists;
  }
  return part;
}

void UnitBounder::finish() {
  for (std::size_t set = 0; set < sets_.size(); ++set) finish(set);
}

void UnitBounder::finish(std::size_t set) {
  choose(sets_[set], *keys_[set]);
  for (const std::uint32_t index : chosen_) add_bounded(set, index);
  if (has_lists_) add_lists(set);
}

// The groups with the smallest hashes; equal hashes go by the key.
void UnitBounder::choose(const Set& set, const GroupKeys& keys) {
  const UnitGroups& unit = set.unit;
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (unit.hashes[a] != unit.hashes[b]) return unit.hashes[a] < unit.hashes[b];
    return keys.bytes(unit.groups[a]) < keys.bytes(unit.groups[b]);
  };
  chosen_.clear();
  if (unit.size <= set.max_groups || set.max_groups > kFewGroups) {
    for (std::uint32_t index = 0; index < unit.size; ++index) chosen_.push_back(index);
    if (unit.size <= set.max_groups) return;
    std::nth_element(chosen_.begin(), chosen_.begin() + static_cast<std::ptrdiff_t>(set.max_groups),
                     chosen_.end(), before);
    chosen_.resize(set.max_groups);
    return;
  }
  // A few: kept in order as they come.
  chosen_.resize(set.max_groups);
  std::uint32_t* best = chosen_.data();
  std::uint64_t hashes[kFewGroups];
  std::size_t kept = 0;
  for (std::uint32_t index = 0; index < unit.size; ++index) {
    const std::uint64_t hash = unit.hashes[index];
    std::size_t at = kept;
    if (kept == set.max_groups) {
      // A shape has at least one group a unit, so that one is kept.
      // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
      if (hash > hashes[kept - 1] || !before(index, best[kept - 1])) continue;
      --at;
    } else {
      ++kept;
    }
    for (; at > 0 && hash <= hashes[at - 1] && before(index, best[at - 1]); --at) {
      best[at] = best[at - 1];
      hashes[at] = hashes[at - 1];
    }
    best[at] = index;
    hashes[at] = hash;
  }
}

// Forgets groups that cannot count any more. One that comes back starts from nothing and loses
// again: those that beat it stay.
void UnitBounder::prune(Set& set, const GroupKeys& keys) {
  UnitGroups& unit = set.unit;
  const std::size_t values = shape_.values.size();
  choose(set, keys);
  std::sort(chosen_.begin(), chosen_.end());
  std::vector<std::uint32_t> moved(unit.size, std::numeric_limits<std::uint32_t>::max());
  for (std::uint32_t index = 0; index < unit.size; ++index) set.seen[unit.groups[index]] = 0;
  set.threshold = 0;
  for (std::uint32_t to = 0; to < chosen_.size(); ++to) {
    const std::uint32_t from = chosen_[to];
    moved[from] = to;
    unit.groups[to] = unit.groups[from];
    unit.hashes[to] = unit.hashes[from];
    unit.rows[to] = unit.rows[from];
    for (std::size_t value = 0; value < values; ++value)
      unit.sums[to * values + value] = unit.sums[from * values + value];
    set.seen[unit.groups[to]] = serial_ << 32 | to;
    set.threshold = std::max(set.threshold, unit.hashes[to]);
  }
  unit.size = chosen_.size();
  for (auto& list : unit.lists) {
    std::size_t kept = 0;
    for (const auto& [index, step] : list) {
      if (moved[index] != std::numeric_limits<std::uint32_t>::max())
        list[kept++] = {moved[index], step};
    }
    list.resize(kept);
  }
}

void UnitBounder::add_bounded(std::size_t set, std::uint32_t index) {
  const UnitGroups& unit = sets_[set].unit;
  GroupTable& table = tables_[set];
  const std::size_t place = table.place(unit.groups[index]);
  table.add_unit(place);
  const ValueSums* sums = unit.sums.data() + index * shape_.values.size();
  Int128* to = table.sums(place);
  for (const IntegerPlan& plan : shape_.plans)
    *to++ += plan.bounded(unit.rows[index], sums, shape_.rows_per_group);
}

// Statistics that need the values themselves. Those of a group are sorted first, so that the order
// in which they came is forgotten.
void UnitBounder::add_lists(std::size_t set) {
  for (std::size_t value = 0; value < shape_.values.size(); ++value) {
    if (!shape_.listed[value]) continue;
    auto& list = sets_[set].unit.lists[value];
    std::sort(list.begin(), list.end());
    for (const std::uint32_t index : chosen_) {
      const auto from = std::lower_bound(
          list.begin(), list.end(), index,
          [](const auto& entry, std::uint32_t wanted) { return entry.first < wanted; });
      picked_.clear();
      for (auto at = from; at != list.end() && at->first == index; ++at)
        picked_.push_back(at->second);
      add_leaves(set, value, index);
      add_distinct(set, value, index);
    }
  }
}

void UnitBounder::keep_smallest(std::int64_t most) {
  if (ranked_.size() <= static_cast<std::size_t>(most)) return;
  std::nth_element(ranked_.begin(), ranked_.begin() + most, ranked_.end());
  ranked_.resize(static_cast<std::size_t>(most));
}

// The values of rows of a whole unit: sorted, unless all of them count and none is looked at twice.
void UnitBounder::pick_values(const RowBlock& block, std::size_t value, std::size_t first,
                              std::size_t last) {
  const BlockValues& from = block.values[value];
  picked_.resize(last - first);
  if (!read_steps(readers_[value], from, first, last, picked_.data())) {
    picked_.clear();
    for (std::size_t row = first; row < last; ++row) {
      std::int64_t picked = 0;
      if (readers_[value].read(from.words[row], from.valid(row), picked)) picked_.push_back(picked);
    }
  }
  if (!shape_.distinct.empty() || picked_.size() > static_cast<std::size_t>(shape_.rows_per_group))
    std::sort(picked_.begin(), picked_.end());
}

// A whole unit with all of its rows in one group, of which single values are asked for: there is
// nothing to choose, and no list to keep.
bool UnitBounder::try_one_group(std::size_t at, const RowBlock& block, std::size_t first,
                                std::size_t last) {
  const GroupNumber* groups = block.groups[at];
  for (std::size_t row = first + 1; row < last; ++row) {
    if (groups[row] != groups[first]) return false;
  }
  UnitGroups& unit = sets_[at].unit;
  unit.size = 1;
  unit.groups[0] = groups[first];
  unit.hashes[0] = group_hash(unit_hash_, keys_[at]->hash(groups[first]));
  unit.rows[0] = static_cast<std::int64_t>(last - first);
  std::fill_n(unit.sums.begin(), shape_.values.size(), ValueSums{});
  for (std::size_t row = first; has_sums_ && row < last; ++row)
    add_values(block, row, unit.sums.data());
  add_bounded(at, 0);
  for (std::size_t value = 0; value < shape_.values.size(); ++value) {
    if (!shape_.listed[value]) continue;
    pick_values(block, value, first, last);
    add_leaves(at, value, 0);
    add_distinct(at, value, 0);
  }
  return true;
}

// Of more values than may count, so many evenly spaced ones of those in order: each as likely as
// any other, and together as spread out as all of them.
void UnitBounder::add_leaves(std::size_t set, std::size_t value, std::uint32_t index) {
  const UnitGroups& unit = sets_[set].unit;
  const auto most = static_cast<std::size_t>(shape_.rows_per_group);
  for (std::size_t i = 0; i < shape_.leaves.size(); ++i) {
    if (shape_.statistics[shape_.leaves[i]].value != value) continue;
    LeafCounter& leaves = tables_[set].leaves(tables_[set].place(unit.groups[index]), i);
    if (picked_.size() <= most) {
      for (const std::int64_t step : picked_) leaves.add(step);
      continue;
    }
    const std::size_t first = below(mix(unit.hashes[index], kLeafHash), picked_.size());
    for (EvenPlaces place(first, picked_.size(), most); !place.done(); place.next())
      leaves.add(picked_[place.at()]);
  }
}

void UnitBounder::add_distinct(std::size_t set, std::size_t value, std::uint32_t index) {
  const UnitGroups& unit = sets_[set].unit;
  for (std::size_t i = 0; i < shape_.distinct.size(); ++i) {
    if (shape_.statistics[shape_.distinct[i]].value != value) continue;
    ValueSet& seen = tables_[set].distinct(tables_[set].place(unit.groups[index]), i);
    ranked_.clear();
    for (std::size_t at = 0; at < picked_.size(); ++at) {
      if (at > 0 && picked_[at] == picked_[at - 1]) continue;
      const auto word = static_cast<std::uint64_t>(picked_[at]);
      ranked_.emplace_back(mix(unit.hashes[index] ^ kDistinctHash, word), picked_[at]);
    }
    keep_smallest(shape_.distinct_per_group);
    for (const auto& [hash, kept] : ranked_) seen.add(kept);
  }
}

}  // namespace shoal::engine
