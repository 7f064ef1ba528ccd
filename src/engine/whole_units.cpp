// UnitBounder's short way for units all of whose rows are at hand: most of them, in most tables.
//
// It gives what the long way gives. The smallest hashes are found without regard to groups, but for
// each group's first row alone. Two groups with one hash are seen when rows are added up, and then
// the unit goes the long way.
#include "engine/unit_words.hpp"

#include <algorithm>
#include <limits>

namespace shoal::engine {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

// Rows after which another smaller hash has become rare enough to be worth a branch.
constexpr std::size_t kUnpredictable = 16;

// Puts a hash among the smallest ones, which are in order; the largest there is changes nothing.
// Written so that compilers take no branch, as none could be foreseen.
template <std::size_t kGroups>
inline void insert(std::uint64_t (&smallest)[kGroups], std::uint64_t hash) {
  for (std::size_t i = 0; i < kGroups; ++i) {
    const std::uint64_t smaller = hash < smallest[i] ? hash : smallest[i];
    hash ^= smallest[i] ^ smaller;  // the larger one goes on
    smallest[i] = smaller;
  }
}

}  // namespace

void UnitBounder::plan_words() {
  using catalog::StatisticKind;
  for (const IntegerPlan& plan : shape_.plans) {
    WordsPlan& words = words_plans_.emplace_back();
    words.centre = plan.centre;
    words.least = plan.least;
    words.most = plan.most;
    const std::size_t value = 2 + 3 * plan.value;
    switch (plan.kind) {
      case StatisticKind::units:
        break;
      case StatisticKind::rows:
        words.word = 1;
        break;
      case StatisticKind::values:
        words.word = value;
        break;
      case StatisticKind::plain_sum:
      case StatisticKind::centred_sum:
        words.count = value;
        words.word = value + 1;
        break;
      case StatisticKind::centred_squares:
        words.count = value;
        words.word = value + 2;
        break;
      case StatisticKind::distinct:
      case StatisticKind::leaves:
        break;  // with these no unit goes this way
    }
  }
  words_.resize(kGroupsAtOnce * words_at_once());
}

void UnitBounder::plan_quick() {
  using catalog::StatisticKind;
  std::size_t sums = 0;
  for (std::size_t i = 0; i < shape_.plans.size(); ++i) {
    const StatisticKind kind = shape_.plans[i].kind;
    if (kind == StatisticKind::units || kind == StatisticKind::rows ||
        kind == StatisticKind::values)
      continue;
    quick_sum_ = words_plans_[i];
    ++sums;
  }
  quick_ = !has_lists_ && !has_squares_ && readers_.size() <= 1 && sums <= 1;
}

void UnitBounder::add_units(const RowBlock& block, const WholeUnits& units) {
  for (std::size_t set = 0; set < sets_.size(); ++set) {
    if (try_short_units(set, block, units)) continue;
    for (std::size_t i = 0; i < units.ends.size(); ++i)
      add_unit(set, units.hashes[i], block, units.begin(i), units.ends[i]);
  }
}

void UnitBounder::add_whole(std::uint64_t unit_hash, const RowBlock& block, std::size_t first,
                            std::size_t last) {
  for (std::size_t set = 0; set < sets_.size(); ++set) add_unit(set, unit_hash, block, first, last);
}

void UnitBounder::add_unit(std::size_t set, std::uint64_t unit_hash, const RowBlock& block,
                           std::size_t first, std::size_t last) {
  unit_hash_ = unit_hash;
  const bool at_once = !has_lists_ && last - first <= kRowsAtOnce;
  if (at_once && try_at_once(set, block, first, last)) return;
  if (has_lists_ && try_one_group(set, block, first, last)) return;
  begin(unit_hash);
  add_to_set(set, block, first, last);
  finish(set);
}

bool UnitBounder::try_at_once(std::size_t set, const RowBlock& block, std::size_t first,
                              std::size_t last) {
  return with_groups(std::make_index_sequence<kGroupsAtOnce>(), sets_[set].max_groups,
                     [&](auto groups) { return add_at_once<groups>(set, block, first, last); });
}

// The marks of a set, with room for every group, and a new serial number.
std::uint32_t* UnitBounder::new_marks(Set& set, std::size_t groups) {
  if (set.met.size() < groups) set.met.resize(std::max(groups, 2 * set.met.size()));
  if (++set.serial == 0) {
    std::fill(set.met.begin(), set.met.end(), 0);
    set.serial = 1;
  }
  return set.met.data();
}

// False, with nothing added, if two of the unit's groups that count have one hash.
template <std::size_t kGroups>
bool UnitBounder::add_at_once(std::size_t at, const RowBlock& block, std::size_t first,
                              std::size_t last) {
  static_assert(kGroups <= kGroupsAtOnce);
  Set& set = sets_[at];
  const GroupNumber* groups = block.groups[at] + first;
  const std::size_t rows = last - first;
  const std::uint64_t unit_hash = unit_hash_;
  const std::uint64_t* key_hashes = keys_[at]->hashes();
  std::uint32_t* met = new_marks(set, keys_[at]->size());
  const std::uint32_t serial = set.serial;
  std::uint64_t smallest[kGroups];
  std::fill(smallest, smallest + kGroups, kLargest);
  std::uint64_t* hashes = hashes_.data();
  for (std::size_t row = 0; row < rows; ++row)
    hashes[row] = group_hash(unit_hash, key_hashes[groups[row]]);
  std::size_t row = 0;
  for (const std::size_t end = std::min(rows, kUnpredictable); row < end; ++row) {
    std::uint32_t& mark = met[groups[row]];
    insert(smallest, hashes[row] | (mark == serial ? kLargest : 0));
    mark = serial;
  }
  for (; row < rows; ++row) {
    if (hashes[row] >= smallest[kGroups - 1] || met[groups[row]] == serial) continue;
    insert(smallest, hashes[row]);
    met[groups[row]] = serial;
  }
  const std::uint64_t threshold = smallest[kGroups - 1];
  std::uint32_t* counted = counted_.data();
  for (row = 0; row < rows; ++row) {
    *counted = static_cast<std::uint32_t>(row);
    counted += hashes[row] <= threshold ? 1 : 0;
  }
  const std::size_t stride = words_at_once();
  GroupNumber group_of[kGroups] = {};
  std::fill_n(words_.begin(), kGroups * stride, 0);
  bool clash = false;
  for (const std::uint32_t* next = counted_.data(); next < counted; ++next) {
    std::size_t place = 0;
    for (std::size_t other = 0; other + 1 < kGroups; ++other)
      place += hashes[*next] > smallest[other] ? 1 : 0;
    std::uint64_t* words = words_.data() + place * stride;
    group_of[place] = words[0] == 0 ? groups[*next] : group_of[place];
    clash |= group_of[place] != groups[*next];
    add_to_words(block, first + *next, words);
  }
  if (clash) return false;
  for (std::size_t place = 0; place < kGroups && words_[place * stride] != 0; ++place)
    add_bounded_words(at, group_of[place], words_.data() + place * stride);
  return true;
}

}  // namespace shoal::engine
