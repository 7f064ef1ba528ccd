#include "privacy/curve_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace shoal::privacy {
namespace {

// Losses beyond this are taken as infinite: their exponentials leave the range of doubles.
constexpr double kFarthest = 700;
// Points of the table from which a tilt is chosen.
constexpr int kNodes = 512;

}  // namespace

double reversed_delta(double epsilon, double delta_of_reverse) {
  return std::clamp(-std::expm1(epsilon) + std::exp(epsilon) * delta_of_reverse, 0.0, 1.0);
}

CurveLaw::CurveLaw(Curve delta_up)
    : delta_up_(std::move(delta_up)), infinite_(delta_up_(kFarthest)) {}

std::optional<Bounds> CurveLaw::delta(double epsilon) const {
  return Bounds{0, std::min(1.0, delta_up_(epsilon))};
}

// The loss at which what is left above it, delta without the mass at infinity, is at most `tail`.
double CurveLaw::highest_loss(double tail) const {
  double low = 0;
  double high = 1e-6;
  while (high < kFarthest && delta_up_(high) - infinite_ > tail) high *= 2;
  high = std::min(high, kFarthest);
  for (int round = 0; round < 40 && high - low > 1e-4 * high; ++round) {
    const double middle = (low + high) / 2;
    (delta_up_(middle) - infinite_ > tail ? low : high) = middle;
  }
  return high;
}

double CurveLaw::largest_loss() const { return kFarthest; }

// delta(l) = E_P[(1 - e^{l - L})_+] >= (1 - 1/e) P(L > l + 1), so P(L <= l + 1) is at most
// 1 - delta(l): that low it may be raised. (Where it is cut is a matter of tightness, not of
// truth.)
double CurveLaw::lowest_loss(double tail) const {
  double low = -1e-6;
  while (low > -kFarthest && 1 - delta_up_(low) > tail) low *= 2;
  return std::max(low, -kFarthest);
}

NodeTable CurveLaw::nodes(double, double, double) const {
  const double low = std::max(lowest_loss(1e-12), -60.0);
  const double high = highest_loss(1e-18);
  std::vector<double> boundaries;
  for (int i = 0; i <= kNodes; ++i) boundaries.push_back(low + (high - low) * i / kNodes);
  const CellShares shares = split(boundaries);
  NodeTable table;
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    const double mass = shares.at[i] + (i == 0 ? shares.below : 0);
    if (mass > 0) table.add(boundaries[i], std::log(mass), 1e3, 1e3);
  }
  return table;
}

CellShares CurveLaw::split(const std::vector<double>& boundaries) const {
  const std::size_t points = boundaries.size();
  CellShares shares(points - 1);
  // The hull starts at ratio 0, where delta is 1, and ends flat at the mass at infinity.
  struct Corner {
    double ratio;
    double delta;
    std::size_t point;
  };
  std::vector<Corner> hull = {{0, 1, points}};
  double largest = 1;
  for (std::size_t i = 0; i < points && boundaries[i] <= kFarthest + 1; ++i) {
    largest = std::min(largest, std::max(infinite_, delta_up_(boundaries[i])));
    const Corner next{std::exp(boundaries[i]), largest, i};
    while (hull.size() >= 2) {
      const Corner& b = hull.back();
      const Corner& a = hull[hull.size() - 2];
      if ((b.delta - a.delta) * (next.ratio - b.ratio) <=
          (next.delta - b.delta) * (b.ratio - a.ratio)) {
        break;
      }
      hull.pop_back();
    }
    hull.push_back(next);
  }
  for (std::size_t k = 1; k < hull.size(); ++k) {
    const Corner& at = hull[k];
    const Corner& before = hull[k - 1];
    const double slope_before = (before.delta - at.delta) / (at.ratio - before.ratio);
    double slope_after = 0;
    double after_error = 0;
    if (k + 1 < hull.size()) {
      const Corner& after = hull[k + 1];
      slope_after = (at.delta - after.delta) / (after.ratio - at.ratio);
      after_error = at.delta / (after.ratio - at.ratio) + slope_after;
    }
    const double error =
        8 * kRounding * (before.delta / (at.ratio - before.ratio) + slope_before + after_error);
    const double mass_without = std::max(0.0, slope_before - slope_after) + error;
    shares.at[at.point] += mass_without * at.ratio;
  }
  shares.loss_error = 2 * kRounding;  // of the exponentials
  // Over the last boundary everything that is left counts as infinite.
  shares.above = std::max(0.0, hull.back().delta - infinite_) * (1 + 8 * kRounding);
  return shares;
}

}  // namespace shoal::privacy
