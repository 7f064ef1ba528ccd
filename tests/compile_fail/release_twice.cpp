// What a release leaves of a reservation is no reservation: it can be settled, not released again.
#include <shoal/release/release_groups.hpp>

using namespace shoal;

void out(release::ReleasedGroups&& first, std::vector<data::GroupedAggregate>&& exact,
         std::span<const mechanism::GroupedNoise> noises,
         std::span<const std::vector<catalog::Key>> keys, random::BitSource& bits) {
#ifdef ALLOWED
  (void)first;
  (void)exact;
  (void)noises;
  (void)keys;
  (void)bits;
#else
  release::release_groups(std::move(first.spent), std::move(exact), noises, keys,
                          Neighbors::add_remove, bits);
#endif
}
