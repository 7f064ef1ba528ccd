// Proximal points with a bound on what rounding did: the point of a set that is nearest, after a
// soft threshold.
#pragma once

#include <shoal/learn/set.hpp>

#include <span>
#include <vector>

namespace shoal::learn {

struct ProximalPoint {
  std::vector<double> weights;
  // The exact point is at most this far away. Infinite where nothing could be certified.
  double error = 0;
};

// The minimiser over the set of |w - v|^2 / 2 + threshold |w|_1. Proof: certificate.proof.md.
ProximalPoint certified_proximal(const ConvexSet& set, std::span<const double> v, double threshold);

}  // namespace shoal::learn
