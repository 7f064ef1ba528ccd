// Releasing consumes the reservation: it must be given up by name.
#include <shoal/release/release.hpp>

using namespace shoal;

release::Released out(privacy::Reservation& reservation, data::ExactAggregate&& exact,
                      std::span<const mechanism::StatisticNoise> noises, random::BitSource& bits) {
#ifdef ALLOWED
  return release::release(std::move(reservation), std::move(exact), noises, bits);
#else
  return release::release(reservation, std::move(exact), noises, bits);
#endif
}
