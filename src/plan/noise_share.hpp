// A part of a question's cost, and the smallest noise that stays within it.
//
// Amounts are the ledger's integer units, so that what is charged for all parts together is at most
// what was asked for, to the last unit.
#pragma once

#include <shoal/mechanism/grouped_noise.hpp>

#include <cstdint>

namespace shoal::plan {

struct Share {
  bool laplace = true;
  std::int64_t units = 0;  // of epsilon (laplace) or rho (gaussian)
  std::int64_t rest = 0;   // what dividing left over: one unit more for each of the first so many

  Share part(std::size_t index) const {
    return {laplace, units + (static_cast<std::int64_t>(index) < rest ? 1 : 0), 0};
  }

  // Noise scale for a statistic that moves by 1 in one group, near enough for choosing a grid.
  double unit_scale() const;
};

// In how many groups a unit can move a statistic between neighbours, at most.
double groups_moved(const mechanism::GroupedNoise& grouping, Neighbors neighbors);

// How much wider than unit_scale() the noise of such a grouping must be.
double widening(const Share& share, const mechanism::GroupedNoise& grouping, Neighbors neighbors);

// The smallest noise for the statistic whose charge is at most the share. Throws invalid_argument
// if it cannot be represented; `epsilon` is for the message.
mechanism::AnyMechanism smallest_noise(const Share& share,
                                       const mechanism::GroupStatistic& statistic,
                                       const mechanism::GroupedNoise& grouping, Neighbors neighbors,
                                       double epsilon);

[[noreturn]] void too_noisy(double epsilon);

}  // namespace shoal::plan
