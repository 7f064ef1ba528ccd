// Loops over the cells of tables, four at a time: bodies for loops that are compiled twice, with
// and without AVX2, and a few that choose by themselves. Orders of addition are fixed, so that both
// give the same numbers.
#pragma once

#include <shoal/numeric/four_numbers.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

namespace shoal::synth {

bool has_avx2();

// Of numbers none of which is NaN; minus infinity of none.
double largest_of(std::span<const double> cells);
// to = to + factor * from.
void add_scaled(double factor, std::span<const double> from, std::span<double> to);
double dot(std::span<const double> a, std::span<const double> b);
// add_scaled, and then the product of `to` with another, in one go.
double add_scaled_and_dot(double factor, std::span<const double> from, std::span<double> to,
                          std::span<const double> with);

// Bodies.
SHOAL_INLINE double sum_of_cells(const double* from, std::size_t many) {
  using namespace numeric;
  Four sum{};
  Four next;
  std::size_t i = 0;
  if (many >= 8 * kLanes) {  // several at a time, since each addition waits for the one before
    Four others[3] = {};
    for (; i + 4 * kLanes <= many; i += 4 * kLanes) {
      load(from + i, next);
      sum += next;
      for (std::size_t k = 0; k < 3; ++k) {
        load(from + i + (k + 1) * kLanes, next);
        others[k] += next;
      }
    }
    sum = (sum + others[0]) + (others[1] + others[2]);
  }
  for (; i + kLanes <= many; i += kLanes) {
    load(from + i, next);
    sum += next;
  }
  double first = sum[0];
  for (; i < many; ++i) first += from[i];
  return (first + sum[1]) + (sum[2] + sum[3]);
}

SHOAL_INLINE double largest_of_cells(const double* from, std::size_t many) {
  using namespace numeric;
  Four most = Four{} - std::numeric_limits<double>::infinity();
  Four next;
  std::size_t i = 0;
  for (; i + kLanes <= many; i += kLanes) {
    load(from + i, next);
    most = most < next ? next : most;
  }
  double result = std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
  for (; i < many; ++i) result = std::max(result, from[i]);
  return result;
}

}  // namespace shoal::synth
