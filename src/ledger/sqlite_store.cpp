// The store in one SQLite file. Format: chain.hpp. Processes of one machine share it; one that
// holds a reservation is named by its boot, its number and its start.
#include "ledger/sqlite_store.hpp"

#include "ledger/backup.hpp"
#include "ledger/ledger_files.hpp"
#include "ledger/opening.hpp"
#include "ledger/private_copy.hpp"
#include "ledger/store.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/process.hpp>

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal::ledger {

Entry read_entry(const Statement& statement) {
  Entry entry;
  entry.seq = statement.integer(0);
  entry.time = statement.text(1);
  entry.lineage = statement.text(2);
  entry.kind = statement.text(3);
  entry.reservation = statement.integer(4);
  entry.request_key = statement.text(5);
  entry.request_digest = statement.text(6);
  entry.holder = statement.text(7);
  entry.body = statement.text(8);
  entry.charge.epsilon_units = statement.optional_integer(9);
  entry.charge.rho_units = statement.integer(10);
  entry.totals.epsilon_units = statement.integer(11);
  entry.totals.rho_units = statement.integer(12);
  entry.totals.unbounded = statement.integer(13);
  entry.hash = statement.text(14);
  entry.charge.gaussian_units = statement.optional_integer(16);
  const std::optional<std::int64_t> newer[] = {
      statement.optional_integer(15), statement.optional_integer(17),
      statement.optional_integer(18), statement.optional_integer(19)};
  const auto present = std::count_if(std::begin(newer), std::end(newer),
                                     [](const auto& column) { return column.has_value(); });
  if (present < 4) {
    entry.format = present == 0 && !entry.charge.gaussian_units ? 1 : 0;
    return entry;
  }
  entry.charge.delta_units = *newer[0];
  entry.totals.delta_units = *newer[1];
  entry.totals.gaussian_units = *newer[2];
  entry.totals.other = *newer[3];
  return entry;
}

namespace {

class SqliteStore final : public Store {
 public:
  explicit SqliteStore(Connection&& connection)
      : connection_(std::move(connection)), in_place_(FilesInPlace::opened(connection_.path())) {}
  // To read alone. The check throws if what was read may be of a file that was being written.
  SqliteStore(Connection&& connection, std::filesystem::path name,
              std::optional<PrivateCopy>&& copy, std::optional<QuietFile>&& quiet)
      : copy_(std::move(copy)),
        connection_(std::move(connection)),
        name_(std::move(name)),
        quiet_(std::move(quiet)) {}

  std::string name() const override {
    return name_.empty() ? connection_.path().string() : name_.string();
  }

  // BEGIN IMMEDIATE keeps all other writers out, so the action runs once. Looks afterwards, too:
  // what was written into a file that has lost its name is not to be relied on.
  void transact(const std::function<void()>& action) override {
    SHOAL_CHECK(name_.empty());
    Transaction transaction(connection_);
    if (!in_place_) in_place_ = FilesInPlace::required(connection_.path());
    in_place_->require();
    action();
    transaction.commit();
    in_place_->require();
  }

  bool is_in_place() const override { return in_place_ && in_place_->hold(); }

  void append(const Entry& entry) override {
    Statement insert(
        connection_,
        "INSERT INTO entry VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,"
        "?19,?20)");
    insert.bind(1, entry.seq).bind(2, entry.time).bind(3, entry.lineage).bind(4, entry.kind);
    insert.bind(5, entry.reservation).bind(6, entry.request_key).bind(7, entry.request_digest);
    insert.bind(8, entry.holder).bind(9, entry.body);
    insert.bind(10, entry.charge.epsilon_units);
    insert.bind(11, entry.charge.rho_units).bind(12, entry.totals.epsilon_units);
    insert.bind(13, entry.totals.rho_units).bind(14, entry.totals.unbounded).bind(15, entry.hash);
    insert.bind(16, entry.charge.delta_units).bind(17, entry.charge.gaussian_units);
    insert.bind(18, entry.totals.delta_units).bind(19, entry.totals.gaussian_units);
    insert.bind(20, entry.totals.other);
    insert.step();
  }

  void read_from(std::int64_t seq, const std::function<void(const Entry&)>& action) override {
    each("SELECT * FROM entry WHERE seq >= ?1 ORDER BY seq", action, seq);
  }

  std::optional<Entry> entry_at(std::int64_t seq) override {
    return first("SELECT * FROM entry WHERE seq = ?1", seq);
  }

  std::optional<std::string> hash_at(std::int64_t seq) override {
    Statement statement(connection_, "SELECT hash FROM entry WHERE seq = ?1");
    if (!statement.bind(1, seq).step()) return std::nullopt;
    require_quiet();
    return statement.text(0);
  }

  std::optional<Entry> last_checkpoint() override {
    return first("SELECT * FROM entry WHERE kind = 'checkpoint' ORDER BY seq DESC LIMIT 1");
  }

  std::optional<Entry> reserve_of_key(const std::string& lineage, const std::string& key) override {
    return first("SELECT * FROM entry WHERE lineage = ?1 AND request_key = ?2 AND kind = 'reserve'",
                 lineage, key);
  }

  std::optional<Entry> reserve_at(std::int64_t seq) override {
    return first("SELECT * FROM entry WHERE seq = ?1 AND kind = 'reserve'", seq);
  }

  std::vector<Entry> last_reserves(const std::string& lineage, std::int64_t limit) override {
    std::vector<Entry> entries;
    Statement statement(connection_,
                        "SELECT * FROM entry INDEXED BY entry_spend WHERE lineage = ?1 AND kind = "
                        "'reserve' ORDER BY seq DESC LIMIT ?2");
    statement.bind(1, lineage).bind(2, limit);
    while (statement.step()) entries.push_back(read_entry(statement));
    require_quiet();
    return entries;
  }

  std::optional<Entry> closing_of(std::int64_t reservation) override {
    return first(
        "SELECT * FROM entry WHERE reservation = ?1 AND kind IN ('settle', 'cancel', "
        "'fail')",
        reservation);
  }

  std::optional<Entry> last_resume_of(std::int64_t reservation) override {
    return first(
        "SELECT * FROM entry WHERE reservation = ?1 AND kind = 'resume' ORDER BY seq DESC LIMIT 1",
        reservation);
  }

  void check_integrity() override {
    Statement statement(connection_, "PRAGMA integrity_check(1)");
    if (statement.step() && statement.text(0) == "ok") return;
    connection_.fail(SQLITE_CORRUPT);
  }

  void backup(const std::filesystem::path& file) override { write_backup(connection_, file); }

  // Two processes that hold one identity cannot be told apart by it, nor can two threads; a counter
  // can.
  std::string new_holder() override {
    static std::atomic<std::uint64_t> counter{0};
    return fmt::format("{}#{}", process_identity(), ++counter);
  }

  bool is_gone(const std::string& holder) override {
    return process_is_gone(std::string_view(holder).substr(0, holder.find('#')));
  }

 private:
  template <typename Value>
  void each(const char* sql, const std::function<void(const Entry&)>& action, const Value& value) {
    Statement statement(connection_, sql);
    statement.bind(1, value);
    while (statement.step()) {
      const Entry entry = read_entry(statement);
      require_quiet();
      action(entry);
    }
    require_quiet();
  }

  template <typename... Values>
  std::optional<Entry> first(const char* sql, const Values&... values) {
    Statement statement(connection_, sql);
    int index = 0;
    (statement.bind(++index, values), ...);
    std::optional<Entry> entry;
    if (statement.step()) entry = read_entry(statement);
    require_quiet();
    return entry;
  }

  void require_quiet() const {
    if (quiet_) quiet_->require();
  }

  std::optional<PrivateCopy> copy_;  // goes after the connection to it
  Connection connection_;
  std::optional<FilesInPlace> in_place_;
  std::filesystem::path name_;  // of what the copy is of
  std::optional<QuietFile> quiet_;
};

}  // namespace

namespace {

using Opened = std::unique_ptr<Store>;

Opened open_to_write(const std::filesystem::path& path, const Options& options) {
  return std::make_unique<SqliteStore>(open_connection(path, options));
}

Opened open_read_only(const std::filesystem::path& path, const Options& options) {
  auto connection = open_reading_connection(path, Access::read, options);
  if (!connection) return nullptr;
  return std::make_unique<SqliteStore>(*std::move(connection), path, std::nullopt, std::nullopt);
}

// A file whose log is empty has everything itself.
Opened open_quiet(const std::filesystem::path& path, const Options& options) {
  std::optional<QuietFile> quiet = QuietFile::without_log(path);
  if (!quiet) return nullptr;
  auto connection = open_reading_connection(path, Access::immutable, options);
  if (!connection) return nullptr;
  quiet->require();
  return std::make_unique<SqliteStore>(*std::move(connection), path, std::nullopt,
                                       std::move(quiet));
}

Opened open_copy(const std::filesystem::path& path, Options options) {
  PrivateCopy copy(path);
  options.create = false;
  Connection connection = open_connection(copy.path(), options);
  return std::make_unique<SqliteStore>(std::move(connection), path, std::move(copy), std::nullopt);
}

// As whoever may write where that is possible: an old format is brought up to date, and a log that
// a killed process left is read. Otherwise, and where the disk is full or a process that stands
// still keeps everybody out, without a byte written there.
Opened open_to_read(const std::filesystem::path& path, const Options& options) {
  std::vector<Opened (*)(const std::filesystem::path&, const Options&)> ways;
  if (!keeps_readers_out(path, options.busy_milliseconds))
    ways.push_back(may_write(path) ? open_to_write : open_read_only);
  ways.push_back(open_quiet);
  for (const auto& way : ways) {
    try {
      if (Opened opened = way(path, options)) return opened;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::io && error.code() != ErrorCode::unavailable) throw;
    }
  }
  return open_copy(path, options);
}

}  // namespace

std::unique_ptr<Store> open_sqlite_store(const std::filesystem::path& path,
                                         const Options& options) {
  if (options.read_only) {
    Options existing = options;
    existing.create = false;
    return open_to_read(path, existing);
  }
  return std::make_unique<SqliteStore>(open_connection(path, options));
}

}  // namespace shoal::ledger
