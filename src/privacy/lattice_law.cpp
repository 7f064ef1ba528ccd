#include "privacy/lattice_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace shoal::privacy {
namespace {

LatticeLaw upper_law(const CellShares& shares, double infinite) {
  LatticeLaw law;
  const std::size_t cells = shares.low.size();
  law.mass.assign(cells + 1, 0);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const double inflate = 1 + shares.error[cell];
    law.mass[cell] += shares.low[cell] * inflate;
    law.mass[cell + 1] += shares.high[cell] * inflate;
  }
  for (std::size_t i = 0; i <= cells; ++i) {
    law.mass[i] += shares.at[i] * (1 + shares.at_error);
    law.mass[i] *= 1 + 4 * kRounding;
  }
  law.mass.front() += shares.below;
  law.infinite = (infinite + shares.above) * (1 + 4 * kRounding);
  return law;
}

// Draws each cell together to its mean and joins the means at lattice points: what lies under a
// point with as much from over it as brings their common mean to the point. All of it only
// contracts the law. Joining is stable towards larger masses, so it starts from both ends and meets
// at the heaviest cell; what is left there is balanced against masses already joined.
class Joiner {
 public:
  Joiner(const CellShares& shares, double step)
      : low_(shares.low), high_(shares.high), step_(step), mass_(shares.low.size() + 1, 0) {
    for (std::size_t k = 0; k < kNear; ++k) {
      up_[k] = std::expm1(static_cast<double>(k) * step);
      down_[k] = -std::expm1(-static_cast<double>(k) * step);
    }
    rest_.assign(low_.size(), 1);
  }

  std::vector<double> run() {
    std::size_t peak = 0;
    for (std::size_t cell = 0; cell < low_.size(); ++cell) {
      if (all(cell) > all(peak)) peak = cell;
    }
    sweep_up(peak);
    sweep_down(peak);
    for (std::size_t cell = 0; cell < low_.size(); ++cell) {
      if (rest_[cell] > 0) settle(cell);
    }
    return mass_;
  }

 private:
  double all(std::size_t cell) const { return low_[cell] + high_[cell]; }

  // e^{k step} - 1 and 1 - e^{-k step}.
  double up(std::size_t k) const {
    return k < kNear ? up_[k] : std::expm1(static_cast<double>(k) * step_);
  }
  double down(std::size_t k) const {
    return k < kNear ? down_[k] : -std::expm1(-static_cast<double>(k) * step_);
  }

  // What a cell under the point lacks, and one over it has too much, for its mean to be there: its
  // mass of Q times the ratio at the point, less its mass of P, or the reverse.
  double missing(std::size_t cell, std::size_t point) const {
    return low_[cell] * up(point - cell) + high_[cell] * up(point - cell - 1);
  }
  double excess(std::size_t cell, std::size_t point) const {
    return low_[cell] * down(cell - point) + high_[cell] * down(cell + 1 - point);
  }

  void give(std::size_t cell, double share, std::size_t point) {
    mass_[point] += share * all(cell);
    rest_[cell] = std::max(0.0, rest_[cell] - share);
  }

  void lower(std::size_t cell) {
    mass_[cell] += rest_[cell] * (low_[cell] + high_[cell] * (1 - down(1)));
    rest_[cell] = 0;
  }

  void sweep_up(std::size_t peak) {
    for (std::size_t cell = 0; cell < peak;) {
      const std::size_t point = cell + 1;
      const double needed = rest_[cell] * missing(cell, point);
      // The cells above that balance it together: whole ones, and a share of the last.
      double offered = 0;
      std::size_t above = point;
      while (above < low_.size() && offered + excess(above, point) < needed) {
        offered += excess(above, point);
        ++above;
      }
      if (above == low_.size()) {
        lower(cell);
        ++cell;
        continue;
      }
      give(cell, rest_[cell], point);
      for (std::size_t whole = point; whole < above; ++whole) give(whole, rest_[whole], point);
      const double last = excess(above, point);
      if (last > 0) give(above, std::min(1.0, (needed - offered) / last), point);
      cell = above;
    }
  }

  void sweep_down(std::size_t peak) {
    for (std::size_t cell = low_.size() - 1; cell > peak && cell < low_.size();) {
      if (rest_[cell] == 0) {
        --cell;
        continue;
      }
      const std::size_t point = cell;
      double spare = rest_[cell] * excess(cell, point);
      give(cell, rest_[cell], point);
      std::size_t below = cell;
      while (spare > 0 && below-- > 0) {
        const double asked = rest_[below] * missing(below, point);
        if (asked >= spare) {
          give(below, rest_[below] * spare / asked, point);
          spare = 0;
          break;
        }
        give(below, rest_[below], point);
        spare -= asked;
        if (below <= peak) break;
      }
      // What is over is lowered to the point: its mass of P shrinks by just that much.
      mass_[point] -= spare;
      cell = std::min(cell - 1, below);
    }
  }

  // A left-over cell goes up to the next point, and masses from further up come down to it in
  // balance; or down to the one before, with masses from further down; or else it is lowered.
  void settle(std::size_t cell) {
    const std::size_t above = cell + 1;
    if (balance(cell, above, rest_[cell] * missing(cell, above), 1) ||
        balance(cell, cell, rest_[cell] * excess(cell, cell), -1)) {
      return;
    }
    lower(cell);
  }

  // Moves the cell to the point if joined masses on its other side can be moved there in balance.
  bool balance(std::size_t cell, std::size_t point, double needed, int side) {
    const auto worth = [&](std::size_t k) {
      return side > 0 ? mass_[k] * down(k - point) : mass_[k] * up(point - k);
    };
    const std::size_t end = side > 0 ? mass_.size() : static_cast<std::size_t>(-1);
    const std::size_t first = side > 0 ? point + 1 : point - 1;
    const auto next = [&](std::size_t k) { return side > 0 ? k + 1 : k - 1; };
    double available = 0;
    for (std::size_t k = first; k != end && available < 2 * needed; k = next(k)) {
      available += worth(k);
    }
    if (available < 2 * needed) return false;
    mass_[point] += rest_[cell] * all(cell);
    rest_[cell] = 0;
    for (std::size_t k = first; k != end && needed > 0; k = next(k)) {
      const double offered = worth(k);
      if (offered == 0) continue;
      const double share = offered > needed ? needed / offered : 1;
      needed -= share * offered;
      mass_[point] += share * mass_[k];
      mass_[k] -= share * mass_[k];
    }
    return true;
  }

  const std::vector<double>& low_;
  const std::vector<double>& high_;
  double step_;
  std::vector<double> mass_;
  static constexpr std::size_t kNear = 16;
  std::array<double, kNear> up_{};
  std::array<double, kNear> down_{};
  std::vector<double> rest_;  // the share of each cell that is not joined yet
};

LatticeLaw lower_law(const CellShares& shares, double step) {
  LatticeLaw law;
  law.mass = Joiner(shares, step).run();
  // Joined with shares that are off by e, masses lie up to 2 e steps beside their point: that is an
  // error of the loss, which no mass can pay for.
  double worst = 8 * kRounding;
  for (const double error : shares.error) worst = std::max(worst, error);
  law.loss_error = 4 * step * worst + 16 * kRounding * step;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    law.mass[i] *= std::max(0.0, 1 - 2 * worst - 64 * kRounding);
    law.mass[i] += shares.at[i] * (1 - shares.at_error - 4 * kRounding);
  }
  law.mass.back() += shares.above_lowered;
  return law;
}

}  // namespace

LatticePair put_on_lattice(const LossLaw& law, double step, double anchor, double low_tail,
                           double tail) {
  const double lowest = (law.lowest_loss(low_tail) - anchor) / step;
  const double highest = (law.highest_loss(tail) - anchor) / step;
  // Masses of their own at the ends lie on the lattice but for rounding, and do not ask for one
  // more cell. A density may be so narrow that nearly all of it lies within rounding of an end: it
  // does.
  const double rounding = law.only_atoms() ? 1e-6 : -1e-9;
  const double first = std::floor(lowest + rounding);
  const double last = std::max(first + 1, std::ceil(highest - rounding));
  std::vector<double> boundaries;
  const auto cells = static_cast<std::int64_t>(last - first);
  for (std::int64_t cell = 0; cell <= cells; ++cell) {
    boundaries.push_back(anchor + step * (first + static_cast<double>(cell)));
  }
  const CellShares shares = law.split(boundaries);
  LatticePair pair{upper_law(shares, law.infinite()), lower_law(shares, step)};
  for (LatticeLaw* side : {&pair.upper, &pair.lower}) {
    side->origin = boundaries.front();
    side->step = step;
    side->loss_error =
        shares.loss_error +
        4 * kRounding * std::max(std::abs(boundaries.front()), std::abs(boundaries.back()));
  }
  return pair;
}

}  // namespace shoal::privacy
