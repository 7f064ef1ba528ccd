// Putting masses at single losses into the cells of a lattice.
#pragma once

#include "privacy/loss_law.hpp"

#include <algorithm>
#include <cmath>

namespace shoal::privacy {

// A mass of P at a loss inside this cell.
inline void add_point(CellShares& shares, const std::vector<double>& boundaries, std::size_t cell,
                      double loss, double mass) {
  const double width = boundaries[cell + 1] - boundaries[cell];
  const double rise = std::clamp(loss - boundaries[cell], 0.0, width);
  shares.high[cell] += mass * (std::expm1(-rise) / std::expm1(-width));
  shares.low[cell] += mass * (std::expm1(width - rise) / std::expm1(width));
}

// A mass of P at any loss. One that lies on a boundary but for rounding is put there: half a
// rounding below it, a lower bound would lose a whole cell.
inline void add_atom(CellShares& shares, const std::vector<double>& boundaries, double loss,
                     double mass) {
  constexpr double kSnap = 1e-9;
  const std::size_t cells = boundaries.size() - 1;
  const double width = (boundaries.back() - boundaries.front()) / static_cast<double>(cells);
  const double position = (loss - boundaries.front()) / width;
  const double nearest = std::clamp(std::round(position), 0.0, static_cast<double>(cells));
  const auto point = static_cast<std::size_t>(nearest);
  const double distance = std::abs(loss - boundaries[point]);
  if (distance < kSnap * width) {
    shares.at[point] += mass;
    shares.loss_error = std::max(shares.loss_error, distance + 4 * kRounding * std::abs(loss));
  } else if (loss < boundaries.front()) {
    shares.below += mass * (1 + 4 * kRounding);
  } else if (loss > boundaries.back()) {
    shares.above += mass * (1 + 4 * kRounding);
    shares.above_lowered += mass * std::exp(boundaries.back() - loss) * (1 - 8 * kRounding);
  } else {
    // The division may have chosen a neighbour.
    std::size_t cell = std::min(static_cast<std::size_t>(std::max(0.0, position)), cells - 1);
    while (loss < boundaries[cell]) --cell;
    while (loss > boundaries[cell + 1]) ++cell;
    add_point(shares, boundaries, cell, loss, mass);
  }
}

}  // namespace shoal::privacy
