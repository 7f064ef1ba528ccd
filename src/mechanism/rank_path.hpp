// The noise in the rank of a boundary between two nodes of a quantile tree, as the path to it is
// walked: a linear combination of independent noises, by its coefficients.
//
// Z estimates (values before the boundary) - p (all values), T the values of the node that the path
// is at. Among k children with noisy counts c and sum S, known to sum to about T, the estimates of
// least squares move each child by g (T - S), with g = v / (var T + k v) for noise of variance v:
//   Z before child j = Z + c_1 + ... + c_j + j g (T - S),   T of child j = c_j + g (T - S).
// The noises of the nodes on one level come in with at most three coefficients, those left of the
// path, its own node and those to its right, so that three numbers a level say all.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace shoal::mechanism {

class RankPath {
 public:
  static constexpr std::size_t kMaxLevels = 6;

  // At the root, whose total is known as the sum of its children only.
  explicit RankPath(double p) : p_(p) {}

  // The boundary before child j (0 to k) of the node that the path is at.
  struct Boundary {
    double z;         // the estimate
    double variance;  // the sum of the squares of the coefficients of its noises
    double largest;   // the largest coefficient in size
  };
  Boundary boundary(std::span<const double> counts, std::size_t j) const;

  // The path to child j.
  RankPath child(std::span<const double> counts, std::size_t j) const;

 private:
  // For noises left of the path, on it, and right of it.
  struct Level {
    double left, own, right;
    double left_count, right_count;
    double squares() const {
      return left_count * left * left + own * own + right_count * right * right;
    }
  };

  // 0 at the root.
  double gain(std::size_t children) const {
    if (depth_ == 0) return 0;
    double variance = 0;
    for (std::size_t i = 0; i < depth_; ++i) variance += total_[i].squares();
    return 1 / (variance + static_cast<double>(children));
  }

  // Z moved to the boundary before child j, with a level for the children. Behind the last there
  // are
  // "-1" children to the right, which cancels the one on the path that is not there.
  RankPath moved(std::span<const double> counts, std::size_t j) const;

  double p_;
  double z_ = 0;
  double t_ = 0;
  std::size_t depth_ = 0;
  std::array<Level, kMaxLevels> rank_{};
  std::array<Level, kMaxLevels> total_{};
};

inline RankPath RankPath::moved(std::span<const double> counts, std::size_t j) const {
  double before = 0;
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (i < j) before += counts[i];
    sum += counts[i];
  }
  const auto left = static_cast<double>(j);
  const double right = static_cast<double>(counts.size()) - left - 1;
  RankPath path = *this;
  if (depth_ == 0) {
    path.z_ = before - p_ * sum;
    path.rank_[0] = {1 - p_, -p_, -p_, left, right};
  } else {
    const double share = left * gain(counts.size());
    path.z_ = z_ + before + share * (t_ - sum);
    for (std::size_t i = 0; i < depth_; ++i) {
      path.rank_[i].left += share * total_[i].left;
      path.rank_[i].own += share * total_[i].own;
      path.rank_[i].right += share * total_[i].right;
    }
    path.rank_[depth_] = {1 - share, -share, -share, left, right};
  }
  ++path.depth_;
  return path;
}

inline RankPath RankPath::child(std::span<const double> counts, std::size_t j) const {
  RankPath path = moved(counts, j);
  const double g = gain(counts.size());
  double sum = 0;
  for (const double count : counts) sum += count;
  path.t_ = counts[j] + g * (t_ - sum);
  for (std::size_t i = 0; i < depth_; ++i) {
    path.total_[i].left *= g;
    path.total_[i].own *= g;
    path.total_[i].right *= g;
  }
  const Level& level = path.rank_[depth_];
  path.total_[depth_] = {-g, 1 - g, -g, level.left_count, level.right_count};
  return path;
}

inline RankPath::Boundary RankPath::boundary(std::span<const double> counts, std::size_t j) const {
  const RankPath path = moved(counts, j);
  Boundary found{path.z_, 0, 0};
  for (std::size_t i = 0; i < path.depth_; ++i) {
    const Level& z = path.rank_[i];
    found.variance += z.squares();
    found.largest =
        std::max({found.largest, std::fabs(z.left), std::fabs(z.own), std::fabs(z.right)});
  }
  return found;
}

}  // namespace shoal::mechanism
