// The engine: exact sums by the public rules, whatever the rows hold; bounded per person; locked.
#include "support/open_grouped_aggregate.hpp"
#include "support/settled_engine.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/engine/duckdb_engine.hpp>
#include <shoal/engine/inspect.hpp>
#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <utility>

namespace shoal::engine {
namespace {

using catalog::Bounds;
using catalog::Column;
using catalog::ColumnType;
using catalog::Grid;
using catalog::Statistic;
using catalog::StatisticKind;

using Sums = std::vector<long long>;

Statistic rows() { return {}; }
Statistic values(const std::string& column) { return {StatisticKind::values, 0, column, {}}; }
Statistic sum(const std::string& column, Bounds bounds, int exponent = 0) {
  return {StatisticKind::plain_sum, 0, column, catalog::place_on_grid(bounds, {exponent})};
}
Statistic centred(const std::string& column, Bounds bounds, int exponent = 0) {
  return {StatisticKind::centred_sum, 0, column, catalog::place_on_grid(bounds, {exponent})};
}

// Statistics of the rows of a table that pass a filter, as one group.
struct Asked {
  std::optional<sql::Expression> filter = std::nullopt;
  std::vector<Statistic> statistics = {};
  std::string person_column = {};  // empty: the unit is a row
  std::int64_t rows_per_person = 1;
};

KeyType identity_type(ColumnType type) {
  if (type == ColumnType::integer) return KeyType::integer;
  return type == ColumnType::real ? KeyType::real : KeyType::text;
}

// The rows that a planner would write: each statistic gets a value column of its own.
std::string rows_of(const catalog::Table& table, const Asked& asked, GroupedRequest& request) {
  const auto name = [](const std::string& word) {
    return sql::quote_identifier(word, sql::Dialect::duckdb);
  };
  std::string items;
  if (!asked.person_column.empty()) items = name(asked.person_column) + " AS u";
  for (Statistic statistic : asked.statistics) {
    if (statistic.kind != StatisticKind::rows) {
      const Column& column = *table.find_column(statistic.column, true);
      statistic.value = request.values.size();
      items +=
          fmt::format("{}{} AS v{}", items.empty() ? "" : ", ", name(column.name), statistic.value);
      const bool counted = statistic.kind == StatisticKind::values;
      request.values.push_back({counted ? ValueUse::identity : ValueUse::steps,
                                column.type == ColumnType::integer, statistic.range, column.nulls,
                                identity_type(column.type)});
    }
    request.statistics.push_back(std::move(statistic));
  }
  // Rows have at least one column.
  if (items.empty()) {
    items = "CAST(1 AS BIGINT) AS v0";
    request.values.push_back({ValueUse::identity, true, {}, true, KeyType::integer});
  }
  return fmt::format(
      "SELECT {} FROM {}{}", items, name(table.name),
      asked.filter ? " WHERE " + sql::print(*asked.filter, sql::Dialect::duckdb) : "");
}

class EngineTest : public testing::Test {
 protected:
  catalog::Table write(const std::string& text, std::vector<Column> columns) {
    write_file_durably(folder_.path() / "t.csv", text, IfExists::replace);
    catalog::Table table;
    table.name = "t";
    table.source = "t.csv";
    table.columns = std::move(columns);
    policy_.folder = folder_.path();
    return table;
  }

  Sums ask(const catalog::Table& table, const Asked& asked, int threads = 1) {
    policy_.engine.threads = threads;
    DuckdbEngine engine = test::settled_engine(policy_, table);
    return ask(engine, table, asked);
  }

  Sums ask(DuckdbEngine& engine, const catalog::Table& table, const Asked& asked) {
    GroupedRequest request;
    request.has_unit = !asked.person_column.empty();
    request.rows_per_group = asked.rows_per_person;
    request.sets = {{{}, 1}};
    const std::string rows = rows_of(table, asked, request);
    const auto groups = engine.aggregate_rows(rows, request, OwnerLog(folder_.path() / "log"));
    return test::open(groups.at(0)).at({}).sums;
  }

  static Column column(const std::string& name, ColumnType type, bool nulls = true) {
    return {name, type, {}, {}, nulls, true};
  }

  test::TemporaryFolder folder_;
  catalog::Policy policy_;
};

TEST_F(EngineTest, ValuesFollowThePublicRules) {
  const auto table = write(
      "i,r\n"
      "5,1.5\n"
      "-7,-2.5\n"                      // below both bounds
      "500,1e400\n"                    // above; beyond the doubles is infinite
      "abc,x\n"                        // neither can be read
      ",\n"                            // empty fields are NULL
      "99999999999999999999999,nan\n"  // beyond 64 bits; NaN is NULL
      "6.4,inf\n"                      // rounded; infinity clamps
      "3,-inf\n"
      "1,2,3,4\n"  // too many fields
      "2\n",       // too few
      {column("i", ColumnType::integer), column("r", ColumnType::real)});
  const Sums sums = ask(
      table, {{}, {rows(), values("i"), sum("i", {0, 100}), values("r"), sum("r", {-1, 10}, -1)}});
  // i: 5, 0, 100, -, -, -, 6, 3, 1, 2 and r in half steps: 3, -2, 20, -, -, -, 20, -2, 4, -.
  EXPECT_EQ(sums, (Sums{10, 7, 117, 6, 43}));
}

TEST_F(EngineTest, CentredSumsAreTheSameLessTheMiddle) {
  const auto table = write("x\n1\n2\n\n90\n", {column("x", ColumnType::integer)});
  EXPECT_EQ(ask(table, {{}, {sum("x", {0, 50}), centred("x", {0, 50})}}), (Sums{53, 53 - 3 * 25}));
}

TEST_F(EngineTest, EveryStepIsExact) {
  const auto table = write("x\n0.75\n", {column("x", ColumnType::real)});
  for (const int exponent : {0, -1, -24, -30, -40, -49, 3}) {
    const long long exact = std::llround(std::ldexp(0.75, -exponent));
    EXPECT_EQ(ask(table, {{}, {sum("x", {0, 1}, exponent)}}), (Sums{exact})) << exponent;
  }
}

TEST_F(EngineTest, DeclaredNotNullTakesTheMiddle) {
  const auto table = write("x,y\n1,a\n,b\n9,c\n", {column("x", ColumnType::integer, false),
                                                   column("y", ColumnType::text)});
  EXPECT_EQ(ask(table, {{}, {rows(), sum("x", {0, 10}), centred("x", {0, 10})}}), (Sums{3, 15, 0}));
}

TEST_F(EngineTest, AnEmptyTableGivesZeros) {
  const auto table = write("x\n", {column("x", ColumnType::real)});
  EXPECT_EQ(ask(table, {{}, {rows(), values("x"), sum("x", {0, 10})}}), (Sums{0, 0, 0}));
}

TEST_F(EngineTest, PeopleAreBoundedBeforeTheSum) {
  // a: 3 rows, b: 1 row, nobody: 2 rows that are dropped.
  const auto table = write("p,x\na,10\na,20\na,\nb,7\n,50\n,50\n",
                           {column("p", ColumnType::text), column("x", ColumnType::integer)});
  const std::vector<Statistic> all{rows(), values("x"), sum("x", {0, 100}), centred("x", {0, 100})};
  EXPECT_EQ(ask(table, {{}, all, "p", 10}), (Sums{4, 3, 37, 37 - 150}));
  // One row of each: a's two values scaled to one: 15, and -35 from the middle.
  EXPECT_EQ(ask(table, {{}, all, "p", 1}), (Sums{2, 2, 22, -35 - 43}));
}

// 1.2 and 1.4 are not one person, and 1.4 is not the person 1: rows of nobody are dropped. In a
// column that tells nobody apart they are rounded.
TEST_F(EngineTest, PeopleAreNeverRoundedIntoOne) {
  auto table = write("p,x\n1,1\n1.2,1\n1.4,1\n2e0,1\n0xe,1\n14,1\n 2 ,1\n",
                     {column("p", ColumnType::integer), column("x", ColumnType::integer)});
  policy_.unit = catalog::PrivacyUnit::person;
  const Asked asked{{}, {rows()}, "p", 10};
  EXPECT_EQ(ask(table, asked), (Sums{7}));
  table.person_column = "p";
  EXPECT_EQ(ask(table, asked), (Sums{4}));
  import_rows(policy_, table, folder_.path() / "t.parquet");
  table.source = "t.parquet";
  table.format = catalog::SourceFormat::parquet;
  EXPECT_EQ(ask(table, asked), (Sums{4}));
}

TEST_F(EngineTest, TheConfigurationIsLockedAndTheOutsideClosed) {
  const auto table = write("x\n1\n2\n3\n", {column("x", ColumnType::integer)});
  const auto setting_is = [](const char* name, const char* value) {
    const sql::Expression call(sql::Call{
        "CURRENT_SETTING", {sql::Expression(sql::Literal{sql::LiteralKind::string, name})}});
    const sql::Expression text(sql::Cast{call, {sql::ScalarType::varchar}});
    return sql::Expression(
        sql::Binary{sql::BinaryOperator::equal, text,
                    sql::Expression(sql::Literal{sql::LiteralKind::string, value})});
  };
  EXPECT_EQ(ask(table, {setting_is("enable_external_access", "false"), {rows()}}), (Sums{3}));
  EXPECT_EQ(ask(table, {setting_is("lock_configuration", "true"), {rows()}}), (Sums{3}));
  EXPECT_EQ(ask(table, {setting_is("lock_configuration", "false"), {rows()}}), (Sums{0}));
  // DuckDB's own choice, a folder that everybody may read below the process's folder.
  EXPECT_EQ(ask(table, {setting_is("temp_directory", ".tmp"), {rows()}}), (Sums{0}));
}

TEST_F(EngineTest, AFailureSaysNothingAndTheOwnersLogSaysWhy) {
  const auto table = write("x\n1\n2\nsecret-7\n", {column("x", ColumnType::text)});
  const sql::Expression cast(
      sql::Cast{sql::Expression(sql::ColumnReference{std::nullopt, {"x", true}}),
                {sql::ScalarType::integer}});
  const sql::Expression positive(
      sql::Binary{sql::BinaryOperator::greater, cast,
                  sql::Expression(sql::Literal{sql::LiteralKind::integer, "0"})});
  try {
    ask(table, {positive, {rows()}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
    EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
  }
  EXPECT_NE(read_file(folder_.path() / "log").find("secret-7"), std::string::npos);
}

TEST_F(EngineTest, ADifferentSchemaIsAConflict) {
  auto table =
      write("x\n1\n", {column("x", ColumnType::integer), column("gone", ColumnType::real)});
  try {
    ask(table, {{}, {rows()}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::conflict);
    EXPECT_NE(std::string(error.what()).find("column gone is missing"), std::string::npos);
  }
  table.source = "missing.csv";
  EXPECT_THROW(ask(table, {{}, {rows()}}), Error);
}

TEST_F(EngineTest, NamesAndPathsCannotInject) {
  const std::string name = "a\"; DROP TABLE t; --";
  write_file_durably(folder_.path() / "it's.csv", "\"a\"\"; DROP TABLE t; --\"\n4\n",
                     IfExists::replace);
  catalog::Table table;
  table.name = "x\"y";
  table.source = "it's.csv";
  table.columns = {column(name, ColumnType::integer)};
  policy_.folder = folder_.path();
  EXPECT_EQ(ask(table, {{}, {sum(name, {0, 10})}}), (Sums{4}));
}

// Many random small tables live in one file, told apart by the column `world`; removing a person is
// a filter. The sums of neighbours differ by at most the stated bound, and somewhere by exactly
// that. No randomness is left to chance: the seed is fixed.
class Neighbours : public EngineTest {
 protected:
  static constexpr int kWorlds = 60;
  static constexpr int kPeople = 4;

  void SetUp() override {
    std::mt19937 random(20260101);
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const std::vector<std::string> odd{"",      "nan",    "inf", "-inf", "x",
                                       "1e300", "-1e300", "100", "-20",  "40.25"};
    std::string text = "world,p,i,r\n";
    for (int world = 0; world < kWorlds; ++world) {
      for (int person = 0; person < kPeople; ++person) {
        const int count = pick(6);
        for (int row = 0; row < count; ++row) {
          text += std::to_string(world) + "," + std::to_string(person) + "," +
                  std::to_string(pick(300) - 100) + ",";
          text += pick(2) ? odd[static_cast<std::size_t>(pick(10))]
                          : std::to_string(pick(30000) / 256.0 - 30);
          text += "\n";
        }
      }
    }
    table_ = write(text, {column("world", ColumnType::integer), column("p", ColumnType::integer),
                          column("i", ColumnType::integer), column("r", ColumnType::real)});
  }

  static sql::Expression compare(const char* column_name, sql::BinaryOperator operation,
                                 int value) {
    return sql::Expression(sql::Binary{
        operation, sql::Expression(sql::ColumnReference{std::nullopt, {column_name, true}}),
        sql::Expression(sql::Literal{sql::LiteralKind::integer, std::to_string(value)})});
  }

  Sums in_world(DuckdbEngine& engine, int world, int without, std::int64_t k,
                const std::vector<Statistic>& statistics) {
    const sql::Expression filter(sql::Binary{
        sql::BinaryOperator::logical_and, compare("world", sql::BinaryOperator::equal, world),
        compare("p", sql::BinaryOperator::not_equal, without)});
    return ask(engine, table_, {filter, statistics, "p", k});
  }

  catalog::Table table_;
};

TEST_F(Neighbours, NeverDifferByMoreThanStated) {
  DuckdbEngine engine = test::settled_engine(policy_, table_);
  const std::vector<Statistic> statistics{rows(),
                                          values("r"),
                                          sum("i", {-20, 100}),
                                          centred("i", {-20, 100}),
                                          sum("r", {-20, 40}, -4),
                                          centred("r", {-20, 40}, -4)};
  for (const std::int64_t k : {1, 2, 5}) {
    std::vector<long long> removed(statistics.size(), 0);
    std::vector<long long> exchanged(statistics.size(), 0);
    for (int world = 0; world < kWorlds; ++world) {
      const Sums whole = in_world(engine, world, kPeople, k, statistics);
      std::vector<Sums> without;
      for (int person = 0; person < kPeople; ++person)
        without.push_back(in_world(engine, world, person, k, statistics));
      for (std::size_t j = 0; j < statistics.size(); ++j) {
        for (int a = 0; a < kPeople; ++a) {
          const auto at = static_cast<std::size_t>(a);
          removed[j] = std::max(removed[j], std::abs(whole[j] - without[at][j]));
          for (int b = 0; b < a; ++b) {
            exchanged[j] = std::max(
                exchanged[j], std::abs(without[static_cast<std::size_t>(b)][j] - without[at][j]));
          }
        }
      }
    }
    for (std::size_t j = 0; j < statistics.size(); ++j) {
      const long long least = k * statistics[j].least_per_row();
      const long long most = k * statistics[j].most_per_row();
      EXPECT_LE(removed[j], std::max(-least, most)) << "statistic " << j << ", k " << k;
      EXPECT_LE(exchanged[j], most - least) << "statistic " << j << ", k " << k;
      // The bound is not idle: with one row a person it is attained, or a larger one would do as
      // well.
      if (k == 1) {
        EXPECT_EQ(removed[j], std::max(-least, most)) << "statistic " << j;
      }
    }
  }
}

TEST_F(Neighbours, ThreadsDoNotChangeASum) {
  const std::vector<Statistic> statistics{rows(), sum("i", {-20, 100}),
                                          centred("r", {-20, 40}, -20)};
  EXPECT_EQ(ask(table_, {{}, statistics, "p", 3}, 1), ask(table_, {{}, statistics, "p", 3}, 4));
  EXPECT_EQ(ask(table_, {{}, statistics}, 1), ask(table_, {{}, statistics}, 4));
}

TEST_F(EngineTest, InspectTellsFormatsAndTypes) {
  write_file_durably(folder_.path() / "a.csv",
                     "i;r;t;b;d;s\n1;2.5;x;true;2024-01-31;2024-01-31 10:00:00\n2;3;y;false;;\n",
                     IfExists::replace);
  const catalog::Table table = inspect_file(folder_.path() / "a.csv");
  EXPECT_EQ(table.csv.delimiter, ';');
  std::map<std::string, ColumnType> types;
  for (const Column& one : table.columns) types[one.name] = one.type;
  EXPECT_EQ(types, (std::map<std::string, ColumnType>{{"i", ColumnType::integer},
                                                      {"r", ColumnType::real},
                                                      {"t", ColumnType::text},
                                                      {"b", ColumnType::boolean},
                                                      {"d", ColumnType::date},
                                                      {"s", ColumnType::timestamp}}));
}

TEST_F(EngineTest, InspectRefusesWhatIsNoTable) {
  for (const char* text :
       {"", " \n \n", "{\"a\": 1}\n", "<html>\n", "a\xFF\xFE\nb\n", "only a header"}) {
    write_file_durably(folder_.path() / "a", text, IfExists::replace);
    EXPECT_THROW(inspect_file(folder_.path() / "a"), Error) << text;
  }
  write_file_durably(folder_.path() / "a", std::string("a,b\0\n1,2\n", 9), IfExists::replace);
  EXPECT_THROW(inspect_file(folder_.path() / "a"), Error);
  write_file_durably(folder_.path() / "a", "PAR1 but nothing else", IfExists::replace);
  EXPECT_THROW(inspect_file(folder_.path() / "a"), Error);
  write_file_durably(folder_.path() / "a", "x,X\n1,2\n", IfExists::replace);
  EXPECT_THROW(inspect_file(folder_.path() / "a"), Error);
}

TEST_F(EngineTest, TheOwnerIsToldAndImportKeepsTheSums) {
  auto table = write("p,x\n1,4\n2,bad\n1,5\n3,nan\n",
                     {column("p", ColumnType::integer), column("x", ColumnType::real)});
  const RowReport report = settle_rows(policy_, table, test::no_budget).rows;
  EXPECT_EQ(report.rows, 4);
  ASSERT_EQ(report.problems.size(), 2u);
  EXPECT_EQ(report.problems[0].column, "x");
  EXPECT_EQ(report.problems[0].rows, 1);
  const std::vector<Statistic> statistics{rows(), values("x"), sum("x", {0, 10})};
  const Sums before = ask(table, {{}, statistics, "p", 1});
  policy_.unit = catalog::PrivacyUnit::person;
  table.person_column = "p";
  import_rows(policy_, table, folder_.path() / "t.parquet");
  EXPECT_THROW(import_rows(policy_, table, folder_.path() / "t.parquet"), Error);
  table.source = "t.parquet";
  table.format = catalog::SourceFormat::parquet;
  EXPECT_EQ(ask(table, {{}, statistics, "p", 1}), before);
}

TEST_F(EngineTest, ImportOrdersByPersonAndTellsHowFarItIs) {
  constexpr int kRows = 260'000;
  std::string text = "p,x\n";
  for (int i = 0; i < kRows; ++i) text += fmt::format("{},{}\n", i * 7919 % 10'007, i % 10);
  auto table = write(text, {column("p", ColumnType::integer), column("x", ColumnType::integer)});
  policy_.unit = catalog::PrivacyUnit::person;
  policy_.engine.threads = 2;
  table.person_column = "p";
  std::vector<double> told;
  import_rows(policy_, table, folder_.path() / "t.parquet",
              [&](double done) { told.push_back(done); });
  ASSERT_GE(told.size(), 2u);
  EXPECT_EQ(told.front(), 0);
  EXPECT_EQ(told.back(), 1);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  table.source = "t.parquet";
  table.format = catalog::SourceFormat::parquet;
  GroupedRequest request;
  request.has_unit = true;
  request.sets = {{{}, 1}};
  request.statistics = {rows()};
  request.rows_per_group = 1'000;
  request.clustered = true;
  DuckdbEngine engine = test::settled_engine(policy_, table);
  const auto groups =
      engine.aggregate_rows("SELECT p AS u FROM t", request, OwnerLog(folder_.path() / "log"));
  const test::OpenGroups open = test::open(groups.at(0));
  EXPECT_EQ(open.at({}).sums.at(0), kRows);
  EXPECT_EQ(open.at({}).units, 10'007);
  // It was ordered: the log has nothing to say.
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "log"));
}

TEST_F(EngineTest, SeveralTablesAreOpenAndNothingElse) {
  const auto people = write("p,town\n1,A\n2,B\n3,B\n",
                            {column("p", ColumnType::integer), column("town", ColumnType::text)});
  write_file_durably(folder_.path() / "visits.csv", "p,cost\n1,10\n1,20\n2,5\n3,7\n9,100\n",
                     IfExists::replace);
  catalog::Table visits;
  visits.name = "visits";
  visits.source = "visits.csv";
  visits.columns = {column("p", ColumnType::integer), column("cost", ColumnType::real)};
  write_file_durably(folder_.path() / "closed.csv", "x\n1\n", IfExists::replace);
  const OwnerLog log(folder_.path() / "log");
  DuckdbEngine engine = test::settled_engine(policy_, std::array{&people, &std::as_const(visits)});
  GroupedRequest request;
  request.has_unit = true;
  request.keys = {KeyType::text};
  request.values = {{ValueUse::steps, false, catalog::place_on_grid({0, 15}, {0}), true}};
  request.sets = {{{0}, 1}};
  request.statistics = {rows(), sum("cost", {0, 15})};
  request.rows_per_group = 5;
  const auto groups = engine.aggregate_rows(
      "SELECT t.p AS u, town AS k0, cost AS v0 FROM t JOIN visits ON t.p = visits.p", request, log);
  const test::OpenGroups open = test::open(groups.at(0));
  EXPECT_EQ(open.at({"A"}).sums, (Sums{2, 25}));
  EXPECT_EQ(open.at({"B"}).sums, (Sums{2, 12}));
  // Another file of the folder stays closed, and the reason goes to the owner alone.
  request.keys = {};
  request.values = {};
  request.sets = {{{}, 1}};
  request.statistics = {rows()};
  try {
    engine.aggregate_rows(
        fmt::format("SELECT x AS u FROM read_csv('{}')", (folder_.path() / "closed.csv").string()),
        request, log);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
    EXPECT_EQ(std::string(error.what()).find("closed"), std::string::npos);
  }
  EXPECT_NE(read_file(log.path()).find("closed.csv"), std::string::npos);
}

TEST_F(EngineTest, ARowThatFailsSaysNothingInGroupsEither) {
  const auto table = write("x\n1\nsecret-7\n", {column("x", ColumnType::text)});
  const OwnerLog log(folder_.path() / "log");
  DuckdbEngine engine = test::settled_engine(policy_, table);
  GroupedRequest request;
  request.has_unit = true;
  request.sets = {{{}, 1}};
  request.statistics = {rows()};
  try {
    engine.aggregate_rows("SELECT CAST(x AS INTEGER) AS u FROM t", request, log);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
    EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos);
  }
  EXPECT_NE(read_file(log.path()).find("secret-7"), std::string::npos);
}

// SQL that the engine does not take is known before a row is read, and so before it is paid.
TEST_F(EngineTest, ChecksWhatItIsToldWithoutALookAtRows) {
  const auto table = write("x\n1\nsecret-7\n", {column("x", ColumnType::text)});
  const OwnerLog log(folder_.path() / "log");
  DuckdbEngine engine = test::settled_engine(policy_, table);
  GroupedRequest request;
  request.has_unit = true;
  request.sets = {{{}, 1}};
  request.statistics = {rows()};
  // Fails on a row, which nobody looks at.
  request.rows = sql::parse_query("SELECT CAST(x AS INTEGER) AS u FROM t");
  EXPECT_NO_THROW(engine.check_groups(request, log));
  EXPECT_THROW(engine.aggregate_groups(request, log), Error);
  for (const char* wrong : {"SELECT y AS u FROM t", "SELECT x AS u FROM t GROUP BY 1 + 1",
                            "SELECT x AS u, x AS v0 FROM t", "SELECT SUM(x) AS u FROM t"}) {
    request.rows = sql::parse_query(wrong);
    try {
      engine.check_groups(request, log);
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::internal);
      EXPECT_NE(std::string(error.what()).find("nothing was spent"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace shoal::engine
