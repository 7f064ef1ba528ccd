// The one key that lets private data be read under a reservation. For paid_flow.cpp alone.
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
