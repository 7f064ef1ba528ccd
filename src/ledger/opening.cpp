#include "ledger/opening.hpp"

#include "ledger/chain.hpp"
#include "ledger/ledger_files.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

namespace shoal::ledger {
namespace {

constexpr std::int64_t kApplicationId = 0x53484F41;
constexpr const char* kTable = R"sql(
CREATE TABLE entry(
  seq INTEGER PRIMARY KEY CHECK (seq > 0),
  time TEXT NOT NULL,
  lineage TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('open', 'budget', 'reserve', 'resume', 'settle', 'cancel',
    'fail', 'reopen', 'restore', 'checkpoint')),
  reservation INTEGER NOT NULL,
  request_key TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  holder TEXT NOT NULL,
  body TEXT NOT NULL,
  epsilon_units INTEGER,
  rho_units INTEGER NOT NULL,
  epsilon_total INTEGER NOT NULL,
  rho_total INTEGER NOT NULL,
  unbounded_total INTEGER NOT NULL,
  hash TEXT NOT NULL,
  delta_units INTEGER,
  gaussian_units INTEGER,
  delta_total INTEGER,
  gaussian_total INTEGER,
  other_total INTEGER
) STRICT;
)sql";

constexpr const char* kIndexes = R"sql(
CREATE UNIQUE INDEX entry_request ON entry(lineage, request_key) WHERE kind = 'reserve';
CREATE UNIQUE INDEX entry_close ON entry(reservation) WHERE kind IN ('settle', 'cancel', 'fail');
CREATE INDEX entry_resume ON entry(reservation) WHERE kind = 'resume';
CREATE INDEX entry_spend ON entry(lineage, seq) WHERE kind = 'reserve';
CREATE INDEX entry_checkpoint ON entry(seq) WHERE kind = 'checkpoint';
CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
PRAGMA application_id = 1397247809;
PRAGMA user_version = 4;
)sql";

// SQLite cannot change the CHECK of a column, so the rows move into a new table. A table of format
// 1 lacks the last five columns.
constexpr const char* kOldColumns =
    "seq, time, lineage, kind, reservation, request_key, request_digest, holder, body, "
    "epsilon_units, rho_units, epsilon_total, rho_total, unbounded_total, hash";
constexpr const char* kNewColumns =
    ", delta_units, gaussian_units, delta_total, gaussian_total, other_total";
static_assert(kApplicationId == 1397247809 && kFormatVersion == 4);

// A file that nobody may write is read-only even to a process that could override it.
void refuse_read_only(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && (info.st_mode & 0222) == 0) {
    throw Error(
        ErrorCode::io,
        fmt::format(
            "the ledger {} is read-only; a spend must be written before data is read, so make "
            "the file and its folder writable",
            path.string()));
  }
}

// The ledger has stored answers, and whoever may write it may spend. A file that was just made is
// empty; its log and its shared memory get the mode that it has.
void keep_to_owner(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0)
    ::chmod(path.c_str(), 0600);
}

std::int64_t pragma(const Connection& connection, const char* sql) {
  Statement statement(connection, sql);
  return statement.step() ? statement.integer(0) : 0;
}

// Whether the database is empty: a ledger yet to be made. Throws corrupt if it is anything else
// that is no ledger. Within one transaction, so that another process makes it before or after.
bool is_new(const Connection& connection) {
  const std::int64_t id = pragma(connection, "PRAGMA application_id");
  const std::int64_t version = pragma(connection, "PRAGMA user_version");
  const bool is_empty = pragma(connection, "SELECT count(*) FROM sqlite_master") == 0;
  if (id == 0 && version == 0 && is_empty) return true;
  if (id != kApplicationId) {
    throw Error(ErrorCode::corrupt,
                fmt::format("{} is a database but no ledger; name another file as ledger",
                            connection.path().string()));
  }
  if (version < 1 || version > kFormatVersion) {
    throw Error(ErrorCode::corrupt,
                fmt::format("{} is no ledger of this version of Shoal (format {}, expected {} or "
                            "older)",
                            connection.path().string(), version, kFormatVersion));
  }
  return false;
}

// Somebody else's database is left as it is.
void refuse_foreign(Connection& connection) {
  connection.run("BEGIN");
  is_new(connection);
  connection.run("COMMIT");
}

// SQLite does not wait for others when it changes the journal mode, so this does.
void use_write_ahead_log(const Connection& connection, int busy_milliseconds) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(busy_milliseconds);
  while (true) {
    try {
      Statement mode(connection, "PRAGMA journal_mode = WAL");
      if (mode.step() && mode.text(0) == "wal") return;
      throw Error(ErrorCode::io,
                  fmt::format("the ledger {} cannot use a write-ahead log there; put it on a disk "
                              "of this machine",
                              connection.path().string()));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unavailable || std::chrono::steady_clock::now() >= deadline)
        throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// SQLite says that it uses the log where making it failed, and goes on without.
void require_log(const Connection& connection) {
  if (std::filesystem::exists(connection.path().string() + "-wal")) return;
  throw Error(ErrorCode::io,
              fmt::format("the write-ahead log of the ledger {} cannot be made; check the folder, "
                          "its permissions and the free space, and try again",
                          connection.path().string()));
}

void make_schema(Connection& connection) {
  Transaction transaction(connection);
  if (!is_new(connection)) return;
  connection.run(kTable);
  connection.run(kIndexes);
  transaction.commit();
  sync_folder_of(connection.path());
}

// Gives a file of an older format the table of this one; the entries stay as they are.
void bring_up_to_date(Connection& connection) {
  Transaction transaction(connection);
  const std::int64_t format = pragma(connection, "PRAGMA user_version");
  if (format == kFormatVersion) return;  // another process was first
  const std::string columns = format == 1 ? kOldColumns : std::string(kOldColumns) + kNewColumns;
  connection.run("ALTER TABLE entry RENAME TO old_entry");
  connection.run(kTable);
  connection.run(fmt::format("INSERT INTO entry({0}) SELECT {0} FROM old_entry", columns).c_str());
  connection.run("DROP TABLE old_entry");
  connection.run(kIndexes);
  transaction.commit();
}

void refuse_missing(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return;
  throw Error(ErrorCode::not_found,
              fmt::format("there is no ledger {}; the first question makes it", path.string()));
}

void prepare(Connection& connection) {
  connection.run("PRAGMA trusted_schema = OFF");
  connection.run("PRAGMA synchronous = FULL");
  refuse_foreign(connection);
}

}  // namespace

Connection open_connection(const std::filesystem::path& path, const Options& options) {
  if (!options.create) refuse_missing(path);
  refuse_read_only(path);
  if (keeps_readers_out(path, options.busy_milliseconds))
    throw Error(ErrorCode::unavailable, busy_sentence(path));
  Connection connection(path, options.create ? Access::create : Access::write, options.vfs,
                        options.busy_milliseconds);
  keep_to_owner(path);
  prepare(connection);
  use_write_ahead_log(connection, options.busy_milliseconds);
  if (pragma(connection, "PRAGMA user_version") == 0) make_schema(connection);
  if (pragma(connection, "PRAGMA user_version") < kFormatVersion) bring_up_to_date(connection);
  require_log(connection);
  return connection;
}

std::optional<Connection> open_reading_connection(const std::filesystem::path& path, Access access,
                                                  const Options& options) {
  refuse_missing(path);
  Connection connection(path, access, options.vfs, options.busy_milliseconds);
  prepare(connection);
  if (pragma(connection, "PRAGMA user_version") != kFormatVersion) return std::nullopt;
  return connection;
}

}  // namespace shoal::ledger
