// The law of trained weights between the worst neighbours: no rows, and one row whose gradient has
// the full norm at every step. With the hinge loss, one feature and weights that stay tiny, the row
// pulls by exactly 1 each time, so the weight is a Gaussian variable with a known shift.
#pragma once

#include <shoal/learn/problem.hpp>
#include <shoal/learn/rows.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace shoal::test {

inline learn::Problem worst_problem() {
  learn::Problem problem;
  problem.loss = learn::Hinge{};
  problem.dimension = 1;
  problem.row_norm = 1;
  return problem;
}

// No row, or one that pulls by 1.
inline learn::MemoryRows worst_rows(int count) {
  learn::MemoryRows rows(1, 1, 1, learn::LabelKind::sign);
  for (int i = 0; i < count; ++i) rows.add_dense(std::vector<double>{1}, 1);
  return rows;
}

inline double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Kolmogorov's statistic, times the root of the number of draws: above 2.15 with chance 2e-4 if
// they are independent draws of that law.
inline double kolmogorov(std::vector<double> draws, const std::function<double(double)>& cdf) {
  std::sort(draws.begin(), draws.end());
  const double n = static_cast<double>(draws.size());
  double worst = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double chance = cdf(draws[i]);
    worst = std::max(
        {worst, (static_cast<double>(i) + 1) / n - chance, chance - static_cast<double>(i) / n});
  }
  return worst * std::sqrt(n);
}

}  // namespace shoal::test
