// Only the paid flow lets private data be read under a reservation.
#include <shoal/privacy/reservation.hpp>

void read_early(shoal::privacy::Reservation& reservation) {
#ifndef ALLOWED
  reservation.touch();
#else
  static_cast<void>(reservation.touched());
#endif
}
