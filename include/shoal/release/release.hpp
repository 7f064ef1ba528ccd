// Release: the only way from secret to public. It takes a reservation, which only the ledger makes
// and which cannot be used twice, adds exact integer noise to exact integer sums, and gives what
// may be published.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/data/exact_aggregate.hpp>
#include <shoal/mechanism/joint_noise.hpp>
#include <shoal/privacy/reservation.hpp>
#include <shoal/random/bit_source.hpp>

#include <span>
#include <vector>

namespace shoal::release {

// Noisy integers, one a statistic. They are public once the spend is settled.
struct Released {
  std::vector<Int128> values;
  privacy::SpentReservation spent;
};

// Throws internal, and releases nothing, unless the noises are exactly the event that was reserved.
// All noise is drawn before the sums are looked at; sums saturate after noise was added, never
// before.
Released release(privacy::Reservation&& reservation, data::ExactAggregate&& exact,
                 std::span<const mechanism::StatisticNoise> noises, random::BitSource& bits);

}  // namespace shoal::release
