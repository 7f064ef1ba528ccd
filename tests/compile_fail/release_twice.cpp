// What a release leaves of a reservation is no reservation: it can be settled, not released again.
#include <shoal/release/release.hpp>

using namespace shoal;

void out(release::Released&& first, data::ExactAggregate&& exact,
         std::span<const mechanism::StatisticNoise> noises, random::BitSource& bits) {
#ifdef ALLOWED
  (void)first;
  (void)exact;
  (void)noises;
  (void)bits;
#else
  release::release(std::move(first.spent), std::move(exact), noises, bits);
#endif
}
