// Gives each row of a block its group's number in every grouping set. In a set of one column that
// is the number of the column's value; in the others one thread's own, in the order of first sight.
#pragma once

#include "engine/group_keys.hpp"
#include "engine/key_columns.hpp"

#include <cstdint>
#include <vector>

namespace shoal::engine {

class KeyInterner {
 public:
  KeyInterner(const GroupShape& shape, KeyColumns& columns);

  // `numbers`: those of the rows' values, one array a key column. Points block.groups at them, or
  // at arrays of its own, which live until the next call.
  void number_groups(const std::vector<const GroupNumber*>& numbers, RowBlock& block);

  const std::vector<GroupKeys>& keys() const { return keys_; }

 private:
  void know_column(std::size_t set);
  void number_several(std::size_t set, const std::vector<const GroupNumber*>& numbers,
                      std::size_t rows);
  void add_new_keys(std::size_t set);

  // The last tuple of two columns seen at a place.
  struct Recent {
    std::uint64_t pair = 0;
    GroupNumber number = 0;
  };

  const GroupShape& shape_;
  KeyColumns& columns_;
  std::vector<WordInterner> interners_;        // one a set
  std::vector<std::vector<Recent>> recent_;    // one a set
  std::vector<std::vector<GroupNumber>> own_;  // one a set
  std::vector<GroupKeys> keys_;                // one a set
};

}  // namespace shoal::engine
