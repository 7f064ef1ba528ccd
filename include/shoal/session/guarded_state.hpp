// Interactive mechanisms that outlive a process: a state file that holds the secret noise, paid for
// when it is made, and used for one turn after the other, never twice from the same point. Whoever
// could go back would get more answers than were paid for; the ledger makes sure that nobody can.
//
// The file is the owner's. Format, one JSON object:
//   {"shoal_state": 1, "kind": "holdout", "id": "<hex>", "turn": 7, "ledger": "<path>",
//    "lineage": "<name>", "notes": {...public...}, "state": {...secret...}}
// Invariants: the ledger has the spend before the file exists. A turn is a request of the ledger
// that costs nothing and whose key holds id and turn: once it is settled, that turn is over. A turn
// is settled with the digest of the next file, which lies beside it before, so that a crash loses
// neither state nor answer. Proof note: src/session/guarded_state.proof.md.
#pragma once

#include <shoal/base/owner_log.hpp>
#include <shoal/ledger/ledger.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/privacy/filter.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace shoal::session {

class AnswerClock;

struct NewState {
  std::filesystem::path file;    // must not exist
  std::filesystem::path ledger;  // made if it is not there
  std::string lineage;           // of the data that will be asked about
  privacy::Budget budget;        // the total of that lineage
  std::string unit;              // what is protected, in words; neighbours by replace_one
  std::string kind;
  std::string notes = "{}";  // public, JSON
  std::string description;   // for the owner's list of spends
  privacy::Event event;      // what all turns together do to the data
};

// Reserves the event, calls `make` for the first state (JSON) and writes the file. Touches no data.
// What fails before the file is there costs nothing. Throws conflict if the file exists,
// budget_exceeded.
void create_state(const NewState& request, const std::function<std::string()>& make);

// What may be known of a state without taking a turn.
struct StateInfo {
  std::string kind;
  std::string id;
  std::int64_t turn = 0;
  std::filesystem::path ledger;
  std::string lineage;
  std::string notes;
  std::string state;  // secret
};

// Throws not_found, corrupt, and invalid_argument if it is of another kind.
StateInfo read_state(const std::filesystem::path& file, const std::string& kind);

class StateTurn {
 public:
  // Takes the turn. Throws conflict if this state was used already (a copy, or an old file put
  // back), unavailable if somebody is using it.
  // So many failures close its data set (ledger::Request::max_failures).
  StateTurn(const std::filesystem::path& file, const std::string& kind, int max_failures = 1);
  // Without finish() the turn ends with the state unchanged: nothing may have left.
  ~StateTurn();
  StateTurn(const StateTurn&) = delete;
  StateTurn& operator=(const StateTurn&) = delete;

  const StateInfo& info() const;

  // The turn is over and the next state durable. Only now may what was answered leave.
  void finish(const std::string& next_state);

  // The same for a turn that reads private data: runs the work, which gives the next state, in the
  // paid flow. If it fails, the turn is over with the state as it was, and settled as a failure.
  void run(const OwnerLog& log, const AnswerClock& clock, const std::function<std::string()>& work);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace shoal::session
