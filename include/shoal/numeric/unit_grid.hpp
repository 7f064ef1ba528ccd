// Values in [0, 1] as integers on a grid, so that their sums are exact. Values outside are clamped
// and never refused, since an error would depend on private rows; what is not a number counts as 0.
#pragma once

#include <cmath>
#include <cstdint>

namespace shoal::numeric {

// Rounding to the grid moves a value, and so a mean, by at most half of 2^-kGridBits.
inline constexpr int kGridBits = 20;
inline constexpr std::int64_t kGridSteps = std::int64_t{1} << kGridBits;
inline constexpr double kGridRounding = 0x1p-21;

inline std::int64_t grid_value(double value) {
  if (!(value > 0)) return 0;
  if (value >= 1) return kGridSteps;
  return std::llround(value * static_cast<double>(kGridSteps));
}

}  // namespace shoal::numeric
