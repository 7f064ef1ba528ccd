// Nothing is learnt from private rows without a reservation.
#include <shoal/learn/fit.hpp>

#include <utility>

auto learn(const shoal::learn::Problem& problem, const shoal::learn::Method& method,
           shoal::learn::TrainingRows&& rows, shoal::privacy::Reservation&& reservation,
           shoal::random::BitSource& bits) {
#ifdef ALLOWED
  return fit(problem, method, std::move(rows), std::move(reservation), bits);
#else
  static_cast<void>(reservation);
  return fit(problem, method, std::move(rows), {}, bits);
#endif
}
