// Streams of rows ordered by unit, chunk by chunk: units that go on in another chunk, on another
// thread too, are one unit; any that might have been cut in two unseen is refused.
#include "engine/clustered_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace shoal::engine {
namespace {

// A chunk of integer units, all rows in one group.
class UnitChunk {
 public:
  explicit UnitChunk(const std::vector<std::int64_t>& units) {
    duckdb_logical_type type = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
    chunk_ = duckdb_create_data_chunk(&type, 1);
    duckdb_destroy_logical_type(&type);
    auto* data =
        static_cast<std::int64_t*>(duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk_, 0)));
    std::copy(units.begin(), units.end(), data);
    duckdb_data_chunk_set_size(chunk_, units.size());
  }
  UnitChunk(const UnitChunk&) = delete;
  UnitChunk& operator=(const UnitChunk&) = delete;
  ~UnitChunk() { duckdb_destroy_data_chunk(&chunk_); }
  duckdb_data_chunk get() const { return chunk_; }

 private:
  duckdb_data_chunk chunk_;
};

using Chunks = std::vector<std::vector<std::int64_t>>;

GroupedRequest request_of(std::int64_t rows_per_group) {
  GroupedRequest request;
  request.has_unit = true;
  request.sets = {{{}, 1}};
  request.statistics = {{catalog::StatisticKind::rows, 0, "", {}}};
  request.rows_per_group = rows_per_group;
  return request;
}

struct Counted {
  std::int64_t units;
  std::int64_t rows;
  bool operator==(const Counted&) const = default;
};

// Each list of chunks comes on a thread of its own, one after the other; all of them live until the
// last is done, so that no two are the same.
Counted count(const std::vector<Chunks>& lists) {
  const GroupShape shape(request_of(2));
  const std::vector<Storage> storages{Storage::bits64};
  KeyColumns keys(shape, {});
  ClusteredRows rows(shape, storages, keys);
  std::atomic<bool> refused = false;
  std::atomic<std::size_t> turn = 0;
  std::vector<std::thread> threads;
  for (std::size_t own = 0; own < lists.size(); ++own) {
    threads.emplace_back([&, own] {
      while (turn != own) std::this_thread::yield();
      try {
        for (const auto& units : lists[own]) rows.take(UnitChunk(units).get());
      } catch (const NotClustered&) {
        refused = true;
      }
      ++turn;
      while (turn < lists.size()) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (refused) throw NotClustered();
  GroupedSums sums(shape);
  rows.add_to(sums);
  const auto groups = sums.tables[0].groups(sums.keys[0].keys(), {});
  if (groups.empty()) return {0, 0};
  return {groups[0].units, static_cast<std::int64_t>(groups[0].sums[0])};
}

TEST(ClusteredRows, UnitsGoOnFromChunkToChunkAndFromThreadToThread) {
  EXPECT_EQ(count({}), (Counted{0, 0}));
  EXPECT_EQ(count({{{}}}), (Counted{0, 0}));
  EXPECT_EQ(count({{{1, 1, 1, 2, 3}}}), (Counted{3, 4}));
  EXPECT_EQ(count({{{1, 2}, {2, 2}, {2, 3}}}), (Counted{3, 4}));
  EXPECT_EQ(count({{{1, 2}, {3, 4}}, {{2, 3}}}), (Counted{4, 6}));
  EXPECT_EQ(count({{{5}, {5}}, {{5}}, {{5, 6}}}), (Counted{2, 3}));
  EXPECT_EQ(count({{{1, 1, 4}}, {{4, 4, 9}}, {{4}}}), (Counted{3, 5}));
}

TEST(ClusteredRows, FallingUnitsAreRefused) {
  EXPECT_THROW(count({{{2, 1}}}), NotClustered);
  EXPECT_THROW(count({{{1, 3, 2, 4}}}), NotClustered);
  EXPECT_THROW(count({{{1, 2}, {1}}}), NotClustered);
}

TEST(ClusteredRows, AUnitThatAnotherThreadMayHaveFinishedIsRefused) {
  EXPECT_THROW(count({{{1, 2, 3}}, {{2}}}), NotClustered);
  EXPECT_THROW(count({{{2}}, {{1, 2, 3}}}), NotClustered);
  EXPECT_THROW(count({{{1, 2, 3}}, {{1, 2}}}), NotClustered);
  EXPECT_THROW(count({{{1, 2, 3}}, {{2, 3}}}), NotClustered);
  EXPECT_THROW(count({{{1, 5}}, {{2, 6}}}), NotClustered);
  EXPECT_THROW(count({{{1, 9}}, {{3, 4}}, {{9, 10}}}), NotClustered);
}

}  // namespace
}  // namespace shoal::engine
