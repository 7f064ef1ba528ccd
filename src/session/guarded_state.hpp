// Interactive mechanisms that outlive a process: a state file that holds the secret noise, paid for
// when it is made, and used for one turn after the other, never twice from the same point. Whoever
// could go back would get more answers than were paid for; the ledger makes sure that nobody can.
//
// The file is the owner's, mode 0600. Format, one JSON object:
//   {"shoal_state": 1, "kind": "holdout", "id": "<hex>", "turn": 7, "ledger": "<path>",
//    "lineage": "<name>", "data": "<path>", "notes": {...public...}, "state": {...secret...}}
// Invariants: the ledger has the spend, settled, before the file is a state: one whose spend is
// missing, given back, failed or unsettled is refused. A turn is a request of the ledger that costs
// nothing and whose key holds id and turn: once it is settled, that turn is over. A turn is settled
// with the digest of the next file, which lies beside it before, so that a crash loses neither
// state nor answer. Proof note: src/session/guarded_state.proof.md.
#pragma once

#include "session/account_ledger.hpp"
#include "session/answer_clock.hpp"

#include <shoal/base/owner_log.hpp>
#include <shoal/privacy/event.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace shoal::session {

struct NewState {
  std::filesystem::path file;  // must not exist
  AccountPlace place;          // what it is paid from; neighbours by replace_one
  AccountTerms terms;
  std::string kind;
  std::string notes = "{}";                          // public, JSON
  std::string description;                           // for the owner's list of spends
  privacy::Event event = privacy::event::Compose{};  // what all turns together do to the data
  int max_failures = 1;                              // so many close the lineage
};

// Calls `make` for the first state (JSON), writes it beside, reserves the event, and gives the file
// its name in the paid flow: what fails before costs nothing, and what fails after is a failure
// like any other. Touches no data. Throws conflict if the file exists, budget_exceeded.
void create_state(const NewState& request, const OwnerLog& log, const AnswerClock& clock,
                  const std::function<std::string()>& make);

// What may be known of a state without taking a turn.
struct StateInfo {
  std::string kind;
  std::string id;
  std::int64_t turn = 0;
  std::filesystem::path ledger;
  std::string lineage;
  std::filesystem::path data;  // whose marker tells of the budget; empty for none
  std::string notes;
  std::string state;  // secret
};

// Throws not_found, corrupt, and invalid_argument if it is of another kind.
StateInfo read_state(const std::filesystem::path& file, const std::string& kind);

// The same of a state of whatever kind.
StateInfo read_any_state(const std::filesystem::path& file);

// Where a state was paid.
AccountPlace place_of(const StateInfo& info);

// As read_state(), of one that was paid for. Throws conflict if its spend is not in the ledger,
// corrupt if the ledger is lost or behind.
StateInfo read_paid_state(const std::filesystem::path& file, const std::string& kind);

class StateTurn {
 public:
  // Takes the turn. Throws conflict if this state was used already (a copy, or an old file put
  // back) or was never paid for, unavailable if somebody is using it.
  // So many failures close its data set (ledger::Request::max_failures). Where a policy says where
  // the state's budget is, its files and its witness count.
  StateTurn(const std::filesystem::path& file, const std::string& kind, int max_failures = 1,
            const AccountPlace* known = nullptr);
  // Without finish() the turn ends with the state unchanged: nothing may have left.
  ~StateTurn();
  StateTurn(const StateTurn&) = delete;
  StateTurn& operator=(const StateTurn&) = delete;

  const StateInfo& info() const;

  // The turn is over and the next state durable. Only now may what was answered leave.
  void finish(const std::string& next_state);

  // The same for a turn that reads private data: runs the work, which gives the next state, in the
  // paid flow. If it fails, the turn is settled as a failure, and over with the state that
  // `after_failure` gives; without it, as it was.
  void run(const OwnerLog& log, const AnswerClock& clock, const std::function<std::string()>& work,
           const std::function<std::string()>& after_failure = {});

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace shoal::session
