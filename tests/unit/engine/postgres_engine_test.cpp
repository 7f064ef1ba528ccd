// Attaching tables of a server, what is refused before anything is spent, and failures that tell
// nothing.
#include "engine/bounded_sql.hpp"
#include "support/settled_engine.hpp"
#include "unit/engine/postgres_fixture.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/sql/parser.hpp>

#include <gtest/gtest.h>

namespace shoal::engine {
namespace {

using catalog::ColumnType;
using test::column_of;
using test::server_table;

// A variable of the environment, set for as long as this lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value, 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (old_) ::setenv(name_, old_->c_str(), 1);
    if (!old_) ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

class PostgresEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    server_.run(
        "DROP SCHEMA IF EXISTS clinic CASCADE; CREATE SCHEMA clinic; CREATE TABLE clinic.visits "
        "(person BIGINT, ward TEXT, cost DOUBLE PRECISION, picture BYTEA); INSERT INTO "
        "clinic.visits SELECT i % 10, 'w' || i % 3, i, NULL FROM generate_series(1, 100) AS s(i)");
  }

  static catalog::Table visits() {
    return server_table(
        "visits", "clinic.visits",
        {column_of("person", ColumnType::integer), column_of("ward", ColumnType::text),
         column_of("cost", ColumnType::real), column_of("picture", ColumnType::other)});
  }

  static PostgresEngine attach(const catalog::Table& table) {
    return PostgresEngine(catalog::Policy{}, std::array{&table});
  }

  static void expect_refused(const catalog::Table& table, ErrorCode code, const std::string& text) {
    try {
      attach(table);
      ADD_FAILURE() << "was attached, expected: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }

  // COUNT(*) by ward, of people.
  static GroupedRequest by_ward() {
    GroupedRequest request;
    request.has_unit = true;
    request.keys = {KeyType::text};
    request.sets = {{{0}, 10}};
    request.statistics = {{}};
    request.rows_per_group = 100;
    return request;
  }

  void expect_silent_failure(PostgresEngine& engine, const std::string& rows) {
    try {
      engine.aggregate_rows(rows, by_ward(), log_);
      ADD_FAILURE() << "was answered: " << rows;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::internal);
      EXPECT_STREQ(error.what(),
                   "the question could not be answered; what it cost is spent, and the reason is "
                   "in the data owner's log");
    }
  }

  long long rows_of(PostgresEngine& engine, const std::string& rows) {
    const auto groups = test::open(engine.aggregate_rows(rows, by_ward(), log_).at(0));
    long long count = 0;
    for (const auto& [key, group] : groups) count += group.sums.at(0);
    return count;
  }

  test::PostgresServer& server_ = test::PostgresServer::instance();
  test::TemporaryFolder folder_{test::Place::memory};
  OwnerLog log_{folder_ / "log"};
};

constexpr const char* kRows = "SELECT person AS u, ward AS k0 FROM visits";

TEST_F(PostgresEngineTest, SaysWhatDoesNotFitBeforeAnyRowIsRead) {
  catalog::Table table = visits();
  table.source = "visits";
  expect_refused(table, ErrorCode::invalid_argument, "schema.table");
  table.source = "db.clinic.visits";
  expect_refused(table, ErrorCode::invalid_argument, "db.clinic.visits");
  table.source = "clinic.nothing";
  expect_refused(table, ErrorCode::not_found, "clinic.nothing");
  table = visits();
  table.columns[1].type = ColumnType::date;
  expect_refused(table, ErrorCode::conflict, "column ward is text, the policy says date");
  table = visits();
  table.columns[2].type = ColumnType::text;
  expect_refused(table, ErrorCode::conflict, "column cost is real, the policy says text");
  table = visits();
  table.columns[3].type = ColumnType::text;
  expect_refused(table, ErrorCode::conflict, "of another type");
  table = visits();
  table.columns[0].name = "Person";
  expect_refused(table, ErrorCode::conflict, "column Person is missing");
}

// SQL that the server does not take is known before a row is read, and so before it is paid.
TEST_F(PostgresEngineTest, ChecksWhatItIsToldWithoutALookAtRows) {
  const catalog::Table table = visits();
  PostgresEngine engine = attach(table);
  GroupedRequest request = by_ward();
  // Fails on every row, which nobody looks at.
  request.rows = sql::parse_query("SELECT CAST(ward AS INTEGER) AS u, ward AS k0 FROM visits");
  EXPECT_NO_THROW(engine.check_groups(request, log_));
  EXPECT_THROW(engine.aggregate_groups(request, log_), Error);
  for (const char* wrong : {"SELECT nobody AS u, ward AS k0 FROM visits",
                            "SELECT SUM(ward) AS u, 1 AS k0 FROM visits"}) {
    request.rows = sql::parse_query(wrong);
    try {
      engine.check_groups(request, log_);
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::internal);
      EXPECT_NE(std::string(error.what()).find("nothing was spent"), std::string::npos);
    }
  }
}

TEST_F(PostgresEngineTest, WantsAServerAndTheRightToRead) {
  {
    const Variable host("PGHOST", "/nowhere");
    expect_refused(visits(), ErrorCode::unavailable, "PGHOST");
  }
  server_.run(
      "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA clinic TO "
      "reader; GRANT SELECT (person, ward) ON clinic.visits TO reader");
  {
    const Variable user("PGUSER", "reader");
    expect_refused(visits(), ErrorCode::unavailable, "column cost");
    catalog::Table fewer = visits();
    fewer.columns.resize(2);
    PostgresEngine engine = attach(fewer);
    EXPECT_EQ(rows_of(engine, kRows), 100);
  }
  server_.run("DROP OWNED BY reader; DROP ROLE reader");
}

// What calculates, fetches or judges rows while they are read can fail on one of them.
TEST_F(PostgresEngineTest, RefusesWhatCanFailOnARow) {
  const auto named = [&](const std::string& source) {
    catalog::Table table = visits();
    table.source = source;
    return table;
  };
  server_.run(
      "CREATE VIEW clinic.seen AS SELECT person, ward, 1 / cost AS cost FROM clinic.visits");
  expect_refused(named("clinic.seen"), ErrorCode::unsupported, "is a view on the server");
  server_.run(
      "CREATE FOREIGN DATA WRAPPER nowhere; CREATE SERVER far FOREIGN DATA WRAPPER nowhere; CREATE "
      "FOREIGN TABLE clinic.away (person BIGINT, ward TEXT, cost DOUBLE PRECISION) SERVER far");
  expect_refused(named("clinic.away"), ErrorCode::unsupported, "is a foreign table, or");
  server_.run(
      "CREATE TABLE clinic.whole (person BIGINT, ward TEXT, cost DOUBLE PRECISION); ALTER FOREIGN "
      "TABLE clinic.away INHERIT clinic.whole");
  expect_refused(named("clinic.whole"), ErrorCode::unsupported, "has one among its parts");
  server_.run("CREATE MATERIALIZED VIEW clinic.kept AS SELECT * FROM clinic.visits WITH NO DATA");
  expect_refused(named("clinic.kept"), ErrorCode::unavailable, "without contents");
  server_.run("REFRESH MATERIALIZED VIEW clinic.kept");
  PostgresEngine kept = attach(named("clinic.kept"));
  EXPECT_EQ(rows_of(kept, kRows), 100);
  server_.run("DROP FOREIGN DATA WRAPPER nowhere CASCADE");
}

TEST_F(PostgresEngineTest, RefusesARowLevelPolicyOfItsUser) {
  server_.run(
      "DROP ROLE IF EXISTS judged; CREATE ROLE judged LOGIN; GRANT USAGE ON SCHEMA clinic TO "
      "judged; GRANT SELECT ON clinic.visits TO judged; ALTER TABLE clinic.visits ENABLE ROW LEVEL "
      "SECURITY; CREATE POLICY few ON clinic.visits USING (1 / (person - 5) > 0)");
  {
    const Variable user("PGUSER", "judged");
    expect_refused(visits(), ErrorCode::unsupported, "row-level security");
    server_.run("ALTER ROLE judged BYPASSRLS");
    PostgresEngine engine = attach(visits());
    EXPECT_EQ(rows_of(engine, kRows), 100);
    // One that comes between the check and the question does not filter in silence.
    server_.run("ALTER ROLE judged NOBYPASSRLS");
    expect_silent_failure(engine, kRows);
  }
  // A policy does not concern a superuser.
  PostgresEngine engine = attach(visits());
  EXPECT_EQ(rows_of(engine, kRows), 100);
  server_.run("DROP POLICY few ON clinic.visits; DROP OWNED BY judged; DROP ROLE judged");
}

TEST_F(PostgresEngineTest, RefusesADatabaseThatIsNotUtf8) {
  server_.run("DROP DATABASE IF EXISTS bytes");
  server_.run(
      "CREATE DATABASE bytes ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE "
      "template0");
  const Variable database("PGDATABASE", "bytes");
  expect_refused(visits(), ErrorCode::unavailable, "SQL_ASCII");
}

TEST_F(PostgresEngineTest, FailuresTellTheOwnerAlone) {
  const catalog::Table table = visits();
  PostgresEngine engine = attach(table);
  expect_silent_failure(engine,
                        "SELECT person AS u, CAST(1 / (person - 5) AS TEXT) AS k0 FROM "
                        "visits");
  EXPECT_NE(read_file(log_.path()).find("division by zero"), std::string::npos);
  // Part of the rows had arrived; the connection is as good as before.
  EXPECT_EQ(rows_of(engine, kRows), 100);
  expect_silent_failure(engine, "SELECT person AS u, ward AS k0 FROM nothing");
  expect_silent_failure(engine, "SELECT person AS u FROM visits");
  EXPECT_EQ(rows_of(engine, kRows), 100);
}

TEST_F(PostgresEngineTest, NothingCanBeWritten) {
  server_.run(
      "CREATE FUNCTION clinic.spoil() RETURNS TEXT LANGUAGE sql AS $$ DELETE FROM clinic.visits; "
      "SELECT 'x' $$");
  const catalog::Table table = visits();
  PostgresEngine engine = attach(table);
  expect_silent_failure(engine, "SELECT person AS u, clinic.spoil() AS k0 FROM visits");
  EXPECT_NE(read_file(log_.path()).find("read-only"), std::string::npos);
  EXPECT_EQ(rows_of(engine, kRows), 100);
}

// A function, an operator or a table of the same name somewhere else on the server is not ours.
TEST_F(PostgresEngineTest, NamesAreThoseOfTheCatalogue) {
  server_.run(
      "CREATE FUNCTION public.octet_length(TEXT) RETURNS INTEGER LANGUAGE sql AS $$ SELECT 1 / 0 "
      "$$; CREATE TABLE public.visits (person BIGINT, ward TEXT, cost DOUBLE PRECISION); ALTER "
      "DATABASE postgres SET search_path = public, pg_catalog");
  const catalog::Table table = visits();
  PostgresEngine engine = attach(table);
  EXPECT_EQ(rows_of(engine, kRows), 100);
  server_.run(
      "ALTER DATABASE postgres RESET search_path; DROP FUNCTION public.octet_length(TEXT); DROP "
      "TABLE public.visits");
}

// Common tables of ours do not hide a policy's table of the same name.
TEST_F(PostgresEngineTest, ATableMayHaveAnyName) {
  for (const char* name : {"typed", "asked", "bounded", "Odd \"name\""}) {
    catalog::Table table = visits();
    table.name = name;
    PostgresEngine engine = attach(table);
    std::string quoted;
    for (const char c : table.name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    EXPECT_EQ(rows_of(engine, "SELECT person AS u, ward AS k0 FROM \"" + quoted + "\""), 100);
  }
}

// 1.2 and 1.4 are two people. Rounded they would be one, with the bounds of one.
TEST_F(PostgresEngineTest, RoundingDoesNotMakeOnePersonOfTwo) {
  server_.run(
      "CREATE TABLE clinic.odd (person NUMERIC, ward NUMERIC); INSERT INTO clinic.odd VALUES (1.2, "
      "1.2), (1.4, 1.4), (2, 2), (3.0, 3)");
  catalog::Table table = server_table(
      "odd", "clinic.odd",
      {column_of("person", ColumnType::integer), column_of("ward", ColumnType::integer)});
  const auto people = [&](const catalog::Policy& policy) {
    PostgresEngine engine(policy, std::array{static_cast<const catalog::Table*>(&table)});
    return rows_of(engine, "SELECT person AS u, CAST('a' AS TEXT) AS k0 FROM odd");
  };
  EXPECT_EQ(people(catalog::Policy{}), 4);  // as any number: rounded
  table.person_column = "person";
  EXPECT_EQ(people(catalog::Policy{}), 2);
  table.person_column = "";
  table.person_path = catalog::PersonPath{"person", "people", "id"};
  EXPECT_EQ(people(catalog::Policy{}), 2);
  table.person_path.reset();
  catalog::Policy policy;
  catalog::Table& other = policy.tables.emplace_back();
  other.person_path = catalog::PersonPath{"visit", "odd", "person"};
  EXPECT_EQ(people(policy), 2);
  server_.run("DROP TABLE clinic.odd");
}

TEST_F(PostgresEngineTest, ReadsPublicTables) {
  server_.run(
      "CREATE TABLE clinic.wards (ward TEXT, beds NUMERIC, opened DATE); INSERT INTO clinic.wards "
      "VALUES ('b', 2, '2024-01-31'), ('a', 10, '2024-01-31'), ('a', 10, '2024-01-31'), (NULL, 3, "
      "'2020-01-01'), ('c', 'NaN', '2020-01-01')");
  const catalog::Table table =
      server_table("wards", "clinic.wards",
                   {column_of("ward", ColumnType::text), column_of("beds", ColumnType::real),
                    column_of("opened", ColumnType::date)});
  PostgresEngine engine = attach(table);
  EXPECT_FALSE(engine.is_unique("wards", "ward"));
  EXPECT_FALSE(engine.is_unique("wards", "opened"));
  const auto keys = engine.public_keys(
      sql::parse_query("SELECT ward AS k0, beds AS k1, opened AS k2 FROM wards"));
  EXPECT_EQ(keys, (std::vector<catalog::Key>{{"a", "10", "2024-01-31"}, {"b", "2", "2024-01-31"}}));
  server_.run("DELETE FROM clinic.wards WHERE ward = 'a'");
  EXPECT_TRUE(engine.is_unique("wards", "ward"));
  server_.run("DROP TABLE clinic.wards");
  EXPECT_THROW(engine.is_unique("wards", "ward"), Error);
}

TEST_F(PostgresEngineTest, TablesOfOneQuestionAreInOnePlace) {
  const catalog::Table on_server = visits();
  catalog::Table file = visits();
  file.name = "more_visits";
  file.source = "visits.csv";
  file.format = catalog::SourceFormat::csv;
  const std::array both{&on_server, static_cast<const catalog::Table*>(&file)};
  try {
    open_engine(catalog::Policy{}, both, test::no_budget);
    ADD_FAILURE() << "was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("more_visits"), std::string::npos);
  }
  EXPECT_NE(dynamic_cast<PostgresEngine*>(
                open_engine(catalog::Policy{}, std::array{&on_server}, test::no_budget).get()),
            nullptr);
}

// The hash key chooses among groups: who reads statements on the server must not find it there.
TEST_F(PostgresEngineTest, TheHashKeyStandsInNoStatement) {
  GroupedRequest request = by_ward();
  request.hash_key = {0x0123456789abcdef, 0xfedcba9876543210};
  const GroupShape shape(request);
  const std::string sql = BoundedSql(shape, true, "typed AS (SELECT 1)").integers(0);
  EXPECT_NE(sql.find("$1"), std::string::npos);
  for (const char* part : {"0123456789abcdef", "81985529216486895", "fedcba9876543210"})
    EXPECT_EQ(sql.find(part), std::string::npos);
}

}  // namespace
}  // namespace shoal::engine
