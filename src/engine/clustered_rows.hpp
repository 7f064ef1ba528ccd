// Rows that come ordered by unit: each thread bounds the units of its chunks as they pass.
//
// Nothing is believed of the order. In a chunk, units must not fall; the first and the last unit of
// a chunk may go on elsewhere and wait as parts; the others are complete if no other chunk reaches
// past them, which is checked at the end over all chunks. Otherwise everything is thrown away.
#pragma once

#include "engine/chunk_reader.hpp"
#include "engine/per_thread.hpp"
#include "engine/unit_bounder.hpp"

#include <memory>
#include <string>
#include <vector>

namespace shoal::engine {

// The rows did not come ordered by unit.
class NotClustered {};

struct UnitName {
  std::int64_t number = 0;
  std::string text = {};
  auto operator<=>(const UnitName&) const = default;
};

// Keys and sums of all threads, one a grouping set.
struct GroupedSums {
  explicit GroupedSums(const GroupShape& shape);
  std::vector<KeyIndex> keys;
  std::vector<GroupTable> tables;
  std::vector<const GroupKeys*> key_lists() const;
};

class ClusteredRows {
 public:
  ClusteredRows(const GroupShape& shape, const std::vector<Storage>& storages, KeyColumns& keys);

  ~ClusteredRows();

  // On several threads at once. Throws NotClustered.
  void take(duckdb_data_chunk chunk);
  // After the last one. Throws NotClustered.
  void add_to(GroupedSums& sums);

 private:
  struct Lane;
  const GroupShape& shape_;
  const std::vector<Storage>& storages_;
  PerThread<Lane> lanes_;
};

}  // namespace shoal::engine
