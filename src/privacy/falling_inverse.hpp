// Where a falling function with certified bounds takes a value: the search trusts nothing, the two
// places that it returns are each certified by an evaluation.
#pragma once

#include <shoal/privacy/profile.hpp>

#include <functional>

namespace shoal::privacy {

struct FallingFunction {
  // Bounds of the function at x.
  std::function<Bounds(double)> bounds;
  // A model of it, cheaper, falling too: only the search uses it, and corrects it by what the
  // bounds say.
  std::function<double(double)> near;
};

// Bounds of the smallest x in [0, highest] with f(x) <= target. f(highest) <= target must be known
// to hold. Relative distance between the bounds: about `tolerance`, more where f is known worse.
Bounds falling_inverse(const FallingFunction& f, double target, double highest, double tolerance);

}  // namespace shoal::privacy
