// Exact bounded sums: each record is put on a grid of step 2^exponent by itself, and the steps are
// added as integers.
//
// Invariants:
// - What a record adds depends on that record and the public bounds alone, and lies in [low, high].
//   Adding or removing one changes the sum by at most max(|low|, |high|) steps and replacing one by
//   at most high - low: the sensitivity of the sum as computed, not of an ideal one.
// - Integer addition has no order: every permutation, split and merge gives the same sum.
// - Nothing overflows below 2^63 records: |step count| <= 2^51, and the total has 128 bits. No sum
//   is clamped here; what is released saturates after noise (see int128.hpp).
//
// A record is scaled, clamped and rounded to the nearest step, halves away from zero, which is what
// the engine writes in SQL for a column of the same bounds. Infinities clamp to the nearer bound.
// NaN is the step in [low, high] nearest to 0. (The engine never meets a NaN: its view makes it
// NULL, which adds nothing, or the middle of the range where the policy allows no NULL.)
#pragma once

#include <shoal/base/int128.hpp>

#include <cstdint>
#include <span>

namespace shoal::numeric {

// Bounds in steps of 2^exponent, both included.
struct GridBounds {
  int exponent = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool operator==(const GridBounds&) const = default;
};

// The furthest bound from 0, in steps: every step count and every half step is exact as a double.
inline constexpr std::int64_t kMaxGridSteps = std::int64_t{1} << 51;

// Grids from 2^-kMaxGridExponent to 2^kMaxGridExponent: the step and its inverse are normal
// doubles, so scaling is exact wherever the result can matter.
inline constexpr int kMaxGridExponent = 1022;

// Throws invalid_argument unless low <= high, both within kMaxGridSteps, and the exponent is in
// range.
void validate(const GridBounds& bounds);

// What one record adds, in steps. Throws as validate does.
std::int64_t steps_on_grid(double value, const GridBounds& bounds);
std::int64_t steps_on_grid(std::int64_t value, const GridBounds& bounds);

// What all of them add, in steps. Throws as validate does. Whole numbers on a grid other than 1 are
// taken as the nearest double, as in SQL.
Int128 sum_on_grid(std::span<const double> values, const GridBounds& bounds);
Int128 sum_on_grid(std::span<const std::int64_t> values, const GridBounds& bounds);

// A sum in the making: one for each thread or block, merged in any order.
class GridSum {
 public:
  // Throws as validate does.
  explicit GridSum(const GridBounds& bounds);

  void add(std::span<const double> values);
  void add(std::span<const std::int64_t> values);

  // Throws invalid_argument if the bounds differ.
  void merge(const GridSum& other);

  const GridBounds& bounds() const { return bounds_; }
  Int128 steps() const { return steps_; }
  std::uint64_t records() const { return records_; }

 private:
  void count(std::uint64_t records);

  GridBounds bounds_;
  Int128 steps_ = 0;
  std::uint64_t records_ = 0;  // at most 2^63
};

}  // namespace shoal::numeric
