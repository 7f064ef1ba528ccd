// Bounding inside PostgreSQL: the integers of the native operator wherever no hash decides, the
// hash's own choice where it does, and neighbouring tables that differ by no more than stated.
#include "engine/bounded_sql.hpp"
#include "engine/duckdb_connection.hpp"
#include "engine/grouped_rows.hpp"
#include "engine/postgres_connection.hpp"
#include "unit/engine/any_row.hpp"
#include "unit/engine/postgres_fixture.hpp"

#include <shoal/base/digest.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

namespace shoal::engine {
namespace {

using catalog::Statistic;
using catalog::StatisticKind;
using reference::any_row;
using reference::Row;
using test::OpenGroup;
using test::OpenGroups;

constexpr std::int64_t kMany = 1000;

// What the embedded engine makes of the rows.
class Native {
 public:
  Native() : feed_(connection_) {}

  std::vector<OpenGroups> ask(const std::vector<Row>& rows, const GroupedRequest& request,
                              bool text_units) {
    connection_.run(reference::create_table("t", rows, text_units));
    std::vector<OpenGroups> groups;
    for (const auto& one : aggregate_grouped_rows(
             connection_, feed_,
             request.has_unit ? "SELECT * FROM t" : "SELECT * EXCLUDE (u) FROM t", request,
             {1, std::uint64_t{1} << 30}, log_))
      groups.push_back(test::open(one));
    return groups;
  }

 private:
  test::TemporaryFolder folder_{test::Place::memory};
  OwnerLog log_{folder_ / "log"};
  DuckdbConnection connection_;
  ChunkFeed feed_;
};

std::vector<Row> any_rows() {
  return *rc::gen::scale(3.0, rc::gen::container<std::vector<Row>>(any_row()));
}

// Every set, every statistic; each unit may be in every group.
GroupedRequest roomy_request() {
  GroupedRequest request =
      reference::request_of({{{0}, kMany}, {{1, 2}, kMany}, {{}, 1}, {{2, 1, 0}, kMany}});
  request.rows_per_group = kMany;
  request.distinct_per_group = kMany;
  request.min_units = *rc::gen::inRange<std::int64_t>(1, 4);
  return request;
}

RC_GTEST_PROP(PostgresBounding, GivesTheNativeIntegersWhereNoHashDecides, ()) {
  static Native native;
  const bool text_units = *rc::gen::arbitrary<bool>();
  static test::PostgresRows numbers(false);
  const auto rows = any_rows();
  GroupedRequest request = roomy_request();
  numbers.fill(rows);
  RC_ASSERT(numbers.ask(request) == native.ask(rows, request, text_units));
  // Scaled down, which no hash decides either; the choice among single values does.
  request.rows_per_group = *rc::gen::inRange<std::int64_t>(1, 4);
  std::erase_if(request.statistics,
                [](const Statistic& one) { return one.kind == StatisticKind::leaves; });
  RC_ASSERT(numbers.ask(request) == native.ask(rows, request, text_units));
}

RC_GTEST_PROP(PostgresBounding, TakesRowsAsUnits, ()) {
  static Native native;
  static test::PostgresRows table(false);
  const auto rows = any_rows();
  GroupedRequest request = roomy_request();
  request.has_unit = false;
  request.rows_per_group = 1;
  table.fill(rows);
  RC_ASSERT(table.ask(request) == native.ask(rows, request, false));
}

TEST(PostgresBounding, TakesTextsAsUnits) {
  Native native;
  test::PostgresRows table(true);
  std::vector<Row> rows;
  for (int i = 0; i < 200; ++i) {
    Row& row = rows.emplace_back();
    if (i % 9 != 0) row.unit = i % 7;
    row.k0 = i % 4;
    row.v0 = i * 0.3 - 5;
  }
  GroupedRequest request = reference::request_of({{{0}, kMany}, {{}, 1}});
  request.rows_per_group = 2;
  std::erase_if(request.statistics,
                [](const Statistic& one) { return one.kind == StatisticKind::leaves; });
  request.distinct_per_group = kMany;
  table.fill(rows);
  EXPECT_EQ(table.ask(request), native.ask(rows, request, true));
}

// The groups of a unit that count, worked out from the hash as the header describes it.
TEST(PostgresBounding, KeepsTheGroupsWithTheSmallestHashes) {
  test::PostgresRows table(false);
  std::vector<Row> rows;
  for (std::int64_t unit = 0; unit < 40; ++unit) {
    for (std::int64_t key = 0; key < 9; ++key) {
      Row& row = rows.emplace_back();
      row.unit = unit;
      row.k0 = key;
    }
  }
  table.fill(rows);
  for (const std::uint64_t secret : {1u, 2u}) {
    GroupedRequest request = reference::request_of({{{1}, 1}, {{0}, 3}});
    request.hash_key = {secret, 0xfedcba9876543210};
    std::map<std::int64_t, long long> expected;
    for (std::int64_t unit = 0; unit < 40; ++unit) {
      std::vector<std::pair<Digest, std::int64_t>> order;
      for (std::int64_t key = 0; key < 9; ++key) {
        std::string bytes;
        for (const std::uint64_t word : request.hash_key) {
          for (int shift = 56; shift >= 0; shift -= 8)
            bytes += static_cast<char>(static_cast<unsigned char>(word >> shift));
        }
        order.emplace_back(sha256(bytes + fmt::format("(0,1,{},{})", unit, key)), key);
      }
      std::sort(order.begin(), order.end());
      for (int i = 0; i < 3; ++i) ++expected[order[static_cast<std::size_t>(i)].second];
    }
    const OpenGroups groups = table.ask(request).at(1);
    EXPECT_EQ(groups.size(), expected.size());
    for (const auto& [key, units] : expected) {
      const auto found = groups.find({std::to_string(key)});
      ASSERT_NE(found, groups.end());
      EXPECT_EQ(found->second.units, units) << secret << " " << key;
    }
  }
}

long long leaf_distance(const OpenGroup& a, const OpenGroup& b, std::size_t index) {
  std::map<long long, long long> difference;
  for (const auto& [step, count] : a.leaves.at(index)) difference[step] += count;
  for (const auto& [step, count] : b.leaves.at(index)) difference[step] -= count;
  long long distance = 0;
  for (const auto& [step, count] : difference) distance += std::abs(count);
  return distance;
}

// How far one unit may move a statistic of a group.
long long most_of(const GroupedRequest& request, const Statistic& statistic) {
  switch (statistic.kind) {
    case StatisticKind::units:
      return 1;
    case StatisticKind::distinct:
      return request.distinct_per_group;
    default:
      return request.rows_per_group *
             std::max(-statistic.least_per_row(), statistic.most_per_row());
  }
}

void check_group(const GroupedRequest& request, const OpenGroup& with, const OpenGroup& without) {
  std::size_t at = 0;
  std::size_t leaf = 0;
  for (const Statistic& statistic : request.statistics) {
    if (statistic.kind == StatisticKind::leaves) {
      RC_ASSERT(leaf_distance(with, without, leaf++) <= request.rows_per_group);
      continue;
    }
    RC_ASSERT(std::abs(with.sums.at(at) - without.sums.at(at)) <= most_of(request, statistic));
    ++at;
  }
}

OpenGroup empty_group(const GroupedRequest& request) {
  OpenGroup group;
  for (const Statistic& statistic : request.statistics) {
    if (statistic.kind == StatisticKind::leaves) group.leaves.emplace_back();
    if (statistic.kind != StatisticKind::leaves) group.sums.push_back(0);
  }
  return group;
}

RC_GTEST_PROP(PostgresBounding, OneUnitMovesFewGroupsAndEachByLittle, ()) {
  static test::PostgresRows table(false);
  const auto rows = any_rows();
  GroupedRequest request = reference::request_of({{{0}, *rc::gen::inRange<std::int64_t>(1, 4)},
                                                  {{1, 2}, *rc::gen::inRange<std::int64_t>(1, 3)},
                                                  {{}, 1}});
  request.rows_per_group = *rc::gen::inRange<std::int64_t>(1, 4);
  request.distinct_per_group = *rc::gen::inRange<std::int64_t>(1, 3);
  std::vector<Row> fewer = rows;
  const auto leaver = *rc::gen::inRange<std::int64_t>(0, 6);
  std::erase_if(fewer, [&](const Row& row) { return row.unit == leaver; });
  table.fill(rows);
  const auto with = table.ask(request);
  table.fill(fewer);
  const auto without = table.ask(request);
  for (std::size_t set = 0; set < request.sets.size(); ++set) {
    std::int64_t changed = 0;
    OpenGroups all = with[set];
    all.insert(without[set].begin(), without[set].end());
    for (const auto& [key, group] : all) {
      const auto a = with[set].find(key);
      const auto b = without[set].find(key);
      const OpenGroup first = a == with[set].end() ? empty_group(request) : a->second;
      const OpenGroup second = b == without[set].end() ? empty_group(request) : b->second;
      changed += first == second ? 0 : 1;
      check_group(request, first, second);
    }
    RC_ASSERT(changed <= request.sets[set].max_groups);
  }
}

// Every unit is in more groups, with more rows and values, than may count, and each bound is
// attained: a bound that were looser than asked for would show.
TEST(PostgresBounding, FillsEveryBoundAndNoMore) {
  test::PostgresRows table(false);
  std::vector<Row> rows;
  for (std::int64_t key = 0; key < 8; ++key) {
    for (int i = 0; i < 12; ++i) {
      Row& row = rows.emplace_back();
      row.unit = 1;
      row.k0 = key;
      row.v0 = i % 2 == 0 ? 10.0 : 9.0;
      row.v1 = 20;
      row.v2 = fmt::format("text {}", i);
    }
  }
  table.fill(rows);
  GroupedRequest request = reference::request_of({{{0}, 3}});
  request.rows_per_group = 5;
  request.distinct_per_group = 2;
  const OpenGroups groups = table.ask(request).at(0);
  EXPECT_EQ(groups.size(), 3u);
  for (const auto& [key, group] : groups) {
    EXPECT_EQ(group.units, 1);
    // units, rows, values, sum 5 * 38, centred, distinct, squares, values, sum, distinct, values.
    const long long middle = reference::kRange0.middle();
    const long long centred = 20 - reference::kRange1.middle();
    const std::vector<long long> sums{1,
                                      5,
                                      5,
                                      190,
                                      190 - 5 * middle,
                                      2,
                                      5 * (centred * centred - square_offset(reference::kRange1)),
                                      5,
                                      100,
                                      1,
                                      5};
    EXPECT_EQ(group.sums, sums);
    long long leaves = 0;
    for (const auto& [step, count] : group.leaves.at(0)) {
      EXPECT_TRUE(step == 36 || step == 40);
      leaves += count;
    }
    EXPECT_EQ(leaves, 5);
  }
}

// Steps lie within their range before they are added up. If ever they did not, the clamp of each
// unit's sum, which the bound rests on, would hold it all the same.
TEST(PostgresBounding, ClampsWhatAUnitAddsWhateverItsSteps) {
  test::PostgresServer::instance();
  PostgresConnection connection;
  GroupedRequest request = reference::request_of({{{}, 1}});
  request.rows_per_group = 2;
  request.statistics = {{StatisticKind::plain_sum, 0, "v0", reference::kRange0},
                        {StatisticKind::centred_squares, 1, "v1", reference::kRange1}};
  const GroupShape shape(request);
  const std::string typed =
      "typed AS (SELECT * FROM (VALUES (CAST(7 AS BIGINT), CAST(1000000 AS BIGINT), CAST(5000 AS "
      "BIGINT), CAST('x' AS TEXT))) AS t(u, v0, v1, v2))";
  for (const bool has_unit : {true, false}) {
    const std::vector<std::string> secret(has_unit ? 1 : 0, "\\x00");
    std::size_t rows = 0;
    connection.rows(
        BoundedSql(shape, has_unit, typed).integers(0), secret, [&](const PostgresRow& row) {
          ++rows;
          EXPECT_EQ(row.at(1), std::to_string(2 * request.statistics[0].most_per_row()));
          EXPECT_EQ(row.at(2), std::to_string(2 * request.statistics[1].most_per_row()));
        });
    EXPECT_EQ(rows, 1u);
  }
}

}  // namespace
}  // namespace shoal::engine
