#include <shoal/base/error.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/release/release.hpp>

#include <utility>

namespace shoal::release {

// The one reader of exact aggregates.
class ExactAggregateKey {
 public:
  static const std::vector<Int128>& sums(const data::ExactAggregate& exact) { return exact.sums_; }
};

Released release(privacy::Reservation&& reservation, data::ExactAggregate&& exact,
                 std::span<const mechanism::StatisticNoise> noises, random::BitSource& bits) {
  privacy::Reservation mine = std::move(reservation);
  const data::ExactAggregate secret = std::move(exact);
  SHOAL_CHECK(mine.touched());
  SHOAL_CHECK(secret.size() == noises.size());
  // Under replace_one the ledger holds the same event with its sensitivity stated for an exchange.
  const privacy::Event joint = mechanism::joint_event(noises);
  SHOAL_CHECK(joint == mine.event() ||
              privacy::stated_for(joint, Neighbors::replace_one) == mine.event());

  std::vector<Int128> values;
  values.reserve(noises.size());
  for (const mechanism::StatisticNoise& noise : noises)
    values.push_back(sample(noise.mechanism, bits));
  const std::vector<Int128>& sums = ExactAggregateKey::sums(secret);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = saturating_add(sums[i], values[i]);
  return {std::move(values), std::move(mine).spend()};
}

}  // namespace shoal::release
