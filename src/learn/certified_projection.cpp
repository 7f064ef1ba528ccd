#include "learn/certified_projection.hpp"

#include "learn/certificate.hpp"
#include "learn/water_level.hpp"

#include <shoal/learn/regulariser.hpp>
#include <shoal/numeric/directed.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

namespace shoal::learn {
namespace {

using numeric::add_up;
using numeric::multiply_up;
using numeric::subtract_down;
using numeric::subtract_up;

constexpr double kUnit = 0x1p-53;
constexpr int kMostTurns = 100;  // of a search for the multiplier of a cut

double root(std::size_t dimension) { return numeric::sqrt_up(static_cast<double>(dimension)); }

std::vector<double> copy(std::span<const double> v) { return {v.begin(), v.end()}; }

ProximalPoint uncertain(ProximalPoint point) {
  point.error = std::numeric_limits<double>::infinity();
  return point;
}

// Points max(value - level, 0) where the level is that at which they add up to the total. What the
// computed ones add up to says how far off the level is: the sum falls by at least one for one.
ProximalPoint above_level(std::span<const double> values, double total) {
  ProximalPoint point{copy(values), 0};
  const double level = water_level(copy(values), total);
  double sum = 0;
  double size = std::fabs(level);
  for (double& x : point.weights) {
    size = std::fmax(size, std::fabs(x));
    x = std::fmax(x - level, 0.0);
    sum += x;
  }
  if (!(sum > 0)) return uncertain(std::move(point));
  const double d = static_cast<double>(values.size());
  const double level_error =
      add_up(std::fmax(subtract_up(sum, total), subtract_up(total, sum)),
             add_up(multiply_up(2 * (d + 2) * kUnit, sum), multiply_up(2 * kUnit, size)));
  point.error = multiply_up(root(values.size()), level_error);
  return point;
}

struct Nearest {
  std::span<const double> v;

  ProximalPoint operator()(const WholeSpace&) const { return {copy(v), 0}; }
  ProximalPoint operator()(const Box& set) const { return {project(set, v), 0}; }
  // A norm of d squares, a quotient, a product.
  ProximalPoint operator()(const L2Ball& set) const {
    const double d = static_cast<double>(v.size());
    return {project(set, v), multiply_up((2 * d + 16) * kUnit, norm_up(v))};
  }
  ProximalPoint operator()(const L1Ball& set) const {
    std::vector<double> sizes = copy(v);
    double sum = 0;
    for (double& x : sizes) sum = add_up(sum, x = std::fabs(x));
    if (sum <= set.radius) return {copy(v), 0};
    ProximalPoint point = above_level(sizes, set.radius);
    for (std::size_t j = 0; j < v.size(); ++j) {
      // Were the sum within the radius by a hair, the level would be below 0 and the point v.
      point.weights[j] = std::copysign(std::fmin(point.weights[j], sizes[j]), v[j]);
    }
    return point;
  }
  ProximalPoint operator()(const Simplex& set) const { return above_level(v, set.total); }
  // certified_proximal has it.
  ProximalPoint operator()(const HalfSpaceCut&) const { return uncertain({}); }
};

// The product of a normal with the exact point, from below and from above.
struct Product {
  double down;
  double up;
};

// p(t), the proximal point of v - t normal in the base of a cut: <normal, p(t)> falls in t, and the
// cut's point is p(t) where it comes to the offset.
class CutSearch {
 public:
  CutSearch(const HalfSpaceCut& set, std::span<const double> v, double threshold)
      : set_(set), v_(v), threshold_(threshold), length_(norm_up(set.normal)) {}

  ProximalPoint find() const {
    const Trial free = at(0);
    if (free.product.up <= set_.offset) return free.point;
    double stride = std::fmax(free.product.up - set_.offset, 1e-300) / (length_ * length_);
    Trial outside = free;
    Trial inside = at(stride);
    for (int i = 0; i < kMostTurns && !(inside.product.up <= set_.offset); ++i) {
      if (inside.product.down >= set_.offset) outside = inside;
      inside = at(stride *= 4);
    }
    if (!(inside.product.up <= set_.offset)) return uncertain(std::move(inside.point));
    // The place is between the last one that is outside for sure and the first one inside for sure;
    // in between rounding leaves the matter open.
    double open = inside.t;
    for (int i = 0; i < kMostTurns; ++i) {
      const double middle = outside.t + (open - outside.t) / 2;
      if (!(middle > outside.t && middle < open)) break;
      Trial trial = at(middle);
      if (trial.product.down >= set_.offset) {
        outside = std::move(trial);
        continue;
      }
      open = middle;
      if (trial.product.up <= set_.offset) inside = std::move(trial);
    }
    open = outside.t;
    for (int i = 0; i < kMostTurns; ++i) {
      const double middle = open + (inside.t - open) / 2;
      if (!(middle > open && middle < inside.t)) break;
      Trial trial = at(middle);
      if (trial.product.up <= set_.offset) {
        inside = std::move(trial);
      } else {
        open = middle;
      }
    }
    return between(outside, std::move(inside));
  }

 private:
  struct Trial {
    double t;
    ProximalPoint point;
    Product product;
  };

  Trial at(double t) const {
    std::vector<double> shifted(v_.size());
    std::vector<double> sizes(v_.size());
    for (std::size_t j = 0; j < v_.size(); ++j) {
      shifted[j] = v_[j] - t * set_.normal[j];
      sizes[j] = std::fabs(v_[j]) + 2 * std::fabs(t * set_.normal[j]);
    }
    Trial trial{t, certified_proximal(*set_.base, shifted, threshold_), {}};
    // Nearest points are no further apart than what they are nearest to.
    trial.point.error = add_up(trial.point.error, multiply_up(4 * kUnit, norm_up(sizes)));
    double product = 0;
    for (std::size_t j = 0; j < v_.size(); ++j) product += set_.normal[j] * trial.point.weights[j];
    const double rounding =
        multiply_up(2 * (static_cast<double>(v_.size()) + 2) * kUnit, norm_up(trial.point.weights));
    const double off = multiply_up(length_, add_up(trial.point.error, rounding));
    trial.product = {subtract_down(product, off), add_up(product, off)};
    return trial;
  }

  // |p(s) - p(t)|^2 <= (t - s) <normal, p(s) - p(t)>, and p moves at most as v - t normal does.
  // In a box each coordinate goes one way, so what lies between is no further than the ends.
  ProximalPoint between(const Trial& outside, Trial inside) const {
    const double apart = subtract_up(inside.t, outside.t);
    const double fall = std::fmax(subtract_up(outside.product.up, inside.product.down), 0.0);
    double moved =
        std::fmin(multiply_up(apart, length_), numeric::sqrt_up(multiply_up(apart, fall)));
    if (std::holds_alternative<Box>(*set_.base) || std::holds_alternative<WholeSpace>(*set_.base)) {
      std::vector<double> ends(v_.size());
      for (std::size_t j = 0; j < v_.size(); ++j)
        ends[j] = numeric::step_up(std::fabs(outside.point.weights[j] - inside.point.weights[j]));
      moved =
          std::fmin(moved, add_up(norm_up(ends), add_up(outside.point.error, inside.point.error)));
    }
    inside.point.error = add_up(inside.point.error, moved);
    return std::move(inside.point);
  }

  const HalfSpaceCut& set_;
  std::span<const double> v_;
  double threshold_;
  double length_;
};

}  // namespace

ProximalPoint certified_proximal(const ConvexSet& set, std::span<const double> v,
                                 double threshold) {
  if (const auto* cut = std::get_if<HalfSpaceCut>(&set))
    return CutSearch(*cut, v, threshold).find();
  // On a simplex all points have the same l1 norm.
  if (threshold == 0 || std::holds_alternative<Simplex>(set)) return std::visit(Nearest{v}, set);
  const std::vector<double> soft = proximal_point({0, threshold}, v, 1);
  ProximalPoint point = std::visit(Nearest{soft}, set);
  // One difference.
  const double size = add_up(norm_up(v), multiply_up(root(v.size()), threshold));
  point.error = add_up(point.error, multiply_up(2 * kUnit, size));
  return point;
}

}  // namespace shoal::learn
