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
  const double width = boundaries[1] - boundaries[0];
  const auto cells = static_cast<double>(boundaries.size() - 1);
  const double position = (loss - boundaries.front()) / width;
  const double nearest = std::round(position);
  const bool on_boundary = std::abs(position - nearest) < kSnap;
  if (on_boundary) {
    shares.loss_error = std::max(
        shares.loss_error, std::abs(position - nearest) * width + 4 * kRounding * std::abs(loss));
  }
  if (on_boundary && nearest >= 0 && nearest <= cells) {
    shares.at[static_cast<std::size_t>(nearest)] += mass;
  } else if (position < 0) {
    shares.below += mass * (1 + 4 * kRounding);
  } else if (position > cells) {
    shares.above += mass * (1 + 4 * kRounding);
    shares.above_lowered += mass * std::exp(boundaries.back() - loss) * (1 - 8 * kRounding);
  } else {
    add_point(shares, boundaries, static_cast<std::size_t>(position), loss, mass);
  }
}

}  // namespace shoal::privacy
