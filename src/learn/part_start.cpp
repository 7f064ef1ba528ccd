#include "learn/part_start.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace shoal::learn {
namespace {

using Eigen::VectorXd;

constexpr std::size_t kPartStride = 8;  // every eighth block
constexpr int kMostSteps = 12;
constexpr double kGoodShrink = 0.6;  // keep the Hessian
// With all rows' gradient in place of the part's the minimum is this often found again.
constexpr int kMostRounds = 1;
// Rows of the part for each weight, from which on its Hessian is near enough for that.
constexpr std::size_t kRowsPerWeight = 16;

class Part {
 public:
  Part(const RowPasses& passes, const Objective& objective, FactoredHessian& solver)
      : passes_(passes),
        objective_(objective),
        solver_(solver),
        part_rows_(passes.row_count(kScope)),
        scale_(static_cast<double>(passes.rows().row_count()) / static_cast<double>(part_rows_)),
        weights_(passes.rows().dimension(), 0.0),
        shift_(VectorXd::Zero(static_cast<Eigen::Index>(weights_.size()))) {}

  std::vector<double> start() {
    const double noise = std::sqrt(static_cast<double>(passes_.rows().row_count()));
    if (!descend(gradient(kScope, scale_), 0.1 * noise)) return {};
    if (part_rows_ < kRowsPerWeight * weights_.size()) return weights_;
    double last = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kMostRounds; ++i) {
      const VectorXd all = gradient({}, 1);
      if (!(all.norm() < last / 2)) break;
      last = all.norm();
      shift_ = all - gradient(kScope, scale_);
      const std::vector<double> before = weights_;
      if (!descend(all, 0.1 * last)) return before;
    }
    return weights_;
  }

 private:
  static constexpr PassScope kScope{kPartStride};

  VectorXd gradient(PassScope scope, double scale) const {
    const PassSums sums = passes_.gradient(weights_, false, scope);
    VectorXd result(static_cast<Eigen::Index>(weights_.size()));
    for (std::size_t j = 0; j < weights_.size(); ++j) {
      result[static_cast<Eigen::Index>(j)] =
          scale * static_cast<double>(sums.gradient[j]) + objective_.regulariser.l2 * weights_[j] +
          (objective_.linear.empty() ? 0.0 : objective_.linear[j]);
    }
    return result;
  }

  // Steps on the part's objective, tilted by the shift, from a known gradient of it. Without a line
  // search: what goes astray is thrown away.
  bool descend(VectorXd now, double enough) {
    for (int i = 0; i < kMostSteps && now.norm() > enough; ++i) {
      if (!prepared_) solver_.renew(weights_, kScope, scale_);
      const VectorXd step = solver_.direction(now, 0);
      for (std::size_t j = 0; j < weights_.size(); ++j)
        weights_[j] += step[static_cast<Eigen::Index>(j)];
      VectorXd next = gradient(kScope, scale_) + shift_;
      const double shrink = next.norm() / now.norm();
      if (!(shrink <= 4)) return false;
      solver_.learn(step, next - now);
      prepared_ = shrink <= kGoodShrink;
      now = std::move(next);
    }
    return true;
  }

  const RowPasses& passes_;
  const Objective& objective_;
  FactoredHessian& solver_;
  std::uint64_t part_rows_;
  double scale_;
  std::vector<double> weights_;
  VectorXd shift_;  // what the gradient of all rows has beside the part's
  bool prepared_ = false;
};

}  // namespace

std::vector<double> start_on_part(const RowPasses& passes, const Objective& objective,
                                  FactoredHessian& solver) {
  if (passes.rows().block_count() < kPartStride) return {};
  return Part(passes, objective, solver).start();
}

}  // namespace shoal::learn
