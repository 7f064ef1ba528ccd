// Grouped requests: every way through the engine gives what the naive reference gives, on random
// tables with NULLs, NaN, infinities, texts and several grouping sets.
#include "engine/grouped_rows.hpp"

#include "support/temporary_folder.hpp"
#include "unit/engine/any_row.hpp"
#include "unit/engine/grouped_reference.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <random>

namespace shoal::engine {
namespace {

using reference::any_row;
using reference::Row;
using test::OpenGroups;

const Resources kRoomy{2, std::uint64_t{1} << 30};
const Resources kTiny{2, 1};

class Database {
 public:
  explicit Database(int threads = 2) : feed_(connection_) {
    connection_.run(fmt::format("SET threads = {}", threads));
  }

  std::vector<OpenGroups> ask(const std::string& rows, const GroupedRequest& request,
                              const Resources& resources) {
    std::vector<OpenGroups> groups;
    for (const auto& one :
         aggregate_grouped_rows(connection_, feed_, rows, request, resources, log_))
      groups.push_back(test::open(one));
    return groups;
  }

  DuckdbConnection& connection() { return connection_; }
  bool failed_over() const { return std::filesystem::exists(log_.path()); }

 private:
  test::TemporaryFolder folder_{test::Place::memory};
  OwnerLog log_{folder_ / "log"};
  DuckdbConnection connection_;
  ChunkFeed feed_;
};

GroupedRequest any_request() {
  GroupedRequest request = reference::request_of({{{0}, *rc::gen::inRange<std::int64_t>(1, 5)},
                                                  {{1, 2}, *rc::gen::inRange<std::int64_t>(1, 4)},
                                                  {{}, 1},
                                                  {{2, 1, 0}, 2},
                                                  {{1}, 1}});
  // Without statistics that need lists, another way is taken.
  if (*rc::gen::arbitrary<bool>()) {
    std::erase_if(request.statistics, [](const catalog::Statistic& statistic) {
      return statistic.kind == catalog::StatisticKind::leaves ||
             statistic.kind == catalog::StatisticKind::distinct;
    });
  }
  request.rows_per_group = *rc::gen::inRange<std::int64_t>(1, 4);
  request.distinct_per_group = *rc::gen::inRange<std::int64_t>(1, 3);
  request.min_units = *rc::gen::inRange<std::int64_t>(1, 3);
  return request;
}

RC_GTEST_PROP(GroupedRows, EveryPathGivesWhatTheReferenceGives, ()) {
  static Database database;
  const auto rows = *rc::gen::scale(3.0, rc::gen::container<std::vector<Row>>(any_row()));
  const bool text_units = *rc::gen::arbitrary<bool>();
  GroupedRequest request = any_request();
  const auto expected = reference::answer(request, rows, text_units);
  database.connection().run(reference::create_table("t", rows, text_units));
  RC_ASSERT(database.ask("SELECT * FROM t", request, kRoomy) == expected);
  RC_ASSERT(database.ask("SELECT * FROM t", request, kTiny) == expected);
  request.clustered = true;
  RC_ASSERT(database.ask("SELECT * FROM t ORDER BY u", request, kRoomy) == expected);
  RC_ASSERT(database.ask("SELECT * FROM t", request, kRoomy) == expected);
}

// Rows of one grouping set and one value wait in another form.
RC_GTEST_PROP(GroupedRows, OneSetOfOneValueGivesWhatTheReferenceGives, ()) {
  static Database database;
  const auto rows = *rc::gen::scale(3.0, rc::gen::container<std::vector<Row>>(any_row()));
  const bool text_units = *rc::gen::arbitrary<bool>();
  const auto value = *rc::gen::inRange<std::size_t>(0, 3);
  GroupedRequest request = any_request();
  request.sets = {request.sets[*rc::gen::inRange<std::size_t>(0, 3)]};
  std::erase_if(request.statistics, [&](const catalog::Statistic& statistic) {
    return statistic.kind != catalog::StatisticKind::units &&
           statistic.kind != catalog::StatisticKind::rows && statistic.value != value;
  });
  const auto expected = reference::answer(request, rows, text_units);
  request.values = {request.values[value]};
  for (catalog::Statistic& statistic : request.statistics) statistic.value = 0;
  database.connection().run(reference::create_table("o", rows, text_units));
  const std::string all = fmt::format("SELECT u, k0, k1, k2, v{} AS v0 FROM o", value);
  RC_ASSERT(database.ask(all, request, kRoomy) == expected);
  RC_ASSERT(database.ask(all, request, kTiny) == expected);
}

// A Parquet file keeps columns as dictionaries, NULL an entry of them, and so does the way from it.
RC_GTEST_PROP(GroupedRows, FilesWithDictionariesGiveWhatTheReferenceGives, ()) {
  static Database database;
  static test::TemporaryFolder folder{test::Place::memory};
  auto rows = *rc::gen::scale(3.0, rc::gen::container<std::vector<Row>>(any_row()));
  // Often enough for a dictionary to be worth it.
  const std::size_t once = rows.size();
  for (std::size_t i = 0; i < 4 * once; ++i) rows.push_back(rows[i]);
  const bool text_units = *rc::gen::arbitrary<bool>();
  GroupedRequest request = any_request();
  database.connection().run(reference::create_table("d", rows, text_units));
  const std::string file = (folder / "d.parquet").string();
  database.connection().run(
      fmt::format("COPY (SELECT * FROM d ORDER BY u) TO '{}' (FORMAT parquet)", file));
  const std::string all = fmt::format("SELECT * FROM read_parquet('{}')", file);
  const auto expected = reference::answer(request, rows, text_units);
  RC_ASSERT(database.ask(all, request, kRoomy) == expected);
  request.clustered = true;
  RC_ASSERT(database.ask(all, request, kRoomy) == expected);
  // Entries of a dictionary that no row has any more are no groups.
  std::erase_if(rows, [](const Row& row) { return !row.v1 || *row.v1 <= 3; });
  RC_ASSERT(database.ask(all + " WHERE v1 > 3", request, kRoomy) ==
            reference::answer(request, rows, text_units));
}

RC_GTEST_PROP(GroupedRows, RowsAsUnitsAreBoundedOneByOne, ()) {
  static Database database;
  auto rows = *rc::gen::scale(3.0, rc::gen::container<std::vector<Row>>(any_row()));
  GroupedRequest request = any_request();
  request.sets.erase(request.sets.begin() + 3, request.sets.end());
  request.rows_per_group = 1;
  // A person a row is the same thing.
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].unit = static_cast<std::int64_t>(i);
  const auto expected = reference::answer(request, rows, false);
  database.connection().run(reference::create_table("t", rows, false));
  request.has_unit = false;
  RC_ASSERT(database.ask("SELECT * EXCLUDE (u) FROM t", request, kRoomy) == expected);
}

// Units with all rows in one group, whose values come in no order and more than once: with every
// choice of two statistics, so that what one needs is not there because of another.
TEST(GroupedRows, UnitsOfOneGroupGiveWhatTheReferenceGives) {
  Database database;
  std::mt19937 random(11);
  const auto pick = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  std::vector<Row> rows;
  for (int unit = 0; unit < 300; ++unit) {
    for (std::int64_t left = 1 + pick(6); left > 0; --left) {
      Row& row = rows.emplace_back();
      row.unit = unit;
      row.k0 = unit % 3;
      if (pick(8) > 0) row.v0 = static_cast<double>(pick(3)) / 2;
      row.v1 = pick(3);
      row.v2 = fmt::format("{} {}", unit, pick(3));  // no other unit has these
    }
  }
  database.connection().run(reference::create_table("t", rows, false));
  GroupedRequest request = reference::request_of({{{0}, 2}, {{}, 1}});
  request.rows_per_group = 4;
  request.distinct_per_group = 2;
  const std::vector<catalog::Statistic> all = request.statistics;
  for (std::size_t one = 0; one < all.size(); ++one) {
    for (std::size_t other = one + 1; other < all.size(); ++other) {
      request.statistics = {all[one], all[other]};
      EXPECT_EQ(database.ask("SELECT * FROM t", request, kRoomy),
                reference::answer(request, rows, false))
          << one << ' ' << other;
    }
  }
}

// Enough rows for several threads, in DuckDB's own parts: a heavy unit that fills many of them.
class ManyRows : public testing::Test {
 protected:
  static constexpr int kRows = 260'000;

  void SetUp() override {
    std::mt19937 random(7);
    const auto pick = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
    std::vector<std::string> texts{"red", "green", "blue", "a colour with a long name"};
    for (int i = 0; i < kRows; ++i) {
      Row& row = rows_.emplace_back();
      row.unit = pick(3) == 0 ? 500 : pick(30'000);
      row.k0 = pick(40);
      row.k1 = texts[static_cast<std::size_t>(pick(4))];
      row.k2 = static_cast<double>(pick(3)) / 2;
      row.v0 = static_cast<double>(pick(200)) / 8 - 8;
      row.v1 = pick(30);
      row.v2 = texts[static_cast<std::size_t>(pick(4))];
    }
    request_ = reference::request_of({{{0}, 3}, {{0, 1}, 5}, {{}, 1}});
    request_.rows_per_group = 10;
    request_.distinct_per_group = 2;
    expected_ = reference::answer(request_, rows_, false);
  }

  // Through a file: DuckDB takes very long over so many VALUES.
  void fill(Database& database) {
    const std::filesystem::path file = folder_ / "rows.csv";
    if (!std::filesystem::exists(file)) {
      std::string text = "u,k0,k1,k2,v0,v1,v2\n";
      for (const Row& row : rows_) {
        text += fmt::format("{},{},{},{},{},{},{}\n", *row.unit, *row.k0, *row.k1, *row.k2, *row.v0,
                            *row.v1, *row.v2);
      }
      write_file_durably(file, text, IfExists::refuse);
    }
    database.connection().run(fmt::format(
        "CREATE TABLE t AS SELECT * FROM read_csv('{}', header = true, columns = {{u: 'BIGINT', "
        "k0: "
        "'INTEGER', k1: 'VARCHAR', k2: 'DOUBLE', v0: 'DOUBLE', v1: 'BIGINT', v2: 'VARCHAR'}})",
        file.string()));
    database.connection().run("CREATE TABLE s AS SELECT * FROM t ORDER BY u");
  }

  test::TemporaryFolder folder_{test::Place::memory};
  std::vector<Row> rows_;
  GroupedRequest request_;
  std::vector<OpenGroups> expected_;
};

TEST_F(ManyRows, ThreadsAndMemoryAndOrderDoNotMatter) {
  GroupedRequest sums = request_;
  sums.statistics = {request_.statistics[1], request_.statistics[5], request_.statistics[7]};
  const auto expected_sums = reference::answer(sums, rows_, false);
  for (const int threads : {1, 2, 4}) {
    sums.clustered = true;
    Database database(threads);
    fill(database);
    request_.clustered = false;
    EXPECT_EQ(database.ask("SELECT * FROM t", request_, kRoomy), expected_) << threads;
    EXPECT_EQ(database.ask("SELECT * FROM t", request_, {3, 1 << 20}), expected_) << threads;
    request_.clustered = true;
    EXPECT_EQ(database.ask("SELECT * FROM s", request_, kRoomy), expected_) << threads;
    EXPECT_FALSE(database.failed_over()) << threads;
    EXPECT_EQ(database.ask("SELECT * FROM t", request_, kRoomy), expected_) << threads;
    EXPECT_TRUE(database.failed_over()) << threads;
    EXPECT_EQ(database.ask("SELECT * FROM s", sums, kRoomy), expected_sums) << threads;
    sums.clustered = false;
    EXPECT_EQ(database.ask("SELECT * FROM t", sums, kRoomy), expected_sums) << threads;
  }
}

// The partition of the heavy unit is dealt out once more, and holds other units too.
TEST_F(ManyRows, TextsAreUnitsToo) {
  const auto expected = reference::answer(request_, rows_, true);
  Database database(2);
  fill(database);
  const std::string texts = "SELECT 'p' || u AS u, * EXCLUDE (u) FROM t";
  EXPECT_EQ(database.ask(texts, request_, kRoomy), expected);
  EXPECT_EQ(database.ask(texts, request_, {3, 1 << 20}), expected);
}

TEST_F(ManyRows, AUnitThatComesBackIsStillOneUnit) {
  for (const int threads : {1, 2}) {
    Database database(threads);
    fill(database);
    // Unit 500 once more, at the end, and in front of everything.
    rows_.push_back(rows_.front());
    rows_.back().unit = 500;
    const auto expected = reference::answer(request_, rows_, false);
    database.connection().run(reference::create_table("part", {rows_.back()}, false));
    request_.clustered = true;
    for (const char* sql : {"SELECT * FROM s UNION ALL SELECT * FROM part",
                            "SELECT * FROM part UNION ALL SELECT * FROM s"}) {
      EXPECT_EQ(database.ask(sql, request_, kRoomy), expected) << sql;
    }
    EXPECT_TRUE(database.failed_over());
    rows_.pop_back();
  }
}

TEST(GroupedFailures, AreTheDatabasesOwn) {
  Database database;
  database.connection().run("CREATE TABLE t AS SELECT 1 AS u, 'x' AS k");
  GroupedRequest request;
  request.has_unit = true;
  request.keys = {KeyType::integer};
  request.sets = {{{0}, 1}};
  request.statistics = {{}};
  EXPECT_THROW(database.ask("SELECT u, CAST(k AS INTEGER) AS k0 FROM t", request, kRoomy),
               DuckdbFailure);
  EXPECT_THROW(database.ask("SELECT u, k AS another FROM t", request, kRoomy), Error);
  // The connection is as good as before.
  EXPECT_EQ(database.ask("SELECT u, 7 AS k0 FROM t", request, kRoomy).at(0).size(), 1u);
}

TEST(GroupedKeys, HaveTheirOwnNotation) {
  Database database;
  GroupedRequest request;
  request.has_unit = true;
  request.keys = {KeyType::integer, KeyType::real,      KeyType::text, KeyType::boolean,
                  KeyType::date,    KeyType::timestamp, KeyType::real};
  request.sets = {{{0, 1, 2, 3, 4, 5, 6}, 10}};
  request.statistics = {{}};
  const std::string rows =
      "SELECT 'p' AS u, -42 AS k0, 0.1::DOUBLE AS k1, 'it''s' AS k2, true AS k3, DATE '1969-12-31' "
      "AS k4, TIMESTAMP '1969-12-31 23:59:59.5' AS k5, 3::DOUBLE AS k6 UNION ALL SELECT 'p', "
      "9223372036854775807, '-inf', '', false, DATE '2024-02-29', TIMESTAMP '2024-01-31 23:59:59', "
      "'nan'";
  const auto groups = database.ask(rows, request, kRoomy).at(0);
  const catalog::Key first{"-42", "0.1", "it's", "true", "1969-12-31", "1969-12-31 23:59:59.5",
                           "3"};
  const catalog::Key second{"9223372036854775807", "-inf",      "", "false", "2024-02-29",
                            "2024-01-31 23:59:59", std::nullopt};
  EXPECT_EQ(groups.size(), 2u);
  EXPECT_TRUE(groups.contains(first));
  EXPECT_TRUE(groups.contains(second));
  request.has_unit = false;
  const auto single =
      database.ask("SELECT * EXCLUDE (u) FROM (" + rows + ")", request, kRoomy).at(0);
  EXPECT_EQ(single, groups);
}

TEST(GroupedUnits, OfAnyTypeAreToldApart) {
  Database database;
  GroupedRequest request;
  request.has_unit = true;
  request.sets = {{{}, 1}};
  request.statistics = {{catalog::StatisticKind::units, 0, "", {}}};
  const auto units = [&](const std::string& values) {
    return database.ask("SELECT * FROM (VALUES " + values + ") AS t(u)", request, kRoomy)
        .at(0)
        .at({})
        .sums.at(0);
  };
  EXPECT_EQ(units("(1), (2), (NULL), (2)"), 2);
  EXPECT_EQ(units("('-0.0'::DOUBLE), (0.0), ('nan'), (NULL), (0.5)"), 2);
  EXPECT_EQ(units("(DATE '2024-01-01'), (DATE '2024-01-02'), (DATE '2024-01-01')"), 2);
  EXPECT_EQ(units("(true), (false), (true)"), 2);
  EXPECT_EQ(units("('a'), ('A'), (''), (NULL)"), 3);
  // Longer than a block of memory for rows.
  EXPECT_EQ(units("(repeat('a', 40000)), (repeat('a', 39999)), ('b'), (repeat('a', 40000))"), 3);
  EXPECT_EQ(units("(170141183460469231731687303715884105727), (2)"), 2);
}

}  // namespace
}  // namespace shoal::engine
