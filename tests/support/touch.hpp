// Marks a reservation as touched, for tests below the session. Production has one such key, in
// src/session/touch_key.hpp; the class here must stay the same to the letter, since a test may link
// both.
#pragma once

#include <shoal/privacy/reservation.hpp>

namespace shoal::session {

class TouchKey {
 public:
  static privacy::SpentReservation touch(privacy::Reservation& reservation) {
    return reservation.touch();
  }
};

}  // namespace shoal::session

namespace shoal::test {

inline void touch(privacy::Reservation& reservation) { session::TouchKey::touch(reservation); }

}  // namespace shoal::test
