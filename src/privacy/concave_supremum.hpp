// The supremum of a concave function of which only bounds at some points are known.
//
// From above: between two neighbouring points a concave function lies under the chords of the
// intervals beside, extended. From below: it is at least its value at each point. Trade-off curves
// and privacy profiles are such suprema of each other. Private to the accountant; proof:
// tradeoff.proof.md.
#pragma once

#include <shoal/privacy/profile.hpp>

#include <vector>

namespace shoal::privacy {

// The function lies within `value` at some x with x.lower <= x <= x.upper.
struct ConcaveSample {
  Bounds x;
  Bounds value;
};

struct Supremum {
  Bounds value;
  // Where to look next to bring the bounds together: near the place that the upper bound comes
  // from.
  double where = 0;
  // How uncertain the samples around that place are themselves: looking elsewhere cannot bring the
  // bounds closer than that.
  double floor = 0;
};

// What is known of the slope at the ends: at most this at the first point, at least that at the
// last one (so that the function beyond does not matter). Infinite: nothing.
struct EndSlopes {
  double first;
  double last;
};

// The supremum between the first and the last sample. There must be two or more, by increasing x
// and apart from each other. All rounding is outward.
Supremum concave_supremum(const std::vector<ConcaveSample>& samples, const EndSlopes& slopes);

}  // namespace shoal::privacy
