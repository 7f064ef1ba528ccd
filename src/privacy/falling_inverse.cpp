#include "privacy/falling_inverse.hpp"

#include <algorithm>
#include <cmath>

namespace shoal::privacy {
namespace {

// A root of ln model(x) - log_target by regula falsi with the Illinois step, bisection as a guard.
double root_near(const std::function<double(double)>& model, double log_target, double highest,
                 double tolerance) {
  const auto height = [&](double x) { return std::log(std::max(model(x), 1e-320)) - log_target; };
  double low = 0;
  double high = highest;
  double at_low = height(low);
  double at_high = height(high);
  if (at_low <= 0) return 0;
  if (at_high >= 0) return highest;
  int same_side = 0;
  for (int step = 0; step < 200 && high - low > tolerance * high; ++step) {
    double x = low + (high - low) * (at_low / (at_low - at_high));
    // Far from the root the curve is bent: halve every third step.
    if (step % 3 == 2 || !(x > low && x < high)) x = low + (high - low) / 2;
    if (!(x > low && x < high)) break;
    const double here = height(x);
    if (here > 0) {
      low = x;
      at_low = here;
      if (same_side == 1) at_high /= 2;
      same_side = 1;
    } else {
      high = x;
      at_high = here;
      if (same_side == -1) at_low /= 2;
      same_side = -1;
    }
  }
  return low + (high - low) / 2;
}

// The root of the model, where the model is off by a factor that varies little: each look at the
// function corrects it. Where that does not settle, the function itself is searched.
double certified_root_near(const FallingFunction& f, double target, double highest,
                           double tolerance) {
  double correction = 0;
  double last = -1;
  for (int round = 0; round < 8; ++round) {
    const double root = root_near(f.near, std::log(target) - correction, highest, tolerance / 16);
    if (std::fabs(root - last) <= tolerance / 8 * root) return root;
    const double model = f.near(root);
    const double value = f.bounds(root).upper;
    if (!(model > 0 && value > 0)) break;
    correction = std::log(value) - std::log(model);
    if (std::fabs(correction) < 1e-14) return root;
    last = root;
  }
  const auto itself = [&](double x) { return f.bounds(x).upper; };
  return root_near(itself, std::log(target), highest, tolerance / 16);
}

// Tries ever wider steps away from a root, until one is enough.
template <typename Try>
void widen(double tolerance, const Try& enough) {
  double width = tolerance / 2;
  while (width < 1 && !enough(width)) width *= 4;
}

}  // namespace

Bounds falling_inverse(const FallingFunction& f, double target, double highest, double tolerance) {
  if (f.bounds(0).upper <= target) return {0, 0};
  const double root = certified_root_near(f, target, highest, tolerance);
  Bounds result{0, highest};
  widen(tolerance, [&](double width) {
    const double x = root * (1 + width) + 0x1p-1000;
    const bool beyond = !(x < highest);
    if (!beyond && !(f.bounds(x).upper <= target)) return false;
    if (!beyond) result.upper = x;
    return true;
  });
  widen(tolerance, [&](double width) {
    const double x = root * (1 - width);
    if (!(f.bounds(x).lower > target)) return false;
    result.lower = x;
    return true;
  });
  return result;
}

}  // namespace shoal::privacy
