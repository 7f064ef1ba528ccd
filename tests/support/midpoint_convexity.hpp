// A function is convex on a segment if it nowhere exceeds its chord: checks the middle of random
// segments. One that is continuous and passes at every middle is convex.
#pragma once

#include "support/seeded_source.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace shoal::test {

inline double uniform(random::BitSource& bits, double lower, double upper) {
  return lower + (upper - lower) * std::ldexp(static_cast<double>(bits.next_bits(53)), -53);
}

inline std::vector<double> uniform_vector(random::BitSource& bits, std::size_t size, double reach) {
  std::vector<double> v(size);
  for (double& x : v) x = uniform(bits, -reach, reach);
  return v;
}

// The largest amount by which the middle of a segment within [-reach, reach] exceeds the chord.
template <typename Function>
double midpoint_excess(Function&& function, double reach, int segments, std::uint64_t seed) {
  SeededSource bits(seed);
  double worst = -1e300;
  for (int i = 0; i < segments; ++i) {
    const double a = uniform(bits, -reach, reach);
    const double b = uniform(bits, -reach, reach);
    const double chord = function(a) / 2 + function(b) / 2;
    worst = std::max(worst, function(a / 2 + b / 2) - chord);
  }
  return worst;
}

}  // namespace shoal::test
