#include "synth/dual_solver.hpp"

#include "synth/cell_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <utility>

namespace shoal::synth {
namespace {

struct Pair {
  std::vector<double> step;
  std::vector<double> change;  // of the gradient
  double inverse = 0;          // 1 / <step, change>
};

// What is done with vectors as long as a point, in pieces.
class Vectors {
 public:
  Vectors(std::size_t size, WorkerTeam& team)
      : size_(size), pieces_(pieces_of(size)), team_(team), sums_(pieces_) {}

  double dot(std::span<const double> a, std::span<const double> b) {
    return sum([&](CellRange range) { return synth::dot(cut(a, range), cut(b, range)); });
  }
  // to = to + factor * from, and <to, with> of that.
  double add_and_dot(double factor, std::span<const double> from, std::span<double> to,
                     std::span<const double> with) {
    return sum([&](CellRange range) {
      return add_scaled_and_dot(factor, cut(from, range), cut(to, range), cut(with, range));
    });
  }
  void add(double factor, std::span<const double> from, std::span<double> to) {
    sum([&](CellRange range) {
      add_scaled(factor, cut(from, range), cut(to, range));
      return 0.0;
    });
  }

  // The two loops of Nocedal (1980), with the diagonal in the middle.
  void direction(const std::deque<Pair>& pairs, std::span<const double> gradient,
                 std::span<const double> diagonal, std::vector<double>& result);

  double half_norm(std::span<const double> gradient, std::span<const double> diagonal) {
    return sum([&](CellRange range) {
             double part = 0;
             for (std::size_t i = range.begin; i < range.end; ++i)
               part += gradient[i] * gradient[i] / diagonal[i];
             return part;
           }) /
           2;
  }

 private:
  template <class Number>
  static std::span<Number> cut(std::span<Number> all, CellRange range) {
    return all.subspan(range.begin, range.end - range.begin);
  }
  template <class Term>
  double sum(Term term) {
    if (pieces_ == 1) return term(CellRange{0, size_});
    team_.run(pieces_, [&](std::size_t i) { sums_[i] = term(piece_of(size_, pieces_, i)); });
    return std::accumulate(sums_.begin(), sums_.end(), 0.0);
  }

  std::size_t size_;
  std::size_t pieces_;
  WorkerTeam& team_;
  std::vector<double> sums_;
};

// Each addition comes with the product that is wanted next.
void Vectors::direction(const std::deque<Pair>& pairs, std::span<const double> gradient,
                        std::span<const double> diagonal, std::vector<double>& result) {
  result.assign(gradient.begin(), gradient.end());
  const std::size_t many = pairs.size();
  std::vector<double> weights(many);
  double product = many > 0 ? dot(pairs.back().step, result) : 0;
  for (std::size_t i = many; i-- > 0;) {
    weights[i] = pairs[i].inverse * product;
    if (i > 0) {
      product = add_and_dot(-weights[i], pairs[i].change, result, pairs[i - 1].step);
    } else {
      add(-weights[i], pairs[i].change, result);
    }
  }
  for (std::size_t i = 0; i < result.size(); ++i) result[i] /= diagonal[i];
  product = many > 0 ? dot(pairs.front().change, result) : 0;
  for (std::size_t i = 0; i < many; ++i) {
    const double factor = weights[i] - pairs[i].inverse * product;
    if (i + 1 < many) {
      product = add_and_dot(factor, pairs[i].step, result, pairs[i + 1].change);
    } else {
      add(factor, pairs[i].step, result);
    }
  }
  for (double& value : result) value = -value;
}

}  // namespace

SolverResult minimise(const Objective& objective, const Curvature& curvature,
                      std::vector<double>& point, const SolverOptions& options, WorkerTeam& team) {
  constexpr double kArmijo = 1e-4;
  constexpr int kMaxHalvings = 30;
  const std::size_t size = point.size();
  std::vector<double> gradient(size);
  std::vector<double> diagonal(size);
  std::vector<double> next_gradient(size);
  std::vector<double> next(size);
  std::vector<double> step(size);
  std::deque<Pair> pairs;
  Pair pair;  // the oldest one's memory is used again
  Vectors vectors(size, team);
  double value = objective(point, gradient);
  if (!std::isfinite(value)) {
    std::fill(point.begin(), point.end(), 0.0);
    value = objective(point, gradient);
  }
  SolverResult result;
  for (; result.iterations < options.max_iterations; ++result.iterations) {
    curvature(diagonal);
    result.promise = vectors.half_norm(gradient, diagonal);
    if (result.promise <= options.tolerance) {
      result.converged = true;
      return result;
    }
    vectors.direction(pairs, gradient, diagonal, step);
    double slope = vectors.dot(step, gradient);
    if (!(slope < 0)) {
      pairs.clear();
      vectors.direction(pairs, gradient, diagonal, step);
      slope = vectors.dot(step, gradient);
    }
    double length = 1;
    double next_value = value;
    int halvings = 0;
    for (; halvings < kMaxHalvings; ++halvings) {
      next = point;
      vectors.add(length, step, next);
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
    pair.step.resize(size);
    pair.change.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      pair.step[i] = next[i] - point[i];
      pair.change[i] = next_gradient[i] - gradient[i];
    }
    const double curve = vectors.dot(pair.step, pair.change);
    if (curve > 0) {
      pair.inverse = 1 / curve;
      pairs.push_back(std::exchange(pair, {}));
      if (pairs.size() > options.memory) {
        pair = std::move(pairs.front());
        pairs.pop_front();
      }
    }
    point.swap(next);
    gradient.swap(next_gradient);
    value = next_value;
  }
  return result;
}

}  // namespace shoal::synth
