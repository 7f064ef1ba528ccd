// Means of a function of a row, exactly: each value is clamped to [0, 1] and rounded to the unit
// grid (numeric/unit_grid.hpp), and the sum is an integer.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/numeric/unit_grid.hpp>

#include <cstdint>
#include <span>

namespace shoal::adaptive {

using numeric::grid_value;
using numeric::kGridSteps;
inline constexpr double kRounding = numeric::kGridRounding;

// So many rows at most: their sum, with noise, stays far from what integers hold.
inline constexpr std::int64_t kMostRows = std::int64_t{1} << 40;

inline Int128 grid_sum(std::span<const double> values) {
  Int128 sum = 0;
  for (const double value : values) sum += grid_value(value);
  return sum;
}

// Of any function of a row into [0, 1].
template <class Rows, class Function>
Int128 grid_sum_of(const Rows& rows, const Function& function) {
  Int128 sum = 0;
  for (const auto& row : rows) sum += grid_value(static_cast<double>(function(row)));
  return sum;
}

// Products of two numbers in [-1, 1], moved to [0, 1]: twice its mean less one is the (uncentred)
// correlation.
inline double correlation_value(double x, double y) {
  const auto within = [](double v) { return v > 1 ? 1 : v < -1 ? -1 : v == v ? v : 0; };
  return (1 + within(x) * within(y)) / 2;
}

}  // namespace shoal::adaptive
