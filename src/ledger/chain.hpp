// The chain: entries as they are stored, each with the hash of itself and all before it.
//
// File format: SQLite, application_id 0x53484F41 "SHOA", user_version 4. One table `entry`,
// append-only:
//
//   seq              1, 2, 3, ... without a gap
//   time             UTC
//   lineage          whose budget: the data's name for it
//   kind             one of the ten below
//   reservation      seq of the reserve entry that this one is about; a reserve's own; else 0
//   request_key      idempotency key, unique among the reservations of a lineage
//   request_digest   what was asked: the same key with another digest is refused
//   holder           the process that may settle
//   body             JSON
//   epsilon_units    the charge of a reserve; NULL: no finite pure bound
//   rho_units        the same in zCDP
//   epsilon_total    the lineage's sums after this entry
//   rho_total
//   unbounded_total  how many charges without a pure bound are in the sums
//   hash             SHA-256, in hex, of the previous hash, every field above and those below
//   delta_units      the charge of a reserve: how likely it fails
//   gaussian_units   the charge in mu^2 / 2; NULL: no Gaussian bound
//   delta_total      the lineage's sums after this entry
//   gaussian_total
//   other_total      how many charges without a Gaussian bound are in the sums
//
// The last five came with format 2. A file of format 1 gets the columns when it is opened, and its
// entries have NULL in all five, in the file and in the hash; no such entry follows a newer one. A
// charge of format 1 has no delta, and what its Gaussian bound would be is not known: none. Format
// 3 has three more kinds, format 4 one more, and the same columns: an older file gets the table of
// format 4 when it is opened, with its entries as they are.
//
// On a PostgreSQL server the same table is in a schema of its own, beside a table `about` with the
// application and the format, which is 2 or later.
//
// Kinds:
//
//   open     an account: body has the budget, the relation, the unit
//   budget   the owner changed the total: body as in open
//   reserve  a spend, made before data is touched: body has the event and what was asked
//   resume   another process took over a reservation whose holder died
//   settle   the answer, stored before its first byte leaves
//   cancel   a reservation given back: no data was touched
//   fail     what is told instead of an answer, stored as one; counts against the lineage
//   reopen   the owner looked: failures so far close nothing any more; body has a note
//   restore  the owner went on from a backup; body has what the ledger had been seen to hold
//   checkpoint  of no lineage: body has what the entries before it amount to, lineage by lineage
//               (LineageState), so that opening starts here
//
// Invariants: totals are the sums of reserves less cancels, by lineage; a reservation has at most
// one settle, fail or cancel, and nothing about it comes after; a checkpoint says what the entries
// before it say. Why opening need not read those: chain.proof.md.
#pragma once

#include <shoal/privacy/charge.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shoal::ledger {

class Store;

struct Totals {
  std::int64_t epsilon_units = 0;
  std::int64_t rho_units = 0;
  std::int64_t unbounded = 0;
  std::int64_t delta_units = 0;
  std::int64_t gaussian_units = 0;
  std::int64_t other = 0;
  bool operator==(const Totals&) const = default;

  privacy::Charge charge() const;
};

Totals plus(const Totals& totals, const privacy::Charge& charge);
Totals minus(const Totals& totals, const privacy::Charge& charge);

inline constexpr int kFormatVersion = 4;
inline constexpr int kEntryFormat = 2;  // the last one that changed what an entry is made of

struct Entry {
  int format = kEntryFormat;
  std::int64_t seq = 0;
  std::string time;
  std::string lineage;
  std::string kind;
  std::int64_t reservation = 0;
  std::string request_key;
  std::string request_digest;
  std::string holder;
  std::string body;
  privacy::Charge charge;
  Totals totals;
  std::string hash;
};

std::string entry_hash(const Entry& entry, const std::string& previous_hash);

// What the entries of a lineage amount to.
struct LineageState {
  Totals totals;
  std::int64_t account = 0;            // the last entry that opened or changed its account
  std::int64_t spends = 0;             // its reserve entries
  std::vector<std::int64_t> failures;  // its fail entries since the last reopening
  bool operator==(const LineageState&) const = default;
};

// What is known of the chain up to some entry. Advancing reads every newer entry and recomputes its
// hash, its number, its totals and what a checkpoint says; throws corrupt, naming the entry, if any
// of them is not what it must be.
class ChainState {
 public:
  enum class From { first_entry, last_checkpoint };
  explicit ChainState(From from) : from_(from) {}

  void advance(Store& store);
  // Takes in an entry that was just written after the last one.
  void add(Store& store, const Entry& entry);

  std::int64_t last_seq() const { return last_seq_; }
  const std::string& last_hash() const { return last_hash_; }
  // Of a lineage without entries: all zero.
  const LineageState& lineage(const std::string& name) const;
  const Totals& totals(const std::string& name) const { return lineage(name).totals; }
  // Whether that reservation is known to be open, without reading anything.
  bool is_open(std::int64_t reservation) const { return open_.contains(reservation); }

  std::int64_t entries_since_checkpoint() const { return last_seq_ - checkpoint_; }
  std::string checkpoint_body() const;

 private:
  struct OpenReservation {
    std::string lineage;
    privacy::Charge charge;
  };

  void start(Store& store);
  void load_checkpoint(Store& store, const Entry& entry);
  void take(Store& store, const Entry& entry);
  OpenReservation open_reservation(Store& store, const Entry& closing) const;

  From from_;
  std::int64_t first_ = 0;       // the entry that it started after
  std::int64_t checkpoint_ = 0;  // the last one
  std::int64_t last_seq_ = 0;
  int last_format_ = 1;
  std::string last_hash_;
  std::map<std::string, LineageState> lineages_;
  std::map<std::int64_t, OpenReservation> open_;  // not closed, and made after first_
};

// An entry that is used without having been read in its turn: throws corrupt unless its hash fits
// its fields and the hash of the entry before it.
void require_chained(Store& store, const Entry& entry);
// The same for every entry from that one to the other.
void require_chained(Store& store, std::int64_t from, std::int64_t to);

}  // namespace shoal::ledger
