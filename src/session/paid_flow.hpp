// The paid part of a request: touch, work, settle, and what becomes of a failure. Everything that
// reads private data runs inside run(), and nothing else can mark a reservation as touched.
//
// Invariants:
// - The ledger has the spend on disk before a flow exists: it is made of reservations.
// - Whatever the work throws, of whatever type and from whatever step (reading, noise, rendering,
//   settling, out of memory), the asker gets one error: `internal` with kFailedSentence. The reason
//   goes to the owner's log. The ledger has the failure, which closes the data set
//   (ledger::Request::max_failures).
// - The witnesses know of what leaves before it does.
// - Every way out leaves at a time of the clock's grid: answers, stored answers, failures.
#pragma once

#include "session/account_ledger.hpp"
#include "session/answer_clock.hpp"

#include <shoal/base/owner_log.hpp>
#include <shoal/ledger/ledger.hpp>
#include <shoal/privacy/reservation.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::session {

inline constexpr std::string_view kFailedSentence =
    "the request failed after private data was read: its cost is spent, and the reason is in the "
    "data owner's log";

// What the work hands back: the proof that its reservation was used up, and the text to store.
struct PaidWork {
  privacy::SpentReservation spent;
  std::string answer;
};

class PaidFlow {
 public:
  // Gives what is to be stored for a part that failed. Public facts alone; may throw.
  using FailureText = std::function<std::string()>;
  using Work = std::function<PaidWork(privacy::Reservation&&)>;

  // A request is paid in one part or more, reserved together. `doing` stands in the owner's log.
  // The account, the log and the clock must outlive the flow.
  PaidFlow(AccountLedger& account, const OwnerLog& log, const AnswerClock& clock, std::string doing,
           std::vector<ledger::Reserved>&& parts);
  PaidFlow(const PaidFlow&) = delete;
  PaidFlow& operator=(const PaidFlow&) = delete;

  // Whether the part was answered before, so that its work will not run.
  bool known(std::size_t part) const;
  const privacy::Event& event(std::size_t part) const;

  // Runs the work under the part's reservation and settles it; of a part that is known, gives the
  // stored answer. What it returns may leave once finish() was called. If the work fails, every
  // part that is still open is settled as failed: the price was for all of them together.
  ledger::StoredAnswer run(std::size_t part, const Work& work);
  // The same where a failure must store something else, such as a state that goes on.
  ledger::StoredAnswer run(std::size_t part, const Work& work, const FailureText& failure);

  // Gives back a part that was not run. One that another process left behind cannot be given back,
  // since nobody knows what that one read.
  void give_back(std::size_t part);

  // Tells the witnesses, and waits for the next time at which something may leave. Throws what a
  // witness throws, at such a time: the answer is stored, and may be asked for again.
  void finish() const;

 private:
  void fail(std::size_t part, privacy::SpentReservation&& spent,
            const FailureText& failure) noexcept;
  void give_again(const ledger::StoredAnswer& stored) const;
  void log_reason() const noexcept;
  void witness_failure() const noexcept;

  AccountLedger& account_;
  ledger::Ledger& ledger_;
  const OwnerLog& log_;
  const AnswerClock& clock_;
  std::string doing_;
  std::vector<ledger::Reserved> parts_;
  // Let go when memory ran out, so that a failure can still be settled.
  std::unique_ptr<char[]> spare_;
};

}  // namespace shoal::session
