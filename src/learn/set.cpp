#include "learn/water_level.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/set.hpp>
#include <shoal/numeric/directed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace shoal::learn {

// The t for which the parts of `values` above it add up to `total`; the values must not be negative
// unless any shift is allowed.
double water_level(std::vector<double> values, double total) {
  std::sort(values.begin(), values.end(), std::greater<>());
  double sum = 0;
  double level = values.front() - total;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    const double candidate = (sum - total) / static_cast<double>(i + 1);
    if (values[i] <= candidate) break;
    level = candidate;
  }
  return level;
}
namespace {

using numeric::multiply_up;
using numeric::sqrt_up;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double norm(std::span<const double> v) { return std::sqrt(dot(v, v)); }

std::vector<double> copy(std::span<const double> v) { return {v.begin(), v.end()}; }

// The least value of <normal, w> over a set.
double least_product(const ConvexSet& set, std::span<const double> normal);

struct LeastProduct {
  std::span<const double> normal;

  double operator()(const WholeSpace&) const { return -kInfinity; }
  double operator()(const L2Ball& set) const { return -set.radius * norm(normal); }
  double operator()(const L1Ball& set) const {
    double most = 0;
    for (const double a : normal) most = std::max(most, std::fabs(a));
    return -set.radius * most;
  }
  double operator()(const Box& set) const {
    double sum = 0;
    for (const double a : normal) sum += std::min(a * set.lower, a * set.upper);
    return sum;
  }
  double operator()(const Simplex& set) const {
    return set.total * *std::min_element(normal.begin(), normal.end());
  }
  double operator()(const HalfSpaceCut&) const { return 0; }  // refused by validate
};

double least_product(const ConvexSet& set, std::span<const double> normal) {
  return std::visit(LeastProduct{normal}, set);
}

void check_positive(double value, std::string_view what) {
  if (value > 0 && std::isfinite(value)) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("the {} is {}; it must be positive and finite", what, format_number(value)));
}

struct Validate {
  std::size_t dimension;

  void operator()(const WholeSpace&) const {}
  void operator()(const L2Ball& set) const { check_positive(set.radius, "radius of an l2_ball"); }
  void operator()(const L1Ball& set) const { check_positive(set.radius, "radius of an l1_ball"); }
  void operator()(const Box& set) const {
    if (std::isfinite(set.lower) && std::isfinite(set.upper) && set.lower <= set.upper) return;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("a box from {} to {} is empty or unbounded; give finite bounds in order",
                    format_number(set.lower), format_number(set.upper)));
  }
  void operator()(const Simplex& set) const { check_positive(set.total, "total of a simplex"); }
  void operator()(const HalfSpaceCut& set) const {
    if (!set.base || std::holds_alternative<HalfSpaceCut>(*set.base)) {
      throw Error(ErrorCode::unsupported,
                  "a cut needs a base that is no cut itself; cut one of the plain sets");
    }
    validate(*set.base, dimension);
    if (set.normal.size() != dimension) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the normal of a cut has {} coordinates where the weights have {}",
                              set.normal.size(), dimension));
    }
    const double length = norm(set.normal);
    if (!(length > 0) || !std::isfinite(length) || !std::isfinite(set.offset)) {
      throw Error(ErrorCode::invalid_argument,
                  "the normal of a cut must be finite and not zero, its offset finite");
    }
    if (least_product(*set.base, set.normal) > set.offset) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the cut at offset {} leaves nothing of the {}; raise the offset",
                              format_number(set.offset), name(*set.base)));
    }
  }
};

struct Project {
  std::span<const double> point;

  std::vector<double> operator()(const WholeSpace&) const { return copy(point); }
  std::vector<double> operator()(const L2Ball& set) const {
    std::vector<double> w = copy(point);
    const double length = norm(point);
    if (length <= set.radius) return w;
    for (double& x : w) x *= set.radius / length;
    return w;
  }
  std::vector<double> operator()(const L1Ball& set) const {
    std::vector<double> sizes = copy(point);
    double sum = 0;
    for (double& x : sizes) sum += x = std::fabs(x);
    if (sum <= set.radius) return copy(point);
    const double level = std::max(water_level(sizes, set.radius), 0.0);
    std::vector<double> w = copy(point);
    for (double& x : w) x = std::copysign(std::max(std::fabs(x) - level, 0.0), x);
    return w;
  }
  std::vector<double> operator()(const Box& set) const {
    std::vector<double> w = copy(point);
    for (double& x : w) x = std::clamp(x, set.lower, set.upper);
    return w;
  }
  std::vector<double> operator()(const Simplex& set) const {
    const double level = water_level(copy(point), set.total);
    std::vector<double> w = copy(point);
    for (double& x : w) x = std::max(x - level, 0.0);
    return w;
  }
  // The multiplier of the cut is found by bisection: <normal, project(point - t normal)> falls in
  // t.
  std::vector<double> operator()(const HalfSpaceCut& set) const {
    const auto at = [&](double t) {
      std::vector<double> shifted = copy(point);
      for (std::size_t j = 0; j < shifted.size(); ++j) shifted[j] -= t * set.normal[j];
      return project(*set.base, shifted);
    };
    std::vector<double> best = at(0);
    if (dot(set.normal, best) <= set.offset) return best;
    double below = 0;
    double above = 1;
    for (int i = 0; i < 200 && dot(set.normal, best = at(above)) > set.offset; ++i) {
      below = above;
      above *= 2;
    }
    for (int i = 0; i < 200; ++i) {
      const double middle = below + (above - below) / 2;
      if (middle <= below || middle >= above) break;
      std::vector<double> w = at(middle);
      if (dot(set.normal, w) > set.offset) {
        below = middle;
      } else {
        above = middle;
        best = std::move(w);
      }
    }
    return best;
  }
};

struct Contains {
  std::span<const double> point;
  double tolerance;

  bool operator()(const WholeSpace&) const { return true; }
  bool operator()(const L2Ball& set) const { return norm(point) <= set.radius + tolerance; }
  bool operator()(const L1Ball& set) const {
    double sum = 0;
    for (const double x : point) sum += std::fabs(x);
    return sum <= set.radius + tolerance;
  }
  bool operator()(const Box& set) const {
    return std::all_of(point.begin(), point.end(), [&](double x) {
      return x >= set.lower - tolerance && x <= set.upper + tolerance;
    });
  }
  bool operator()(const Simplex& set) const {
    const double sum = std::accumulate(point.begin(), point.end(), 0.0);
    return std::fabs(sum - set.total) <= tolerance &&
           std::all_of(point.begin(), point.end(), [&](double x) { return x >= -tolerance; });
  }
  bool operator()(const HalfSpaceCut& set) const {
    return contains(*set.base, point, tolerance) &&
           dot(set.normal, point) <= set.offset + tolerance * std::max(1.0, norm(set.normal));
  }
};

// The largest distance of two points and the largest norm of one.
struct Extent {
  double diameter;
  double radius;
};

struct MeasureExtent {
  double dimension;

  Extent operator()(const WholeSpace&) const { return {kInfinity, kInfinity}; }
  Extent operator()(const L2Ball& set) const { return {2 * set.radius, set.radius}; }
  Extent operator()(const L1Ball& set) const { return {2 * set.radius, set.radius}; }
  Extent operator()(const Box& set) const {
    const double root = sqrt_up(dimension);
    return {multiply_up(root, numeric::subtract_up(set.upper, set.lower)),
            multiply_up(root, std::max(std::fabs(set.lower), std::fabs(set.upper)))};
  }
  Extent operator()(const Simplex& set) const {
    return {dimension > 1 ? multiply_up(sqrt_up(2), set.total) : 0, set.total};
  }
  Extent operator()(const HalfSpaceCut& set) const { return std::visit(*this, *set.base); }
};

struct NameOf {
  std::string_view operator()(const WholeSpace&) const { return "whole_space"; }
  std::string_view operator()(const L2Ball&) const { return "l2_ball"; }
  std::string_view operator()(const L1Ball&) const { return "l1_ball"; }
  std::string_view operator()(const Box&) const { return "box"; }
  std::string_view operator()(const Simplex&) const { return "simplex"; }
  std::string_view operator()(const HalfSpaceCut&) const { return "half_space_cut"; }
};

}  // namespace

bool HalfSpaceCut::operator==(const HalfSpaceCut& other) const {
  const bool same_base = base == other.base || (base && other.base && *base == *other.base);
  return same_base && normal == other.normal && offset == other.offset;
}

HalfSpaceCut cut(ConvexSet base, std::vector<double> normal, double offset) {
  return {std::make_shared<const ConvexSet>(std::move(base)), std::move(normal), offset};
}

void validate(const ConvexSet& set, std::size_t dimension) {
  SHOAL_CHECK(dimension > 0);
  std::visit(Validate{dimension}, set);
}

std::vector<double> project(const ConvexSet& set, std::span<const double> point) {
  return std::visit(Project{point}, set);
}

bool contains(const ConvexSet& set, std::span<const double> point, double tolerance) {
  return std::visit(Contains{point, tolerance}, set);
}

double diameter(const ConvexSet& set, std::size_t dimension) {
  return std::visit(MeasureExtent{static_cast<double>(dimension)}, set).diameter;
}

double radius(const ConvexSet& set, std::size_t dimension) {
  return std::visit(MeasureExtent{static_cast<double>(dimension)}, set).radius;
}

std::string_view name(const ConvexSet& set) { return std::visit(NameOf{}, set); }

}  // namespace shoal::learn
