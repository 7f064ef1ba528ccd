// The ledger: every spend, durable before data is touched, append-only, in one SQLite file that
// several processes may use at once, or in a schema of a PostgreSQL server, for several hosts. What
// was reserved counts as spent, whatever happens afterwards, unless it is cancelled before data was
// touched. File format and invariants: src/ledger/chain.hpp.
#pragma once

#include <shoal/base/error.hpp>
#include <shoal/base/neighbors.hpp>
#include <shoal/privacy/filter.hpp>
#include <shoal/privacy/reservation.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace shoal::ledger {

// A budget and what it means. The lineage names the data it belongs to.
struct Account {
  std::string lineage;
  privacy::Budget budget;
  Neighbors neighbors;
  std::string unit;  // in words: "one row", "one person (person_id)"; see same_unit()
};

// Whether both protect the same kind of unit. What stands in brackets names the columns that tell
// people apart: a table that joins the policy later may call the same people otherwise.
bool same_unit(std::string_view one, std::string_view other);

// What every request is told once a lineage is closed by failures (Request::max_failures). The one
// place of the sentence: it must not differ from request to request.
inline constexpr std::string_view kClosedSentence =
    "this data set is closed: a request failed, and its owner has not reopened it yet; nothing was "
    "spent. Ask the owner to look and to run shoal reopen";

// Whether a key is of the kind that Shoal makes itself ("same-...", "automatic-...", "state/...").
// Nobody else may choose such a key: its answer would be taken for another's.
bool is_reserved_key(std::string_view key);

struct Request {
  std::string lineage;
  std::string key;     // idempotency key
  std::string digest;  // of everything that defines the request: the same key must bring the same
  std::string description;    // for the owner's list of spends
  std::string policy_digest;  // of the policy file in force
  // The policy's total; the smaller of it and the account's holds. What is fixed in advance is as
  // the account has it.
  privacy::Budget budget;
  privacy::Event event;
  // So many failures since the last reopening close the lineage to every request. At least 1.
  int max_failures = 1;
};

// A request that failed after data was touched (Ledger::settle_failure).
struct Failure {
  std::int64_t entry;  // of the reservation that failed
  std::string time;    // of that reservation
  std::string description;
  std::string request_key;
};

// An answer as it was settled: exactly the bytes that may leave, now and at every retry.
struct StoredAnswer {
  std::int64_t entry;
  std::string answer;
  // How long it has to wait yet: nobody may see it before its first asker does, who gets it at a
  // time of a grid.
  std::chrono::microseconds hidden_for{0};
};

// A reservation, or what was answered under the same key before.
using Reserved = std::variant<privacy::Reservation, StoredAnswer>;

// An entry, by its number and its hash: what a witness keeps of a ledger. Number 0 is the ledger
// before its first entry.
struct Head {
  std::int64_t seq = 0;
  std::string hash;
  bool operator==(const Head&) const = default;
};

// The request with this key is being worked on by another that lives: unavailable for now.
class KeyInWork : public Error {
 public:
  KeyInWork();
};

// A spend as the owner sees it.
struct Spend {
  std::int64_t entry;
  std::string time;
  std::string state;  // "settled", "failed", "reserved", "cancelled"
  std::string description;
  std::string request_key;
  privacy::Event event;
  privacy::Charge charge;                        // what was charged when it was made
  int accountant = privacy::kAccountantVersion;  // which one charged it
};

// Ledgers that are not in use and stay open for the next one who opens the same place: opening
// takes longer than a spend. Any number of threads may share it.
class OpenLedgers;
std::shared_ptr<OpenLedgers> keep_open();

struct Options {
  std::string vfs;  // SQLite file layer; empty for the default. Crash tests put theirs here
  int busy_milliseconds = 10'000;
  bool create = true;
  // How long reserve() waits for a key that another works on, for its answer.
  std::chrono::milliseconds key_patience{0};
  // Where a Ledger goes at its end, and comes from if one of this process is there that still is
  // what its place leads to. None: it is closed.
  std::shared_ptr<OpenLedgers> keep = {};
  // To read alone: works without the right to write, on a full disk, and while a process that
  // stands still keeps others from writing. Whatever would write throws internal.
  bool read_only = false;
  // So many entries after a checkpoint the next one is written: what opening has to verify.
  int checkpoint_every = 256;
  // Called before and after each exchange with a server. Crash tests die in it.
  std::function<void()> step = {};
};

class Ledger {
 public:
  // Opens, or makes, the ledger and verifies the chain from its last checkpoint on; older entries
  // when they are used. The place is a file or "postgresql:<schema>" (base/ledger_place.hpp).
  // Throws corrupt, io, unavailable or not_found.
  explicit Ledger(const std::filesystem::path& place, const Options& options = {});
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  // Whether the place still leads to what was opened. If not, whatever writes throws corrupt.
  bool is_in_place() const;

  // The last entry that this ledger verified or wrote. What it wrote is on disk.
  Head head() const;
  // Whether the ledger has that entry, with that hash, as it stands in the file. A ledger that
  // lacks what was once its head is an older copy, or was cut off. Throws corrupt if the entry is
  // there and its hash is not that of its fields.
  bool contains(const Head& head) const;

  std::optional<Account> account(const std::string& lineage) const;

  // Opens the account, or checks that the open one means the same: another relation, unit, rule or
  // part for failures, or a larger total, is a conflict. A smaller total is the policy's right.
  void open_account(const Account& account);

  // The owner sets another epsilon and delta. Rule and part for failures stay as they are.
  void change_budget(const std::string& lineage, const privacy::Budget& budget);

  // Checks the total and writes the spend, in one transaction; when it returns, the spend is on
  // disk. The event is priced under the account's relation. The key of a settled request gives its
  // stored answer, unpaid; the key of one whose process died gives its reservation again, unpaid.
  // Throws budget_exceeded, conflict, KeyInWork, and
  // refused_by_policy with kClosedSentence, before it looks at anything else, if the lineage is
  // closed: to new requests and to repeated ones. What was reserved earlier may still be settled.
  Reserved reserve(const Request& request);

  // Reserves all of them in one transaction, or none: what is done in several steps is paid before
  // the first. If the first request was answered already, its answer is returned alone and nothing
  // is reserved. All are of one lineage. Throws as reserve() does.
  std::vector<Reserved> reserve_together(std::span<const Request> requests);

  // The answer that is stored under a key; none if it was never asked, or is not settled. Throws
  // conflict if the key was used for another request than the one with this digest.
  std::optional<StoredAnswer> stored(const std::string& lineage, const std::string& key,
                                     const std::string& digest) const;

  // The same for a request that is to be answered: without writing anything, gives what reserve()
  // would give if it is a stored answer. Throws as reserve() does where the lineage is closed.
  std::optional<StoredAnswer> answered(const Request& request) const;

  // Stores the answer, durable when it returns. Only what it returns may leave, and to nobody
  // before `hidden_for` has passed: until then the spend counts as reserved to whoever looks.
  StoredAnswer settle(privacy::SpentReservation&& spent, std::string_view answer,
                      std::chrono::microseconds hidden_for = {});

  // The same for a request that failed after data was touched: stores the text that is told instead
  // of an answer, and counts as a failure of the lineage.
  StoredAnswer settle_failure(privacy::SpentReservation&& spent, std::string_view answer,
                              std::chrono::microseconds hidden_for = {});

  // The failures of a lineage since it was last reopened, oldest first.
  std::vector<Failure> failures(const std::string& lineage) const;
  bool is_closed(const std::string& lineage, int max_failures) const;

  // The owner has looked: the failures so far close nothing any more. The note is kept for the
  // owner. Throws not_found if there is no such account.
  void reopen(const std::string& lineage, const std::string& note);

  // Gives back a reservation. Throws internal if data was touched under it.
  void cancel(privacy::Reservation&& reservation);

  // What is charged to the lineage, how many spends it has, the last so many of them, or all.
  // Oldest first.
  privacy::Charge total(const std::string& lineage);
  std::int64_t spend_count(const std::string& lineage);
  std::vector<Spend> last_spends(const std::string& lineage, std::int64_t limit);
  std::vector<Spend> spends(const std::string& lineage);

  // Verifies the whole chain from the first entry on, and the file's own structure; returns the
  // last entry. Throws corrupt.
  Head verify();

  // Writes a copy of one moment to a new file, durable when it returns, and verifies it. Throws
  // conflict if the file exists, unsupported for a ledger on a server.
  void backup(const std::filesystem::path& file) const;

  // The lineage's total priced anew from the stored events, by the accountant of this version.
  privacy::Charge repriced_total(const std::string& lineage);

 private:
  friend class OpenLedgers;
  struct State;
  struct Held;
  std::vector<Reserved> try_to_reserve(std::span<const Request> requests);
  static Reserved handed_out(std::variant<Held, StoredAnswer>&& made);
  StoredAnswer settle_as(const char* kind, privacy::SpentReservation&& spent,
                         std::string_view answer, std::chrono::microseconds hidden_for);
  std::unique_ptr<State> state_;
};

}  // namespace shoal::ledger
