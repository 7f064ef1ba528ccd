// Steps and how the gradient changed with them: what quasi-Newton methods know of the curvature
// (Nocedal 1980).
#pragma once

#include <Eigen/Core>

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

namespace shoal::learn {

class SecantPairs {
 public:
  bool empty() const { return pairs_.empty(); }
  void clear() { pairs_.clear(); }
  // Remembers a pair, if it shows a positive curvature, and forgets the oldest of too many.
  void add(Eigen::VectorXd step, Eigen::VectorXd change) {
    const double product = step.dot(change);
    if (!(product > 1e-14 * step.norm() * change.norm())) return;
    pairs_.push_back({std::move(step), std::move(change), 1 / product});
    if (pairs_.size() > kMemory) pairs_.pop_front();
  }
  // <step, change> / |change|^2 of the newest pair: the size of the inverse curvature. Not when
  // empty.
  double newest_scale() const {
    return 1 / (pairs_.back().inverse * pairs_.back().change.squaredNorm());
  }
  // The inverse Hessian times q, where base(q) multiplies by a first guess of it in place.
  template <typename Base>
  Eigen::VectorXd apply_inverse(Eigen::VectorXd q, Base&& base) const {
    std::vector<double> shares;
    for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair) {
      shares.push_back(pair->inverse * pair->step.dot(q));
      q -= shares.back() * pair->change;
    }
    base(q);
    for (const Pair& pair : pairs_) {
      q += (shares.back() - pair.inverse * pair.change.dot(q)) * pair.step;
      shares.pop_back();
    }
    return q;
  }

 private:
  struct Pair {
    Eigen::VectorXd step;
    Eigen::VectorXd change;
    double inverse;  // 1 / <step, change>
  };
  static constexpr std::size_t kMemory = 12;

  std::deque<Pair> pairs_;
};

}  // namespace shoal::learn
