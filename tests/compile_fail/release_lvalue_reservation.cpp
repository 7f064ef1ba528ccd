// Releasing consumes the reservation: it must be given up by name.
#include <shoal/release/release_groups.hpp>

using namespace shoal;

release::ReleasedGroups out(privacy::Reservation& reservation,
                            std::vector<data::GroupedAggregate>&& exact,
                            std::span<const mechanism::GroupedNoise> noises,
                            std::span<const std::vector<catalog::Key>> keys,
                            random::BitSource& bits) {
#ifdef ALLOWED
  return release::release_groups(std::move(reservation), std::move(exact), noises, keys,
                                 Neighbors::add_remove, bits);
#else
  return release::release_groups(reservation, std::move(exact), noises, keys, Neighbors::add_remove,
                                 bits);
#endif
}
