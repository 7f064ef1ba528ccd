// Statistics: the integers that a query adds up, described by public facts alone. A plan lists
// them, an engine computes them exactly, noise is added to each.
#pragma once

#include <shoal/catalog/grid.hpp>

#include <cstdint>
#include <string>

namespace shoal::catalog {

enum class StatisticKind {
  rows,         // number of rows
  values,       // number of rows whose column is not NULL
  plain_sum,    // sum of the column, clamped to its range, in grid steps
  centred_sum,  // the same, each value less the middle of the range
};

struct Statistic {
  StatisticKind kind = StatisticKind::rows;
  std::string column;  // empty for rows
  GridRange range;     // of the sums
  bool operator==(const Statistic&) const = default;

  // The least and the most that one row can add: a row that is filtered out adds 0.
  std::int64_t least_per_row() const;
  std::int64_t most_per_row() const;
};

}  // namespace shoal::catalog
