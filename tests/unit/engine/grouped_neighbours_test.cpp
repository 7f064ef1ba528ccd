// Neighbouring tables: taking one unit away moves at most max_groups groups of a set, and each sum
// of a group by at most what the statistic says. Somewhere by exactly that, or a smaller bound
// would do. The seed is fixed.
#include "engine/grouped_rows.hpp"
#include "support/temporary_folder.hpp"
#include "unit/engine/grouped_reference.hpp"

#include <gtest/gtest.h>

#include <random>

namespace shoal::engine {
namespace {

using reference::Row;
using test::OpenGroup;
using test::OpenGroups;

class GroupedNeighbours : public testing::Test {
 protected:
  std::int64_t pick(unsigned n) { return static_cast<std::int64_t>(random_() % n); }

  template <typename Value>
  std::optional<Value> one_of(const std::vector<std::optional<Value>>& values) {
    return values[static_cast<std::size_t>(pick(static_cast<unsigned>(values.size())))];
  }

  std::vector<Row> any_rows() {
    std::vector<Row> rows(static_cast<std::size_t>(4 + pick(30)));
    // Mostly values at the ends, where a bound shows.
    const bool extreme = pick(2) == 0;
    for (Row& row : rows) {
      row.unit = pick(4);
      row.k0 = one_of<std::int64_t>({0, 1, 2, 3, std::nullopt});
      row.k1 = one_of<std::string>({"a", "b", std::nullopt});
      row.k2 = one_of<double>({0.0, -0.0, 1.5});
      row.v0 = extreme ? one_of<double>({1e300, -1e300}) : one_of<double>({0.3, 10, std::nullopt});
      row.v1 = extreme ? 20 : one_of<std::int64_t>({-3, 8, 20, std::nullopt});
      row.v2 = fmt::format("value {}", pick(40));
    }
    if (extreme) {
      // Each unit's values are all at one end.
      for (Row& row : rows) row.v0 = *row.unit % 2 == 0 ? 1e300 : -1e300;
    }
    return rows;
  }

  std::vector<OpenGroups> ask(const std::vector<Row>& rows, const GroupedRequest& request) {
    connection_.run(reference::create_table("t", rows, false));
    std::vector<OpenGroups> groups;
    for (const auto& one : aggregate_grouped_rows(connection_, feed_, "SELECT * FROM t ORDER BY u",
                                                  request, {1, 1 << 20}, log_))
      groups.push_back(test::open(one));
    return groups;
  }

  std::mt19937 random_{20260606};
  test::TemporaryFolder folder_{test::Place::memory};
  OwnerLog log_{folder_ / "log"};
  DuckdbConnection connection_;
  ChunkFeed feed_{connection_};
};

// How far apart two histograms are.
long long distance(const std::map<long long, long long>& a,
                   const std::map<long long, long long>& b) {
  std::map<long long, long long> difference = a;
  for (const auto& [step, count] : b) difference[step] -= count;
  long long sum = 0;
  for (const auto& [step, count] : difference) sum += std::abs(count);
  return sum;
}

struct Moves {
  std::vector<long long> groups;  // one a set
  std::vector<long long> sums;    // one a statistic that is an integer
  long long leaves = 0;
};

void note_moves(const std::vector<OpenGroups>& with, const std::vector<OpenGroups>& without,
                Moves& most) {
  for (std::size_t set = 0; set < with.size(); ++set) {
    std::map<catalog::Key, std::pair<OpenGroup, OpenGroup>> pairs;
    for (const auto& [key, group] : with[set]) pairs[key].first = group;
    for (const auto& [key, group] : without[set]) pairs[key].second = group;
    long long moved = 0;
    for (auto& [key, pair] : pairs) {
      moved += pair.first != pair.second;
      for (OpenGroup* group : {&pair.first, &pair.second}) {
        group->sums.resize(most.sums.size());
        group->leaves.resize(1);
      }
      for (std::size_t i = 0; i < most.sums.size(); ++i)
        most.sums[i] = std::max(most.sums[i], std::abs(pair.first.sums[i] - pair.second.sums[i]));
      most.leaves = std::max(most.leaves, distance(pair.first.leaves[0], pair.second.leaves[0]));
    }
    most.groups[set] = std::max(most.groups[set], moved);
  }
}

TEST_F(GroupedNeighbours, NeverMoveByMoreThanStatedAndSometimesByThat) {
  GroupedRequest request = reference::request_of({{{0}, 2}, {{1, 0}, 3}, {{}, 1}});
  request.rows_per_group = 2;
  request.distinct_per_group = 2;
  Moves most{{0, 0, 0}, std::vector<long long>(request.statistics.size() - 1), 0};
  for (int round = 0; round < 250; ++round) {
    const std::vector<Row> rows = any_rows();
    request.clustered = pick(2) == 0;
    const auto with = ask(rows, request);
    const std::int64_t leaver = pick(4);
    std::vector<Row> others;
    for (const Row& row : rows) {
      if (row.unit != leaver) others.push_back(row);
    }
    note_moves(with, ask(others, request), most);
  }
  EXPECT_EQ(most.groups, (std::vector<long long>{2, 3, 1}));
  EXPECT_EQ(most.leaves, request.rows_per_group);
  std::size_t at = 0;
  for (const catalog::Statistic& statistic : request.statistics) {
    if (statistic.kind == catalog::StatisticKind::leaves) continue;
    long long bound =
        request.rows_per_group * std::max(-statistic.least_per_row(), statistic.most_per_row());
    if (statistic.kind == catalog::StatisticKind::units) bound = 1;
    if (statistic.kind == catalog::StatisticKind::distinct) bound = request.distinct_per_group;
    EXPECT_EQ(most.sums[at], bound) << "statistic " << at;
    ++at;
  }
}

}  // namespace
}  // namespace shoal::engine
