#include "synth/dual_solver.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace shoal::synth {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  double even = 0;
  double odd = 0;
  std::size_t i = 0;
  for (; i + 2 <= a.size(); i += 2) {
    even += a[i] * b[i];
    odd += a[i + 1] * b[i + 1];
  }
  if (i < a.size()) even += a[i] * b[i];
  return even + odd;
}

void add(double factor, std::span<const double> from, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

struct Pair {
  std::vector<double> step;
  std::vector<double> change;  // of the gradient
  double inverse;              // 1 / <step, change>
};

// The two loops of Nocedal (1980), with the diagonal in the middle.
std::vector<double> direction(const std::deque<Pair>& pairs, std::span<const double> gradient,
                              std::span<const double> diagonal) {
  std::vector<double> result(gradient.begin(), gradient.end());
  std::vector<double> weights(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    weights[i] = pairs[i].inverse * dot(pairs[i].step, result);
    add(-weights[i], pairs[i].change, result);
  }
  for (std::size_t i = 0; i < result.size(); ++i) result[i] /= diagonal[i];
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double other = pairs[i].inverse * dot(pairs[i].change, result);
    add(weights[i] - other, pairs[i].step, result);
  }
  for (double& value : result) value = -value;
  return result;
}

double half_norm(std::span<const double> gradient, std::span<const double> diagonal) {
  double sum = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) sum += gradient[i] * gradient[i] / diagonal[i];
  return sum / 2;
}

}  // namespace

SolverResult minimise(const Objective& objective, const Curvature& curvature,
                      std::vector<double>& point, const SolverOptions& options) {
  constexpr double kArmijo = 1e-4;
  constexpr int kMaxHalvings = 30;
  const std::size_t size = point.size();
  std::vector<double> gradient(size);
  std::vector<double> diagonal(size);
  std::vector<double> next_gradient(size);
  std::vector<double> next(size);
  std::deque<Pair> pairs;
  double value = objective(point, gradient);
  if (!std::isfinite(value)) {
    std::fill(point.begin(), point.end(), 0.0);
    value = objective(point, gradient);
  }
  SolverResult result;
  for (; result.iterations < options.max_iterations; ++result.iterations) {
    curvature(diagonal);
    result.promise = half_norm(gradient, diagonal);
    if (result.promise <= options.tolerance) {
      result.converged = true;
      return result;
    }
    std::vector<double> step = direction(pairs, gradient, diagonal);
    double slope = dot(step, gradient);
    if (!(slope < 0)) {
      pairs.clear();
      step = direction(pairs, gradient, diagonal);
      slope = dot(step, gradient);
    }
    double length = 1;
    double next_value = value;
    int halvings = 0;
    for (; halvings < kMaxHalvings; ++halvings) {
      next = point;
      add(length, step, next);
      next_value = objective(next, next_gradient);
      if (std::isfinite(next_value) && next_value <= value + kArmijo * length * slope) break;
      // The parabola through both values and the slope, not too far from a half.
      const double bend = next_value - value - length * slope;
      const double guess = std::isfinite(bend) ? -slope * length * length / (2 * bend) : 0;
      length = std::min(0.5 * length, std::max(0.1 * length, guess));
    }
    if (halvings == kMaxHalvings) {
      objective(point, gradient);
      return result;
    }
    Pair pair{std::vector<double>(size), std::vector<double>(size), 0};
    for (std::size_t i = 0; i < size; ++i) {
      pair.step[i] = next[i] - point[i];
      pair.change[i] = next_gradient[i] - gradient[i];
    }
    const double curve = dot(pair.step, pair.change);
    if (curve > 0) {
      pair.inverse = 1 / curve;
      pairs.push_back(std::move(pair));
      if (pairs.size() > options.memory) pairs.pop_front();
    }
    point.swap(next);
    gradient.swap(next_gradient);
    value = next_value;
  }
  return result;
}

}  // namespace shoal::synth
