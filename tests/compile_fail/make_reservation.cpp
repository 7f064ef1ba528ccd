// Only the ledger makes reservations.
#include <shoal/privacy/reservation.hpp>

#ifndef ALLOWED
shoal::privacy::Reservation forge() {
  return shoal::privacy::Reservation(1, "me", shoal::privacy::event::Pure{0},
                                     shoal::Neighbors::add_remove);
}
#endif
