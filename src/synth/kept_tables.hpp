// Tables that were worked out, kept as long as there is room for them: of those that there is no
// room for, the ones that were not asked for the longest go. Whoever still holds one goes on with
// it.
#pragma once

#include "synth/contraction.hpp"

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <utility>

namespace shoal::synth {

class KeptTables {
 public:
  using Key = std::pair<std::size_t, data::AttributeSet>;  // a clique, and columns
  using Table = std::shared_ptr<const ColumnTable>;

  explicit KeptTables(std::size_t max_cells) : max_cells_(max_cells) {}

  // None if it is not there.
  Table find(const Key& key);
  // One that was not there. It is kept unless it alone is larger than the room.
  Table keep(const Key& key, ColumnTable table);

  std::size_t cells() const { return cells_; }

 private:
  using Entry = std::pair<Key, Table>;

  std::size_t max_cells_;
  std::size_t cells_ = 0;
  std::list<Entry> by_use_;  // the last one asked for comes first
  std::map<Key, std::list<Entry>::iterator> places_;
};

}  // namespace shoal::synth
