// Bounds one unit after the other. It gathers the rows of a unit, group by group, chooses the
// groups that count, brings what the unit adds within its bounds and adds it to the groups' sums.
//
// Invariant: what is added for a unit is a function of that unit's rows as a set, of the request
// and of the hash key: not of other units, the order of rows, their blocks or threads. Proof:
// bounding.proof.md.
#pragma once

#include "engine/group_keys.hpp"
#include "engine/group_shape.hpp"
#include "engine/group_table.hpp"
#include "engine/row_block.hpp"
#include "engine/unit_runs.hpp"
#include "engine/value_reader.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace shoal::engine {

// What is known so far of a unit in the groups of one set. The vectors may be longer than `size`.
struct UnitGroups {
  std::size_t size = 0;
  std::vector<GroupNumber> groups = {};
  std::vector<std::uint64_t> hashes = {};  // of unit, set and key
  std::vector<std::int64_t> rows = {};
  std::vector<ValueSums> sums = {};  // for each group, one a value column
  // For each value column that is listed: the group's index here, and the value.
  std::vector<std::vector<std::pair<std::uint32_t, std::int64_t>>> lists = {};
};

// A part of a unit that has to wait for the rest of it: one a set.
using UnitPart = std::vector<UnitGroups>;

class UnitBounder {
 public:
  // One GroupKeys and one table a set; the keys may grow. `words`: what blocks have for values that
  // are steps.
  UnitBounder(const GroupShape& shape, std::vector<const GroupKeys*> keys,
              std::vector<GroupTable>& tables, ValueWords words = ValueWords::stored);

  // Units all of whose rows are there, as many as possible at once.
  void add_units(const RowBlock& block, const WholeUnits& units);
  // One of them, without vectors of words.
  void add_whole(std::uint64_t unit_hash, const RowBlock& block, std::size_t first,
                 std::size_t last);

  // Or else bit by bit. Starts a unit.
  void begin(std::uint64_t unit_hash);
  // Rows of it, or else parts, not both.
  void add(const RowBlock& block, std::size_t first, std::size_t last);
  // A part of it, whose groups have other numbers: for each set, theirs to ours.
  void add(const UnitPart& part, std::span<const std::vector<GroupNumber>> numbers);
  // It is complete: bounds it and adds it to the tables.
  void finish();
  // It is not: hands over what is known.
  UnitPart take() const;

 private:
  struct Set {
    UnitGroups unit;
    std::size_t max_groups = 1;
    // No group whose hash is above this can be among the smallest any more.
    std::uint64_t threshold = 0;
    bool few = false;       // no more than max_groups groups are ever held
    std::size_t worst = 0;  // then, when all places are taken: the one with the largest hash
    // By group: the serial number of the unit that was last seen there, and its index.
    std::vector<std::uint64_t> seen;
    // The same for units that are done at once, which have serial numbers of their own.
    std::vector<std::uint32_t> met;
    std::uint32_t serial = 0;
  };

  // A whole unit of so many rows, of which so many groups count, is done at once. Steps and squares
  // have at most 51 bits, so their sums, and sums less the centre as often, stay below 2^62.
  static constexpr std::size_t kRowsAtOnce = 1024;
  static constexpr std::size_t kGroupsAtOnce = 8;
  // So many rows of short units are ranked before any is added up, and some more for vectors.
  static constexpr std::size_t kRankedRows = 2048;
  static constexpr std::size_t kRankedRoom = kRankedRows + 64;

  // Of a group of a unit that is done at once there are so many words: 1, the number of rows, and
  // for each value the number of values, their sum and the sum of squares.
  std::size_t words_at_once() const { return 2 + 3 * readers_.size(); }
  // How a statistic is bounded from those words: one less another times the centre.
  struct WordsPlan {
    std::size_t word = 0;
    std::size_t count = 0;
    std::int64_t centre = 0;
    std::int64_t least = 0;
    std::int64_t most = 0;

    // As IntegerPlan::bounded does it.
    std::int64_t bounded(std::int64_t values, std::int64_t sum, std::int64_t rows_per_group) const {
      sum -= values * centre;
      if (values > rows_per_group) {
        sum = static_cast<std::int64_t>(std::clamp<Int128>(
            divide_rounding(saturating_multiply(sum, rows_per_group), values), least, most));
      }
      sum = sum < least ? least : sum;
      return sum > most ? most : sum;
    }
  };

  void add_unit(std::size_t set, std::uint64_t unit_hash, const RowBlock& block, std::size_t first,
                std::size_t last);
  template <std::size_t kGroups>
  void add_short_units(std::size_t set, const RowBlock& block, const WholeUnits& units);
  template <std::size_t kGroups>
  bool add_quick(QuickSums* sums, const GroupNumber* groups, const std::int64_t* steps,
                 const std::uint64_t (&rows)[kGroups]) const;
  template <std::size_t kGroups>
  bool add_rows(std::size_t set, const RowBlock& block, std::size_t first,
                const std::uint64_t (&rows)[kGroups]);
  bool read_quick(const RowBlock& block, std::size_t first, std::size_t last);
  bool try_short_units(std::size_t set, const RowBlock& block, const WholeUnits& units);
  template <std::size_t kGroups>
  bool add_at_once(std::size_t set, const RowBlock& block, std::size_t first, std::size_t last);
  bool try_at_once(std::size_t set, const RowBlock& block, std::size_t first, std::size_t last);
  bool try_one_group(std::size_t set, const RowBlock& block, std::size_t first, std::size_t last);
  void pick_values(const RowBlock& block, std::size_t value, std::size_t first, std::size_t last);
  void plan_words();
  void plan_quick();
  static std::uint32_t* new_marks(Set& set, std::size_t groups);
  void add_to_words(const RowBlock& block, std::size_t row, std::uint64_t* words) const;
  void add_values(const RowBlock& block, std::size_t row, ValueSums* sums) const;
  void finish(std::size_t set);
  void grow(UnitGroups& unit, std::size_t groups) const;
  std::uint32_t index_of(Set& set, const GroupKeys& keys, GroupNumber group, std::uint64_t hash);
  void add_to_set(std::size_t set, const RowBlock& block, std::size_t first, std::size_t last);
  void add_to_few(std::size_t set, const RowBlock& block, std::size_t first, std::size_t last);
  std::size_t take_place(Set& set, const GroupKeys& keys, GroupNumber group, std::uint64_t hash);
  void list_values(const RowBlock& block, UnitGroups& unit, std::size_t value);
  void choose(const Set& set, const GroupKeys& keys);
  void prune(Set& set, const GroupKeys& keys);
  void add_bounded(std::size_t set, std::uint32_t index);
  void add_bounded_words(std::size_t set, GroupNumber group, const std::uint64_t* words);
  void add_lists(std::size_t set);
  void add_leaves(std::size_t set, std::size_t value, std::uint32_t index);
  void add_distinct(std::size_t set, std::size_t value, std::uint32_t index);
  void keep_smallest(std::int64_t most);

  const GroupShape& shape_;
  std::vector<const GroupKeys*> keys_;
  std::vector<GroupTable>& tables_;
  std::vector<ValueReader> readers_;  // one a value
  std::vector<Set> sets_;
  std::uint64_t unit_hash_ = 0;
  std::uint64_t serial_ = 0;
  bool has_lists_ = false;
  bool has_squares_ = false;
  bool has_sums_ = false;                 // a statistic is made of counts or sums of values
  std::vector<WordsPlan> words_plans_;    // one an integer statistic
  std::vector<std::uint64_t> hashes_;     // of the rows of a whole unit
  std::vector<std::uint32_t> counted_;    // which of them count
  std::vector<std::uint32_t> key_words_;  // of the rows of short units: their keys' hashes
  std::vector<std::int64_t> steps_;       // their values
  bool quick_ = false;                    // counts and at most one sum are asked for, of one value
  std::optional<WordsPlan> quick_sum_;    // how that sum is bounded
  std::vector<std::uint64_t> words_;      // of its groups
  std::vector<std::uint32_t> chosen_;     // indices in the set at hand
  std::size_t kept_ = 0;                  // how many rows of the block at hand may count
  std::vector<std::uint32_t> rows_;       // which they are
  std::vector<std::uint32_t> indices_;    // theirs
  std::vector<std::int64_t> picked_;      // values of a group at hand, sorted
  std::vector<std::pair<std::uint64_t, std::int64_t>> ranked_;  // by their hashes
};

}  // namespace shoal::engine
