#include "engine/unit_bounder.hpp"

#include <algorithm>

namespace shoal::engine {
namespace {

// Serial numbers of units have 32 bits beside the index.
constexpr std::uint64_t kSerials = std::uint64_t{1} << 32;

// What the hashes are of, told apart.
constexpr std::uint64_t kLeafHash = 0xA0761D6478BD642Fu;
constexpr std::uint64_t kDistinctHash = 0xE7037ED1A0B428DBu;

}  // namespace

void UnitGroups::clear() {
  groups.clear();
  rows.clear();
  sums.clear();
  for (auto& list : lists) list.clear();
}

UnitBounder::UnitBounder(const GroupShape& shape, std::vector<const GroupKeys*> keys,
                         std::vector<GroupTable>& tables)
    : shape_(shape),
      keys_(std::move(keys)),
      tables_(tables),
      unit_(shape.sets.size()),
      seen_(shape.sets.size()) {
  for (const bool listed : shape_.listed) has_lists_ = has_lists_ || listed;
  for (UnitGroups& groups : unit_) groups.lists.resize(shape.values.size());
}

std::uint32_t UnitBounder::index_of(std::size_t set, GroupNumber group) {
  std::vector<std::uint64_t>& seen = seen_[set];
  if (group >= seen.size()) seen.resize(std::max<std::size_t>(keys_[set]->size(), group + 1));
  const std::uint64_t mark = seen[group];
  if (mark >> 32 == serial_) return static_cast<std::uint32_t>(mark);
  UnitGroups& unit = unit_[set];
  const auto index = static_cast<std::uint32_t>(unit.groups.size());
  seen[group] = serial_ << 32 | index;
  unit.groups.push_back(group);
  unit.rows.push_back(0);
  unit.sums.resize(unit.sums.size() + shape_.values.size());
  return index;
}

void UnitBounder::add(const RowBlock& block, std::size_t first, std::size_t last) {
  const std::size_t values = shape_.values.size();
  indices_.resize(last - first);
  for (std::size_t set = 0; set < unit_.size(); ++set) {
    UnitGroups& unit = unit_[set];
    for (std::size_t row = first; row < last; ++row) {
      const std::uint32_t index = index_of(set, block.groups[set][row]);
      indices_[row - first] = index;
      ++unit.rows[index];
    }
    for (std::size_t value = 0; value < values; ++value) {
      const std::int64_t* steps = block.values[value].data();
      const std::int64_t middle = shape_.squared[value] ? shape_.values[value].range.middle() : 0;
      for (std::size_t row = first; row < last; ++row) {
        if (((block.present[row] >> value) & 1) == 0) continue;
        const std::uint32_t index = indices_[row - first];
        ValueSums& sums = unit.sums[index * values + value];
        ++sums.count;
        if (shape_.summed[value]) sums.sum += steps[row];
        if (shape_.squared[value]) {
          const Int128 centred = static_cast<Int128>(steps[row]) - middle;
          sums.squares += centred * centred;
        }
        if (shape_.listed[value]) unit.lists[value].emplace_back(index, steps[row]);
      }
    }
  }
}

void UnitBounder::add(const UnitPart& part, std::span<const std::vector<GroupNumber>> numbers) {
  const std::size_t values = shape_.values.size();
  for (std::size_t set = 0; set < unit_.size(); ++set) {
    const UnitGroups& from = part[set];
    UnitGroups& unit = unit_[set];
    indices_.clear();
    for (std::size_t i = 0; i < from.groups.size(); ++i) {
      const std::uint32_t index = index_of(set, numbers[set][from.groups[i]]);
      indices_.push_back(index);
      unit.rows[index] += from.rows[i];
      for (std::size_t value = 0; value < values; ++value) {
        ValueSums& to = unit.sums[index * values + value];
        const ValueSums& more = from.sums[i * values + value];
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

void UnitBounder::start() {
  for (UnitGroups& groups : unit_) groups.clear();
  if (++serial_ < kSerials) return;
  serial_ = 1;
  for (auto& seen : seen_) std::fill(seen.begin(), seen.end(), 0);
}

UnitPart UnitBounder::take() {
  UnitPart part = unit_;
  start();
  return part;
}

void UnitBounder::finish(std::uint64_t unit_hash) {
  for (std::size_t set = 0; set < unit_.size(); ++set) {
    choose(set, unit_hash);
    for (const Chosen& chosen : chosen_) add_bounded(set, chosen);
    if (has_lists_) add_lists(set);
  }
  start();
}

// The groups with the smallest hashes; equal hashes go by the key.
void UnitBounder::choose(std::size_t set, std::uint64_t unit_hash) {
  const UnitGroups& unit = unit_[set];
  const GroupKeys& keys = *keys_[set];
  const auto most = static_cast<std::size_t>(shape_.sets[set].max_groups);
  chosen_.clear();
  for (std::uint32_t index = 0; index < unit.groups.size(); ++index)
    chosen_.push_back({mix(unit_hash, keys.hash(unit.groups[index])), index});
  if (chosen_.size() <= most) return;
  std::nth_element(chosen_.begin(), chosen_.begin() + static_cast<std::ptrdiff_t>(most),
                   chosen_.end(), [&](const Chosen& a, const Chosen& b) {
                     if (a.hash != b.hash) return a.hash < b.hash;
                     return keys.bytes(unit.groups[a.index]) < keys.bytes(unit.groups[b.index]);
                   });
  chosen_.resize(most);
}

void UnitBounder::add_bounded(std::size_t set, const Chosen& chosen) {
  const UnitGroups& unit = unit_[set];
  GroupTable& table = tables_[set];
  const std::size_t place = table.place(unit.groups[chosen.index]);
  table.add_unit(place);
  const std::size_t values = shape_.values.size();
  const std::span<const ValueSums> sums(unit.sums.data() + chosen.index * values, values);
  Int128* to = table.sums(place);
  for (std::size_t i = 0; i < shape_.integers.size(); ++i)
    to[i] += shape_.bounded(shape_.integers[i], unit.rows[chosen.index], sums);
}

// Statistics that need the values themselves: those of each chosen group are sorted first, so that
// the order in which they came is forgotten.
void UnitBounder::add_lists(std::size_t set) {
  for (std::size_t value = 0; value < shape_.values.size(); ++value) {
    auto& list = unit_[set].lists[value];
    std::sort(list.begin(), list.end());
    for (const Chosen& chosen : chosen_) {
      const auto from = std::lower_bound(
          list.begin(), list.end(), chosen.index,
          [](const auto& entry, std::uint32_t index) { return entry.first < index; });
      picked_.clear();
      for (auto at = from; at != list.end() && at->first == chosen.index; ++at)
        picked_.push_back(at->second);
      add_leaves(set, value, chosen, picked_);
      add_distinct(set, value, chosen, picked_);
    }
  }
}

// Of more values than may count, those with the smallest hash of the value and of how many equal
// ones come before it.
void UnitBounder::add_leaves(std::size_t set, std::size_t value, const Chosen& chosen,
                             std::span<const std::int64_t> values) {
  const auto most = static_cast<std::size_t>(shape_.rows_per_group);
  for (std::size_t i = 0; i < shape_.leaves.size(); ++i) {
    if (shape_.statistics[shape_.leaves[i]].value != value) continue;
    LeafCounter& leaves =
        tables_[set].leaves(tables_[set].place(unit_[set].groups[chosen.index]), i);
    ranked_.clear();
    std::uint64_t ordinal = 0;
    for (std::size_t at = 0; at < values.size(); ++at) {
      ordinal = at > 0 && values[at] == values[at - 1] ? ordinal + 1 : 0;
      const std::uint64_t hash =
          mix(mix(chosen.hash ^ kLeafHash, static_cast<std::uint64_t>(values[at])), ordinal);
      ranked_.emplace_back(hash, values[at]);
    }
    if (ranked_.size() > most) {
      std::nth_element(ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(most),
                       ranked_.end());
      ranked_.resize(most);
    }
    for (const auto& [hash, step] : ranked_) leaves.add(step);
  }
}

void UnitBounder::add_distinct(std::size_t set, std::size_t value, const Chosen& chosen,
                               std::span<const std::int64_t> values) {
  const auto most = static_cast<std::size_t>(shape_.distinct_per_group);
  for (std::size_t i = 0; i < shape_.distinct.size(); ++i) {
    if (shape_.statistics[shape_.distinct[i]].value != value) continue;
    ValueSet& seen = tables_[set].distinct(tables_[set].place(unit_[set].groups[chosen.index]), i);
    ranked_.clear();
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (at > 0 && values[at] == values[at - 1]) continue;
      ranked_.emplace_back(mix(chosen.hash ^ kDistinctHash, static_cast<std::uint64_t>(values[at])),
                           values[at]);
    }
    if (ranked_.size() > most) {
      std::nth_element(ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(most),
                       ranked_.end());
      ranked_.resize(most);
    }
    for (const auto& [hash, kept] : ranked_) seen.add(kept);
  }
}

}  // namespace shoal::engine
