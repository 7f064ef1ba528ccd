// Opening a ledger on a server: makes it if it is new, refuses what is no ledger, and sets what
// durability and the life of its users rest on.
#include "ledger/postgres_opening.hpp"

#include "ledger/chain.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace shoal::ledger {
namespace {

constexpr int kOldestServer = 150000;
constexpr std::int64_t kOldestServerFormat = 2;

constexpr const char* kSchema = R"sql(
CREATE TABLE "{0}".entry(
  seq BIGINT CONSTRAINT entry_pkey PRIMARY KEY CHECK (seq > 0),
  time TEXT COLLATE "C" NOT NULL,
  lineage TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL
    CONSTRAINT entry_kind_check CHECK (kind IN ('open', 'budget', 'reserve', 'resume', 'settle',
      'cancel', 'fail', 'reopen', 'restore', 'checkpoint')),
  reservation BIGINT NOT NULL,
  request_key TEXT COLLATE "C" NOT NULL,
  request_digest TEXT COLLATE "C" NOT NULL,
  holder TEXT COLLATE "C" NOT NULL,
  body TEXT COLLATE "C" NOT NULL,
  epsilon_units BIGINT,
  rho_units BIGINT NOT NULL,
  epsilon_total BIGINT NOT NULL,
  rho_total BIGINT NOT NULL,
  unbounded_total BIGINT NOT NULL,
  hash TEXT COLLATE "C" NOT NULL,
  delta_units BIGINT NOT NULL,
  gaussian_units BIGINT,
  delta_total BIGINT NOT NULL,
  gaussian_total BIGINT NOT NULL,
  other_total BIGINT NOT NULL
);
CREATE UNIQUE INDEX entry_request ON "{0}".entry(lineage, request_key) WHERE kind = 'reserve';
CREATE UNIQUE INDEX entry_close ON "{0}".entry(reservation) WHERE kind IN ('settle', 'cancel', 'fail');
CREATE INDEX entry_resume ON "{0}".entry(reservation) WHERE kind = 'resume';
CREATE INDEX entry_spend ON "{0}".entry(lineage, seq) WHERE kind = 'reserve';
CREATE INDEX entry_checkpoint ON "{0}".entry(seq) WHERE kind = 'checkpoint';
CREATE FUNCTION "{0}".refuse_change() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$;
CREATE TRIGGER entry_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "{0}".entry
  FOR EACH STATEMENT EXECUTE FUNCTION "{0}".refuse_change();
CREATE TABLE "{0}".about(application TEXT NOT NULL, format INTEGER NOT NULL);
INSERT INTO "{0}".about VALUES ('shoal ledger', {1});
)sql";

// Formats 3 and 4 have more kinds of entries, and format 4 other indexes.
constexpr const char* kToThisFormat = R"sql(
ALTER TABLE "{0}".entry DROP CONSTRAINT entry_kind_check;
ALTER TABLE "{0}".entry ADD CONSTRAINT entry_kind_check CHECK (kind IN ('open', 'budget', 'reserve',
  'resume', 'settle', 'cancel', 'fail', 'reopen', 'restore', 'checkpoint'));
DROP INDEX "{0}".entry_close;
DROP INDEX IF EXISTS "{0}".entry_lineage, "{0}".entry_failure, "{0}".entry_reopen, "{0}".entry_account;
CREATE UNIQUE INDEX entry_close ON "{0}".entry(reservation) WHERE kind IN ('settle', 'cancel', 'fail');
CREATE INDEX entry_spend ON "{0}".entry(lineage, seq) WHERE kind = 'reserve';
CREATE INDEX entry_checkpoint ON "{0}".entry(seq) WHERE kind = 'checkpoint';
UPDATE "{0}".about SET format = 4;
)sql";
static_assert(kFormatVersion == 4);

// Names are those of the catalogue. A client that vanished without a word is noticed within half a
// minute, and one that stands still in a transaction does not keep the others out for long. One
// that is silent while it answers a question is not gone.
constexpr const char* kSettings =
    "SET search_path = pg_catalog, pg_temp; SET standard_conforming_strings = on; "
    "SET lock_timeout = {0}; SET idle_in_transaction_session_timeout = {0}; "
    "SET idle_session_timeout = 0; "
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4";

void require_server(ServerConnection& connection) {
  const std::string version = connection.value("SELECT current_setting('server_version_num')");
  if (std::atoi(version.c_str()) < kOldestServer) {
    throw Error(
        ErrorCode::unavailable,
        fmt::format("the server of the ledger {} has version {}; {} or later is needed: "
                    "upgrade it",
                    connection.name(), std::atoi(version.c_str()) / 10000, kOldestServer / 10000));
  }
  if (connection.value("SELECT current_setting('server_encoding')") != "UTF8") {
    throw Error(ErrorCode::unavailable,
                fmt::format("the database of the ledger {} does not store text as UTF8; make one "
                            "with CREATE DATABASE ... ENCODING 'UTF8'",
                            connection.name()));
  }
  // Without these the server says that a spend is on disk when it is not.
  for (const char* setting : {"fsync", "full_page_writes"}) {
    if (connection.value("SELECT current_setting($1)", {setting}) == "on") continue;
    throw Error(ErrorCode::io, fmt::format("the server of the ledger {} runs with {} off, and a "
                                           "crash could lose a spend; turn it on",
                                           connection.name(), setting));
  }
}

// The format of the ledger; 0 if there is none. Throws corrupt if something else has its place. One
// statement looks for both tables: they are made at once.
std::int64_t format_of(ServerConnection& connection, const std::string& schema) {
  const std::string tables = connection.value(
      "SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_catalog.pg_class AS c JOIN "
      "pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname "
      "IN ('about', 'entry')",
      {schema});
  if (tables.empty()) return 0;
  std::string application;
  std::int64_t format = 0;
  if (tables.starts_with("about")) {
    connection.run(fmt::format("SELECT application, format FROM \"{}\".about", schema), {},
                   [&](const ServerRow& row) {
                     application = row.text(0);
                     format = row.integer(1);
                   });
  }
  if (application != "shoal ledger") {
    throw Error(ErrorCode::corrupt,
                fmt::format("the schema of {} has tables but no ledger; name another schema",
                            connection.name()));
  }
  if (format < kOldestServerFormat || format > kFormatVersion) {
    throw Error(ErrorCode::corrupt,
                fmt::format("{} is no ledger of this version of Shoal (format {}, expected {} to "
                            "{})",
                            connection.name(), format, kOldestServerFormat, kFormatVersion));
  }
  return format;
}

void bring_up_to_date(ServerConnection& connection, const std::string& schema) {
  if (connection.value("SELECT pg_has_role(relowner, 'USAGE') FROM pg_catalog.pg_class WHERE oid = "
                       "to_regclass($1)",
                       {fmt::format("\"{}\".entry", schema)}) != "t") {
    throw Error(
        ErrorCode::io,
        fmt::format("the ledger {} has an older format; open it once, with shoal budget, as "
                    "the server's user who owns its tables",
                    connection.name()));
  }
  connection.run(fmt::format(fmt::runtime(kToThisFormat), schema));
}

// Makes the ledger, or brings it up to date; its entries stay as they are. One after the other: two
// that make it at the same moment would stumble over each other.
void make(ServerConnection& connection, const std::string& schema) {
  connection.run("BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE");
  try {
    connection.run("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
                   {"shoal ledger " + schema});
    const std::int64_t format = format_of(connection, schema);
    if (format != 0 && format < kFormatVersion) bring_up_to_date(connection, schema);
    if (format == 0) {
      // IF NOT EXISTS would want the right to make schemas even where there is one.
      if (connection.value("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", {schema})
              .empty())
        connection.run(fmt::format("CREATE SCHEMA \"{}\"", schema));
      connection.run(fmt::format(fmt::runtime(kSchema), schema, kFormatVersion));
    }
    connection.commit();
  } catch (...) {
    connection.roll_back();
    throw;
  }
}

}  // namespace

void check_schema_name(const std::string& schema) {
  const bool plain = !schema.empty() && schema.size() <= 63 &&
                     !(schema[0] >= '0' && schema[0] <= '9') && !schema.starts_with("pg_") &&
                     std::all_of(schema.begin(), schema.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                     });
  if (plain) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the ledger is \"postgresql:{}\"; after the colon stands a schema of the "
                          "server: small letters, digits and _, at most 63, such as "
                          "postgresql:shoal",
                          printable(schema, 80)));
}

void open_server_ledger(ServerConnection& connection, const std::string& schema,
                        const Options& options) {
  connection.run(fmt::format(fmt::runtime(kSettings), options.busy_milliseconds));
  connection.run(
      "SELECT set_config('synchronous_commit', 'on', false) WHERE "
      "current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')");
  require_server(connection);
  const std::int64_t format = format_of(connection, schema);
  if (format == kFormatVersion) return;
  if (format == 0 && !options.create) {
    throw Error(ErrorCode::not_found, fmt::format("there is no ledger {}; the first question makes "
                                                  "it",
                                                  connection.name()));
  }
  make(connection, schema);
}

}  // namespace shoal::ledger
