// Nothing is released without a reservation.
#include <shoal/release/release.hpp>

using namespace shoal;

release::Released out(privacy::Reservation&& reservation, data::ExactAggregate&& exact,
                      std::span<const mechanism::StatisticNoise> noises, random::BitSource& bits) {
#ifdef ALLOWED
  return release::release(std::move(reservation), std::move(exact), noises, bits);
#else
  return release::release(std::move(exact), noises, bits);
#endif
}
