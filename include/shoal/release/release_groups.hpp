// Release of grouped sums: the only way from GroupedAggregate to public. Every public key gets its
// noisy numbers, whether anybody is there or not; of unknown keys only those that the selection
// shows.
#pragma once

#include <shoal/catalog/key.hpp>
#include <shoal/catalog/released_group.hpp>
#include <shoal/data/grouped_aggregate.hpp>
#include <shoal/mechanism/grouped_noise.hpp>
#include <shoal/privacy/reservation.hpp>
#include <shoal/random/bit_source.hpp>

#include <span>
#include <vector>

namespace shoal::release {

struct ReleasedGroups {
  std::vector<std::vector<catalog::ReleasedGroup>>
      sets;  // one a grouping, in the order of the keys
  privacy::SpentReservation spent;
};

// One aggregate, one noise and one list of public keys a grouping; where the noise has a selection
// the list is empty. Throws internal, and releases nothing, unless what was reserved covers the
// noises: the very event, or a declared amount that it is within (privacy/declared.hpp). Sums
// saturate after noise was added, never before.
ReleasedGroups release_groups(privacy::Reservation&& reservation,
                              std::vector<data::GroupedAggregate>&& exact,
                              std::span<const mechanism::GroupedNoise> noises,
                              std::span<const std::vector<catalog::Key>> public_keys,
                              Neighbors neighbors, random::BitSource& bits);

}  // namespace shoal::release
