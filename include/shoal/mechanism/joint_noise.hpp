// Several statistics of one query, each with its own noise: one joint mechanism, priced as one
// event.
#pragma once

#include <shoal/mechanism/registry.hpp>

#include <span>

namespace shoal::mechanism {

// Noise for one integer statistic that moves by at most `sensitivity` between neighbours.
struct StatisticNoise {
  AnyMechanism mechanism;
  Sensitivity sensitivity;
  bool operator==(const StatisticNoise&) const = default;
};

// The event of adding each noise to its statistic, independently, in this order.
privacy::Event joint_event(std::span<const StatisticNoise> noises);

}  // namespace shoal::mechanism
