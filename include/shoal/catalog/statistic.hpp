// Statistics: the integers that a query adds up in each group, described by public facts alone. A
// plan lists them, an engine computes them exactly, noise is added to each.
#pragma once

#include <shoal/catalog/grid.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace shoal::catalog {

enum class StatisticKind {
  units,            // number of units (people, or rows where those are the unit)
  rows,             // number of rows
  values,           // number of rows whose value is not NULL
  plain_sum,        // sum of the value, clamped to its range, in grid steps
  centred_sum,      // the same, each value less the middle of the range
  centred_squares,  // sum of the squares of centred values, each less half the largest square
  distinct,         // number of different values; a unit adds so many at most
  leaves,           // not one integer but a histogram: how many values fell on each grid step
};

struct Statistic {
  StatisticKind kind = StatisticKind::rows;
  std::size_t value = 0;  // which value column; of no meaning for units and rows
  std::string column;     // what it is of, in words: a column or an expression
  GridRange range;        // of sums, squares and leaves
  bool operator==(const Statistic&) const = default;

  // The least and the most that one row can add: a row that is filtered out adds 0.
  std::int64_t least_per_row() const;
  std::int64_t most_per_row() const;

  // What 1 of the integer is worth: a grid step, the square of one, or 1 of what is counted.
  double unit_size() const;
};

// Squares of centred values are exact as doubles, and 2^63 of them fit into 128 bits.
inline constexpr std::int64_t kMaxSquaredRadius = std::int64_t{1} << 25;

// What centred_squares takes off each square: half of the largest one, rounded down.
std::int64_t square_offset(const GridRange& range);

}  // namespace shoal::catalog
