// The store in a schema of a PostgreSQL server: entries as in the file (chain.hpp), for processes
// of several hosts. Proof: postgres_store.proof.md.
//
// Every connection holds an advisory lock of its own while it lives. The server lets it go when the
// connection ends, however it ends, and so tells everybody else whether a holder is still there:
// the names of processes mean nothing on another host.
#include "ledger/postgres_opening.hpp"
#include "ledger/store.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

namespace shoal::ledger {
namespace {

constexpr const char* kColumns =
    "seq, time, lineage, kind, reservation, request_key, request_digest, holder, body, "
    "epsilon_units, rho_units, epsilon_total, rho_total, unbounded_total, hash, delta_units, "
    "gaussian_units, delta_total, gaussian_total, other_total";

constexpr std::string_view kHolder = "postgresql:";
constexpr std::chrono::milliseconds kLongestPause(50);

Entry read_entry(const ServerRow& row) {
  Entry entry;
  entry.seq = row.integer(0);
  entry.time = row.text(1);
  entry.lineage = row.text(2);
  entry.kind = row.text(3);
  entry.reservation = row.integer(4);
  entry.request_key = row.text(5);
  entry.request_digest = row.text(6);
  entry.holder = row.text(7);
  entry.body = row.text(8);
  entry.charge.epsilon_units = row.optional_integer(9);
  entry.charge.rho_units = row.integer(10);
  entry.totals.epsilon_units = row.integer(11);
  entry.totals.rho_units = row.integer(12);
  entry.totals.unbounded = row.integer(13);
  entry.hash = row.text(14);
  entry.charge.delta_units = row.integer(15);
  entry.charge.gaussian_units = row.optional_integer(16);
  entry.totals.delta_units = row.integer(17);
  entry.totals.gaussian_units = row.integer(18);
  entry.totals.other = row.integer(19);
  return entry;
}

ServerValue number(std::int64_t value) { return std::to_string(value); }
ServerValue number(const std::optional<std::int64_t>& value) {
  return value ? number(*value) : std::nullopt;
}

class PostgresStore final : public Store {
 public:
  PostgresStore(const std::string& schema, const Options& options)
      : table_(fmt::format("\"{}\".entry", schema)),
        patience_(options.busy_milliseconds),
        connection_("postgresql:" + schema, options) {
    open_server_ledger(connection_, schema, options);
    show_life();
  }

  std::string name() const override { return connection_.name(); }

  void transact(const std::function<void()>& action) override {
    const auto deadline = std::chrono::steady_clock::now() + patience_;
    for (int tries = 1;; ++tries) {
      try {
        connection_.begin();
        action();
        connection_.commit();
        return;
      } catch (const Contention&) {
        connection_.roll_back();
      } catch (...) {
        connection_.roll_back();
        throw;
      }
      if (std::chrono::steady_clock::now() >= deadline) {
        throw Error(ErrorCode::unavailable,
                    fmt::format("the ledger {} is in use by others; try again", name()));
      }
      // Different for each, so that two do not meet again and again.
      std::this_thread::sleep_for(
          std::min(kLongestPause, std::chrono::milliseconds(tries * (1 + spread_))));
    }
  }

  void append(const Entry& entry) override {
    connection_.run(
        fmt::format(
            "INSERT INTO {} ({}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, "
            "$13, $14, $15, $16, $17, $18, $19, $20)",
            table_, kColumns),
        {number(entry.seq),
         entry.time,
         entry.lineage,
         entry.kind,
         number(entry.reservation),
         entry.request_key,
         entry.request_digest,
         entry.holder,
         entry.body,
         number(entry.charge.epsilon_units),
         number(entry.charge.rho_units),
         number(entry.totals.epsilon_units),
         number(entry.totals.rho_units),
         number(entry.totals.unbounded),
         entry.hash,
         number(entry.charge.delta_units),
         number(entry.charge.gaussian_units),
         number(entry.totals.delta_units),
         number(entry.totals.gaussian_units),
         number(entry.totals.other)});
  }

  void read_from(std::int64_t seq, const std::function<void(const Entry&)>& action) override {
    each("seq >= $1 ORDER BY seq", {number(seq)}, action);
  }

  std::optional<Entry> entry_at(std::int64_t seq) override {
    return first("seq = $1", {number(seq)});
  }

  std::optional<std::string> hash_at(std::int64_t seq) override {
    std::optional<std::string> hash;
    connection_.run(fmt::format("SELECT hash FROM {} WHERE seq = $1", table_), {number(seq)},
                    [&](const ServerRow& row) { hash = row.text(0); });
    return hash;
  }

  std::optional<Entry> last_checkpoint() override {
    return first("kind = 'checkpoint' ORDER BY seq DESC LIMIT 1", {});
  }

  std::optional<Entry> reserve_of_key(const std::string& lineage, const std::string& key) override {
    return first("lineage = $1 AND request_key = $2 AND kind = 'reserve'", {lineage, key});
  }

  std::optional<Entry> reserve_at(std::int64_t seq) override {
    return first("seq = $1 AND kind = 'reserve'", {number(seq)});
  }

  std::vector<Entry> last_reserves(const std::string& lineage, std::int64_t limit) override {
    std::vector<Entry> entries;
    each("lineage = $1 AND kind = 'reserve' ORDER BY seq DESC LIMIT $2", {lineage, number(limit)},
         [&](const Entry& entry) { entries.push_back(entry); });
    return entries;
  }

  std::optional<Entry> closing_of(std::int64_t reservation) override {
    return first("reservation = $1 AND kind IN ('settle', 'cancel', 'fail')",
                 {number(reservation)});
  }

  std::optional<Entry> last_resume_of(std::int64_t reservation) override {
    return first("reservation = $1 AND kind = 'resume' ORDER BY seq DESC LIMIT 1",
                 {number(reservation)});
  }

  // A connection is to one server.
  bool is_in_place() const override { return true; }

  // The server checks its own pages.
  void check_integrity() override {}

  void backup(const std::filesystem::path& /*file*/) override {
    throw Error(ErrorCode::unsupported,
                fmt::format("the ledger {} is on a server; copy its schema with pg_dump", name()));
  }

  std::string new_holder() override { return fmt::format("{}{}#{}", kHolder, life_, ++holders_); }

  // Shared, so that two who ask at once do not take each other for the holder. A lock of our own
  // would not stop us.
  bool is_gone(const std::string& holder) override {
    if (!holder.starts_with(kHolder)) return false;
    const std::string life = holder.substr(kHolder.size(), holder.find('#') - kHolder.size());
    if (life == life_) return false;
    return connection_.value("SELECT pg_try_advisory_xact_lock_shared(hashtextextended($1, 0))",
                             {lock_of(life)}) == "t";
  }

 private:
  static std::string lock_of(const std::string& life) { return "shoal ledger holder " + life; }

  void show_life() {
    life_ = connection_.value("SELECT gen_random_uuid()");
    for (const char c : life_) spread_ = (spread_ * 31 + c) % 11;
    SHOAL_CHECK(connection_.value("SELECT pg_try_advisory_lock(hashtextextended($1, 0))",
                                  {lock_of(life_)}) == "t");
  }

  void each(const char* where, const std::vector<ServerValue>& parameters,
            const std::function<void(const Entry&)>& action) {
    connection_.run(fmt::format("SELECT {} FROM {} WHERE {}", kColumns, table_, where), parameters,
                    [&](const ServerRow& row) { action(read_entry(row)); });
  }

  std::optional<Entry> first(const char* where, const std::vector<ServerValue>& parameters) {
    std::optional<Entry> found;
    each(where, parameters, [&](const Entry& entry) {
      if (!found) found = entry;
    });
    return found;
  }

  std::string table_;
  std::chrono::milliseconds patience_;
  ServerConnection connection_;
  std::string life_;
  int spread_ = 0;
  int holders_ = 0;
};

}  // namespace

std::unique_ptr<Store> open_postgres_store(const std::string& schema, const Options& options) {
  check_schema_name(schema);
  return std::make_unique<PostgresStore>(schema, options);
}

}  // namespace shoal::ledger
