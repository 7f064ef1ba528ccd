// Rows in any order: each goes to one of many partitions by its unit; then, partition by partition,
// the rows are brought together unit by unit and bounded. Partitions beyond the memory limit go to
// a temporary file.
//
// A row in a partition is a number of 64-bit words: the unit (a text's hash), the first set's group
// and the mask of values that are not NULL, the other sets' groups two a word, the values, and of a
// text unit its length and its bytes. Packed, the value is in the place of the mask (ValuePacker).
#pragma once

#include "engine/clustered_rows.hpp"
#include "engine/row_memory.hpp"
#include "engine/value_packer.hpp"

#include <shoal/base/spill_file.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace shoal::engine {

class PartitionedRows {
 public:
  PartitionedRows(const GroupShape& shape, const std::vector<Storage>& storages, KeyColumns& keys,
                  std::uint64_t memory_limit);
  ~PartitionedRows();

  // On several threads at once. Throws io.
  void take(duckdb_data_chunk chunk);
  // After the last one: bounds every unit, on `threads` threads. Throws io.
  void add_to(GroupedSums& sums, unsigned threads);

  std::uint64_t spilled_bytes() const { return spilled_; }

 private:
  static constexpr std::size_t kPartitions = 512;

  struct Lane;
  class Partition;
  using Numbers = std::vector<std::vector<std::vector<GroupNumber>>>;  // by lane, by set, by group

  // Some rows of one lane: in memory, or in the file.
  struct Piece {
    std::size_t lane = 0;
    std::size_t words = 0;  // in use
    std::size_t rows = 0;
    std::uint64_t* memory = nullptr;
    std::size_t room = 0;  // words at `memory`
    std::uint64_t offset = 0;
  };
  struct Pieces {
    std::mutex mutex;
    std::vector<Piece> list;
  };

  void store(std::size_t partition, Piece piece);
  void make_room(Lane& lane, std::size_t partition, std::size_t words);
  void scatter(Lane& lane, const RowBlock& block);
  void scatter_texts(Lane& lane, const RowBlock& block);
  const std::uint32_t* pack_values(Lane& lane, const RowBlock& block) const;
  // `codes`: of packed values, else null.
  std::uint64_t* write_fixed(std::uint64_t* to, std::uint64_t unit, const RowBlock& block,
                             std::size_t row, const std::uint32_t* codes) const;

  const GroupShape& shape_;
  const std::vector<Storage>& storages_;
  bool text_;
  bool packed_;
  std::size_t fixed_words_;  // of a row, without a text unit
  std::uint64_t memory_limit_;
  std::atomic<std::uint64_t> in_memory_ = 0;
  std::atomic<std::uint64_t> spilled_ = 0;
  std::atomic<std::size_t> lane_count_ = 0;
  RowMemory memory_;
  std::array<Pieces, kPartitions> pieces_;
  SpillFile file_;
  PerThread<Lane> lanes_;
};

}  // namespace shoal::engine
