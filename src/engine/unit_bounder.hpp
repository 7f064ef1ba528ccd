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

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace shoal::engine {

// What is known so far of a unit in the groups of one set.
struct UnitGroups {
  std::vector<GroupNumber> groups = {};
  std::vector<std::int64_t> rows = {};
  std::vector<ValueSums> sums = {};  // for each group, one a value column
  // For each value column that is listed: the group's index here, and the value.
  std::vector<std::vector<std::pair<std::uint32_t, std::int64_t>>> lists = {};

  void clear();
};

// A part of a unit that has to wait for the rest of it: one a set.
using UnitPart = std::vector<UnitGroups>;

class UnitBounder {
 public:
  // One GroupKeys and one table a set; the keys may grow.
  UnitBounder(const GroupShape& shape, std::vector<const GroupKeys*> keys,
              std::vector<GroupTable>& tables);

  // Rows of the unit at hand.
  void add(const RowBlock& block, std::size_t first, std::size_t last);
  // A part of it, whose groups have other numbers: for each set, theirs to ours.
  void add(const UnitPart& part, std::span<const std::vector<GroupNumber>> numbers);

  // The unit is complete: bounds it, adds it to the tables, and starts another.
  void finish(std::uint64_t unit_hash);
  // It is not: hands over what is known, and starts another.
  UnitPart take();

 private:
  struct Chosen {
    std::uint64_t hash;
    std::uint32_t index;
  };

  std::uint32_t index_of(std::size_t set, GroupNumber group);
  void start();
  void choose(std::size_t set, std::uint64_t unit_hash);
  void add_bounded(std::size_t set, const Chosen& chosen);
  void add_lists(std::size_t set);
  void add_leaves(std::size_t set, std::size_t value, const Chosen& chosen,
                  std::span<const std::int64_t> values);
  void add_distinct(std::size_t set, std::size_t value, const Chosen& chosen,
                    std::span<const std::int64_t> values);

  const GroupShape& shape_;
  std::vector<const GroupKeys*> keys_;
  std::vector<GroupTable>& tables_;
  UnitPart unit_;
  // For each set, by group: the serial number of the unit that was last seen there, and its index.
  std::vector<std::vector<std::uint64_t>> seen_;
  std::uint64_t serial_ = 1;
  std::vector<Chosen> chosen_;                                  // of the set at hand
  std::vector<std::uint32_t> indices_;                          // of the rows at hand
  std::vector<std::int64_t> picked_;                            // values of a group at hand
  std::vector<std::pair<std::uint64_t, std::int64_t>> ranked_;  // by their hashes
  bool has_lists_ = false;
};

}  // namespace shoal::engine
