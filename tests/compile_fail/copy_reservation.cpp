// A reservation cannot be copied: a spend is used once.
#include <shoal/privacy/reservation.hpp>

shoal::privacy::Reservation keep(shoal::privacy::Reservation&& reservation) {
#ifdef ALLOWED
  return std::move(reservation);
#else
  shoal::privacy::Reservation copy(static_cast<const shoal::privacy::Reservation&>(reservation));
  return copy;
#endif
}
