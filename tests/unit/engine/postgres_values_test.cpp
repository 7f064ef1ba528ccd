// Values that PostgreSQL can hold and the engine must survive, and what they become.
#include "engine/chunk_reader.hpp"
#include "engine/postgres_connection.hpp"
#include "engine/postgres_types.hpp"
#include "engine/value_reader.hpp"
#include "unit/engine/postgres_fixture.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace shoal::engine {
namespace {

using catalog::ColumnType;

using catalog::Key;
using catalog::StatisticKind;
using test::column_of;
using test::OpenGroups;

std::int64_t steps_of(double value, double steps_per_one, const catalog::GridRange& range) {
  return to_steps(value, steps_per_one, static_cast<double>(range.lower),
                  static_cast<double>(range.upper));
}

// One column x of a server's type, filled with the values, read as the policy's type.
class OneColumn {
 public:
  OneColumn(const std::string& server_type, ColumnType type, const std::string& values)
      : type_(type) {
    auto& server = test::PostgresServer::instance();
    server.run(fmt::format(
        "DROP TABLE IF EXISTS public.one; CREATE TABLE public.one (x {}); INSERT INTO public.one "
        "SELECT CAST(y AS {}) FROM (VALUES {}) AS t(y)",
        server_type, server_type, values));
  }

  // How many rows have each value.
  std::map<catalog::KeyValue, long long> counts() {
    const catalog::Table table = test::server_table("one", "public.one", {column_of("x", type_)});
    PostgresEngine engine(catalog::Policy{}, std::array{&table});
    GroupedRequest request;
    request.keys = {*key_type(type_)};
    request.sets = {{{0}, 1}};
    request.statistics = {{StatisticKind::rows, 0, "", {}}};
    std::map<catalog::KeyValue, long long> counts;
    for (const auto& [key, group] :
         test::open(engine.aggregate_rows("SELECT x AS k0 FROM one", request, log_).at(0)))
      counts[key.at(0)] = group.sums.at(0);
    return counts;
  }

 private:
  ColumnType type_;
  test::TemporaryFolder folder_{test::Place::memory};
  OwnerLog log_{folder_ / "log"};
};

using Counts = std::map<catalog::KeyValue, long long>;

TEST(PostgresValues, RealsWithoutNumberAreNull) {
  OneColumn doubles("DOUBLE PRECISION", ColumnType::real,
                    "('NaN'), ('Infinity'), ('-Infinity'), ('-0'), ('0'), ('1e308'), ('5e-324'), "
                    "(NULL), ('0.1')");
  EXPECT_EQ(doubles.counts(), (Counts{{std::nullopt, 2},
                                      {"inf", 1},
                                      {"-inf", 1},
                                      {"0", 2},
                                      {"1e+308", 1},
                                      {"5e-324", 1},
                                      {"0.1", 1}}));
  OneColumn floats("REAL", ColumnType::real, "('NaN'), ('0.5'), ('1e-45'), ('3e38')");
  const Counts single = floats.counts();
  EXPECT_EQ(single.at(std::nullopt), 1);
  EXPECT_EQ(single.at("0.5"), 1);
  EXPECT_EQ(single.size(), 4u);
}

TEST(PostgresValues, NumbersOfAnyLengthFitOrAreNull) {
  const std::string values =
      "('NaN'), ('Infinity'), ('-Infinity'), ('1e400'), ('-1e400'), ('1e-400'), ('2.5'), ('-2.5'), "
      "('9223372036854775807'), ('9223372036854775808'), ('-9223372036854775808'), "
      "('-9223372036854775809'), ('1e130000'), (NULL)";
  OneColumn reals("NUMERIC", ColumnType::real, values);
  EXPECT_EQ(reals.counts(), (Counts{{std::nullopt, 5},
                                    {"inf", 1},
                                    {"-inf", 1},
                                    {"0", 1},
                                    {"2.5", 1},
                                    {"-2.5", 1},
                                    {"9.223372036854776e+18", 2},
                                    {"-9.223372036854776e+18", 2}}));
  OneColumn wholes("NUMERIC", ColumnType::integer, values);
  EXPECT_EQ(wholes.counts(), (Counts{{std::nullopt, 9},
                                     {"0", 1},
                                     {"3", 1},
                                     {"-3", 1},
                                     {"9223372036854775807", 1},
                                     {"-9223372036854775808", 1}}));
}

TEST(PostgresValues, DatesWithoutEndAreNull) {
  OneColumn dates("DATE", ColumnType::date,
                  "('infinity'), ('-infinity'), ('1969-12-31'), ('4713-01-01 BC'), "
                  "('5874897-12-31'), (NULL)");
  const Counts days = dates.counts();
  EXPECT_EQ(days.at(std::nullopt), 3);
  EXPECT_EQ(days.at("1969-12-31"), 1);
  EXPECT_EQ(days.size(), 4u);
  OneColumn times("TIMESTAMP", ColumnType::timestamp,
                  "('infinity'), ('-infinity'), ('1969-12-31 23:59:59.5'), ('4713-01-01 BC'), "
                  "('294276-12-31 23:59:59.999999'), ('294247-01-10 04:00:54.775806')");
  const Counts moments = times.counts();
  EXPECT_EQ(moments.at(std::nullopt), 3);
  EXPECT_EQ(moments.at("1969-12-31 23:59:59.5"), 1);
  EXPECT_EQ(moments.size(), 4u);
  OneColumn zoned("TIMESTAMPTZ", ColumnType::timestamp,
                  "('infinity'), ('2024-01-31 23:00:00-05'), ('294276-12-31 23:59:59.999999+00')");
  EXPECT_EQ(zoned.counts().at("2024-02-01 04:00:00"), 1);
}

TEST(PostgresValues, TextsAreComparedByteByByte) {
  OneColumn texts("VARCHAR", ColumnType::text,
                  "('a'), ('A'), ('a '), (''), (NULL), ('it''s'), ('\xC3\xA4'), ('(,)\"\\'), "
                  "(repeat('x', 32768)), (repeat('y', 32769)), (repeat('z', 2000000))");
  const Counts counts = texts.counts();
  EXPECT_EQ(counts.at(std::nullopt), 3);
  EXPECT_EQ(counts.at(std::string(32768, 'x')), 1);
  EXPECT_EQ(counts.size(), 9u);
  // A collation that calls them equal does not make them so.
  auto& server = test::PostgresServer::instance();
  server.run(
      "DROP COLLATION IF EXISTS public.blind CASCADE; CREATE COLLATION public.blind (provider = "
      "icu, locale = 'und-u-ks-level2', deterministic = false)");
  OneColumn blind("TEXT", ColumnType::text, "('a'), ('A'), ('b')");
  server.run("ALTER TABLE public.one ALTER COLUMN x TYPE TEXT COLLATE public.blind");
  EXPECT_EQ(blind.counts().size(), 3u);
  server.run("DROP TABLE public.one");
}

TEST(PostgresValues, OtherTypesThatAreTexts) {
  auto& server = test::PostgresServer::instance();
  server.run(
      "DROP TABLE IF EXISTS public.one; DROP TYPE IF EXISTS public.mood; CREATE TYPE public.mood "
      "AS "
      "ENUM ('sad', 'happy')");
  OneColumn moods("public.mood", ColumnType::text, "('sad'), ('happy'), ('sad')");
  EXPECT_EQ(moods.counts(), (Counts{{"sad", 2}, {"happy", 1}}));
  OneColumn uuids("UUID", ColumnType::text, "('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11')");
  EXPECT_EQ(uuids.counts(), (Counts{{"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", 1}}));
  OneColumn flags("BOOLEAN", ColumnType::boolean, "('t'), ('f'), (NULL), ('t')");
  EXPECT_EQ(flags.counts(), (Counts{{"true", 2}, {"false", 1}, {std::nullopt, 1}}));
}

// Steps of many doubles, on fine and on coarse grids, against the native function.
TEST(PostgresValues, StepsAreTheNativeOnes) {
  PostgresConnection connection;
  std::mt19937_64 random(11);
  std::vector<double> values{0.0,
                             -0.0,
                             5e-324,
                             -5e-324,
                             1e-310,
                             0.49999999999999994,
                             -0.49999999999999994,
                             0.5,
                             -0.5,
                             1.5,
                             2.5,
                             -2.5,
                             1e308,
                             -1e308,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             4503599627370495.5};
  for (int i = 0; i < 400; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isnan(value)) values.push_back(value);
    values.push_back(static_cast<double>(static_cast<std::int64_t>(random() % 4001) - 2000) / 16);
    values.push_back(
        std::ldexp(static_cast<double>(random() % 1000003), static_cast<int>(random() % 60) - 50));
  }
  for (const int exponent : {-40, -20, -2, 0, 3, 30}) {
    const double step = std::ldexp(1.0, exponent);
    const catalog::GridRange range =
        catalog::place_on_grid({-1000 * step, 123456 * step}, {exponent});
    std::string list;
    for (std::size_t i = 0; i < values.size(); ++i) {
      list += fmt::format("{}({}, '{}'::float8)", i == 0 ? "" : ", ", i, format_number(values[i]));
    }
    std::size_t seen = 0;
    connection.rows(
        fmt::format("SELECT i, {} FROM (VALUES {}) AS t(i, x) ORDER BY i",
                    postgres_steps("x", false, range, true), list),
        {}, [&](const PostgresRow& row) {
          const double value = values.at(seen++);
          EXPECT_EQ(std::stoll(std::string(*row.at(1))), steps_of(value, 1 / step, range))
              << value << " at 2^" << exponent;
        });
    EXPECT_EQ(seen, values.size());
  }
}

TEST(PostgresValues, WholeNumbersOnACoarseGrid) {
  PostgresConnection connection;
  const catalog::GridRange range = catalog::place_on_grid({-1e15, 1e15}, {4});
  for (const std::int64_t value :
       {std::int64_t{7}, std::int64_t{8}, std::int64_t{-8}, std::int64_t{-9}, std::int64_t{1} << 62,
        std::numeric_limits<std::int64_t>::min()}) {
    connection.rows(fmt::format("SELECT {} FROM (SELECT CAST('{}' AS BIGINT)) AS t(x)",
                                postgres_steps("x", true, range, true), value),
                    {}, [&](const PostgresRow& row) {
                      EXPECT_EQ(std::stoll(std::string(*row.at(0))),
                                steps_of(static_cast<double>(value), 1.0 / 16, range));
                    });
  }
}

}  // namespace
}  // namespace shoal::engine
