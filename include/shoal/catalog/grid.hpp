// The grid: public bounds of a column as whole steps of a power of two. Sums of such steps are
// exact integers, the same in every order, and noise is added to them as integers.
#pragma once

#include <cstdint>

namespace shoal::catalog {

// Public bounds, finite, lower < upper.
struct Bounds {
  double lower;
  double upper;
  bool operator==(const Bounds&) const = default;
};

// A step of 2^exponent.
struct Grid {
  int exponent = 0;
  double step() const;
  bool operator==(const Grid&) const = default;
};

// Bounds in steps, rounded outward: values are clamped to [lower, upper], then rounded to a whole
// step.
struct GridRange {
  Grid grid;
  std::int64_t lower = 0;
  std::int64_t upper = 0;

  // A whole step near the middle: centred values lie in [-radius, radius].
  std::int64_t middle() const;
  std::int64_t radius() const;
  // The largest distance from 0.
  std::int64_t magnitude() const;
  double value_of(double steps) const { return steps * grid.step(); }

  bool operator==(const GridRange&) const = default;
};

// No bound may be further than this from 0 in steps: sums of 2^63 rows then fit into 128 bits, and
// every step count is exact as a double.
inline constexpr std::int64_t kMaxSteps = std::int64_t{1} << 51;

// Throws invalid_argument if the bounds are too far out for the grid.
GridRange place_on_grid(const Bounds& bounds, Grid grid);

// The coarsest grid at least as fine as `wanted` (above 0), or coarser if the bounds would not fit
// on it. Whole numbers get step 1 wherever their bounds fit.
Grid choose_grid(const Bounds& bounds, double wanted, bool whole_numbers);

}  // namespace shoal::catalog
