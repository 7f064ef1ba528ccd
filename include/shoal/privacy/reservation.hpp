// The reservation: proof, in the type system, that the ledger has a spend on disk. Only the ledger
// makes one and it cannot be copied; release_groups() consumes it. Dropped unused it stays spent,
// which is the safe side.
//
// Only the session's paid flow can mark one as touched, and so let private data be read under it:
// whatever happens after that is settled there (src/session/paid_flow.hpp).
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/privacy/event.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace shoal::ledger {
class Ledger;
}
namespace shoal::session {
class TouchKey;
}

namespace shoal::privacy {

// What is left of a reservation once noise was drawn for it: the right to settle that entry. The
// ledger settles an entry once, whoever comes first.
class SpentReservation {
 public:
  SpentReservation(SpentReservation&&) = default;
  SpentReservation& operator=(SpentReservation&&) = default;
  SpentReservation(const SpentReservation&) = delete;
  SpentReservation& operator=(const SpentReservation&) = delete;

  std::int64_t entry() const { return entry_; }
  const std::string& holder() const { return holder_; }

 private:
  friend class Reservation;
  SpentReservation(std::int64_t entry, std::string holder)
      : entry_(entry), holder_(std::move(holder)) {}

  std::int64_t entry_;
  std::string holder_;
};

class Reservation {
 public:
  Reservation(Reservation&&) = default;
  Reservation& operator=(Reservation&&) = default;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  std::int64_t entry() const { return entry_; }
  const Event& event() const { return event_; }
  // The relation that the account is for: an event says nothing without it.
  Neighbors neighbors() const { return neighbors_; }
  bool touched() const { return touched_; }

  // Gives up the reservation for the right to settle it. For release_groups() alone.
  SpentReservation spend() && { return SpentReservation(entry_, std::move(holder_)); }

 private:
  friend class ::shoal::ledger::Ledger;
  friend class ::shoal::session::TouchKey;
  Reservation(std::int64_t entry, std::string holder, Event event, Neighbors neighbors)
      : entry_(entry),
        holder_(std::move(holder)),
        event_(std::move(event)),
        neighbors_(neighbors) {}

  // Before the first read of private data: from here on it is spent, whatever happens. Gives the
  // right to settle the entry as failed, wherever the reservation is by then.
  SpentReservation touch() {
    touched_ = true;
    return SpentReservation(entry_, holder_);
  }

  std::int64_t entry_;
  std::string holder_;
  Event event_;
  Neighbors neighbors_;
  bool touched_ = false;
};

}  // namespace shoal::privacy
