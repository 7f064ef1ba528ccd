// Nearest points of a set in any floating point, and how far rounding can put them off: known
// before a point is looked at. Proof: bounded_proximal.proof.md.
#pragma once

#include <shoal/base/error.hpp>
#include <shoal/learn/set.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <variant>
#include <vector>

namespace shoal::learn {

// Each value nearer to 0 by `threshold`, or 0.
template <typename Real>
void shrink_towards_zero(std::vector<Real>& v, const Real& threshold) {
  for (Real& x : v) {
    if (x > threshold) {
      x -= threshold;
    } else if (x < -threshold) {
      x += threshold;
    } else {
      x = 0;
    }
  }
}

// The level above which the values add up to the total: the largest of what their largest 1, 2, ...
// call for. A maximum of rounded numbers is off by no more than the worst of them, so no comparison
// on the way can go wrong.
template <typename Real>
Real level_of(std::vector<Real> values, double total) {
  std::sort(values.begin(), values.end(), std::greater<>());
  Real sum = values.front();
  Real level = sum - Real(total);
  for (std::size_t i = 1; i < values.size(); ++i) {
    sum += values[i];
    const Real next = (sum - Real(total)) / Real(static_cast<double>(i + 1));
    if (next > level) level = next;
  }
  return level;
}

// Whether nearest() takes the set.
inline bool has_nearest(const ConvexSet& set) { return !std::holds_alternative<HalfSpaceCut>(set); }

template <typename Real>
struct ToNearest {
  std::vector<Real>& v;

  void operator()(const WholeSpace&) const {}
  void operator()(const L2Ball& ball) const {
    using std::sqrt;
    Real square = 0;
    for (const Real& x : v) square += x * x;
    const Real length = sqrt(square);
    if (length <= Real(ball.radius)) return;
    const Real factor = Real(ball.radius) / length;
    for (Real& x : v) x *= factor;
  }
  void operator()(const Box& box) const {
    for (Real& x : v) x = std::clamp(x, Real(box.lower), Real(box.upper));
  }
  void operator()(const Simplex& simplex) const {
    const Real level = level_of(v, simplex.total);
    for (Real& x : v) x = x > level ? x - level : Real(0);
  }
  void operator()(const L1Ball& diamond) const {
    std::vector<Real> sizes = v;
    for (Real& x : sizes) {
      if (x < 0) x = -x;
    }
    const Real level = level_of(std::move(sizes), diamond.radius);
    if (level > 0) shrink_towards_zero(v, level);
  }
  void operator()(const HalfSpaceCut&) const { SHOAL_CHECK(!"cuts have no nearest() point"); }
};

// The set's nearest point in place of v. Not for cuts.
template <typename Real>
void nearest(const ConvexSet& set, std::vector<Real>& v) {
  std::visit(ToNearest<Real>{v}, set);
}

// How far nearest() may be from the exact point for vectors of at most that norm, in arithmetic of
// unit roundoff `unit`.
double nearest_error(const ConvexSet& set, std::size_t dimension, double norm, double unit);

}  // namespace shoal::learn
