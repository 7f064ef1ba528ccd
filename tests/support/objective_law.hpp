// The exact law of objective perturbation in one and two dimensions, and its hockey-stick
// divergence by quadrature. The density of the minimiser at w is that of the noise at -grad J(w)
// times det Hess J(w).
#pragma once

#include <shoal/learn/loss.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <vector>

namespace shoal::test {

using Point = std::array<double, 2>;

struct Record {
  Point x;
  double y;
};

struct ObjectiveLaw {
  learn::Loss loss;
  double sigma = 1;
  double l2 = 1;
  bool norm_noise = false;  // density exp(-|b| / sigma) instead
  Point shift = {0, 0};     // a linear term that stands for the rest of the data
  std::vector<Record> records = {};
  bool plane = false;  // two dimensions

  double log_density(const Point& w) const {
    Point b = {-l2 * w[0] - shift[0], -l2 * w[1] - shift[1]};
    double h00 = l2;
    double h11 = l2;
    double h01 = 0;
    for (const Record& one : records) {
      const double z = one.x[0] * w[0] + one.x[1] * w[1];
      const double s = learn::slope(loss, z, one.y);
      const double c = learn::curvature(loss, z, one.y);
      b[0] -= s * one.x[0];
      b[1] -= s * one.x[1];
      h00 += c * one.x[0] * one.x[0];
      h11 += c * one.x[1] * one.x[1];
      h01 += c * one.x[0] * one.x[1];
    }
    constexpr double kLogRootTwoPi = 0.91893853320467274178;
    if (!plane) {
      const double size = std::fabs(b[0]) / sigma;
      return std::log(h00) - std::log(sigma) +
             (norm_noise ? -size - std::log(2.0) : -size * size / 2 - kLogRootTwoPi);
    }
    const double square = (b[0] * b[0] + b[1] * b[1]) / (sigma * sigma);
    return std::log(h00 * h11 - h01 * h01) - 2 * std::log(sigma) - square / 2 - 2 * kLogRootTwoPi;
  }
};

// sup over events of P(S) - e^epsilon Q(S), on a grid of cells around `centre`.
inline double hockey_stick(const ObjectiveLaw& p, const ObjectiveLaw& q, double epsilon,
                           const Point& centre, double reach, int cells) {
  const double step = 2 * reach / cells;
  double sum = 0;
  for (int i = 0; i < cells; ++i) {
    const double first = centre[0] - reach + (i + 0.5) * step;
    for (int k = 0; k < (p.plane ? cells : 1); ++k) {
      const Point w = {first, p.plane ? centre[1] - reach + (k + 0.5) * step : 0};
      const double log_p = p.log_density(w);
      const double gap = log_p - epsilon - q.log_density(w);
      if (gap > 0) sum += std::exp(log_p) * -std::expm1(-gap);
    }
  }
  return sum * (p.plane ? step * step : step);
}

// The largest pointwise log-ratio on the grid.
inline double largest_ratio(const ObjectiveLaw& p, const ObjectiveLaw& q, double reach, int cells) {
  double most = 0;
  for (int i = 0; i < cells; ++i) {
    const Point w = {-reach + 2 * reach * i / cells, 0};
    most = std::max(most, std::fabs(p.log_density(w) - q.log_density(w)));
  }
  return most;
}

}  // namespace shoal::test
