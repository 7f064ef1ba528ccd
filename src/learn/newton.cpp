// Newton's method on a smooth, strongly convex objective over the whole space.
//
// A step is taken if it shrinks the gradient's norm clearly, or else if it lowers the value enough:
// far from the minimum the norm alone would be content with steps that lead nowhere. One that is
// refused is tried again with a damped Hessian (Levenberg 1944). The factored Hessian is kept
// as long as steps with it shrink the gradient well: a Hessian costs several gradients. The first
// steps look at a part of the rows. None of this matters for the guarantee: the result is
// certified.
#include "learn/certificate.hpp"
#include "learn/solver_parts.hpp"

#include <shoal/base/error.hpp>

#include <Eigen/Cholesky>

#include <cmath>
#include <optional>

namespace shoal::learn {
namespace {

using Eigen::VectorXd;

constexpr double kGoodShrink = 0.2;     // keep the Hessian
constexpr double kClearShrink = 0.5;    // no need to compare values
constexpr double kValueDigits = 1e-13;  // relative differences of values that mean something
constexpr double kSufficient = 1e-4;    // of the descent that the direction promises
constexpr int kMostTries = 30;          // of dampings, each eight times the last
constexpr std::size_t kPartStride = 8;  // the first steps look at every eighth block

// -H^-1 g, for some H > 0 at or near the weights.
class DirectionSolver {
 public:
  virtual ~DirectionSolver() = default;
  virtual void renew(std::span<const double> weights) = 0;
  // With `damping` added to the diagonal: the larger, the shorter and the more like the gradient.
  virtual VectorXd direction(const VectorXd& gradient, double damping) = 0;
};

class FactoredHessian final : public DirectionSolver {
 public:
  FactoredHessian(const RowPasses& passes, double l2) : passes_(passes), l2_(l2) {}

  void renew(std::span<const double> weights) override {
    hessian_ = passes_.hessian(weights);
    hessian_.diagonal().array() += l2_;
    factors_.compute(hessian_);
  }
  VectorXd direction(const VectorXd& gradient, double damping) override {
    if (damping == 0) return -factors_.solve(gradient);
    Eigen::MatrixXd damped = hessian_;
    damped.diagonal().array() += damping;
    return -damped.selfadjointView<Eigen::Lower>().llt().solve(gradient);
  }

 private:
  const RowPasses& passes_;
  double l2_;
  Eigen::MatrixXd hessian_;
  Eigen::LLT<Eigen::MatrixXd, Eigen::Lower> factors_;
};

// Conjugate gradients on products with the Hessian, as far as the outer step can use.
class ConjugateHessian final : public DirectionSolver {
 public:
  ConjugateHessian(const RowPasses& passes, double l2) : passes_(passes), l2_(l2) {}

  void renew(std::span<const double> weights) override {
    weights_.assign(weights.begin(), weights.end());
  }
  VectorXd direction(const VectorXd& gradient, double damping) override {
    VectorXd solution = VectorXd::Zero(gradient.size());
    VectorXd residual = -gradient;
    VectorXd search = residual;
    double squared = residual.squaredNorm();
    const double target = squared * 1e-6;
    for (Eigen::Index i = 0; i < 2 * gradient.size() + 20 && squared > target; ++i) {
      VectorXd product = passes_.hessian_product(
          weights_, {search.data(), static_cast<std::size_t>(search.size())});
      product += (l2_ + damping) * search;
      const double step = squared / search.dot(product);
      solution += step * search;
      residual -= step * product;
      const double next = residual.squaredNorm();
      search = residual + next / squared * search;
      squared = next;
    }
    return solution;
  }

 private:
  const RowPasses& passes_;
  double l2_;
  std::vector<double> weights_;
};

// A few steps on a part of the rows, their sums scaled up: a start that is near.
std::vector<double> start_on_part(const RowPasses& passes, const Objective& objective) {
  const RowSource& rows = passes.rows();
  std::vector<double> weights(rows.dimension(), 0.0);
  if (rows.block_count() < kPartStride) return weights;
  const PassScope scope{kPartStride};
  const double scale =
      static_cast<double>(rows.row_count()) / static_cast<double>(passes.row_count(scope));
  const double l2 = objective.regulariser.l2;
  double last_norm = 0;
  for (int i = 0; i < 6; ++i) {
    const PassSums sums = passes.gradient(weights, false, scope);
    VectorXd gradient(static_cast<Eigen::Index>(weights.size()));
    for (std::size_t j = 0; j < weights.size(); ++j) {
      gradient[static_cast<Eigen::Index>(j)] =
          scale * static_cast<double>(sums.gradient[j]) + l2 * weights[j] +
          (objective.linear.empty() ? 0.0 : objective.linear[j]);
    }
    // Without a line search: what goes astray is thrown away.
    const double norm = gradient.norm();
    if (!std::isfinite(norm) || (i > 0 && norm > 4 * last_norm))
      return std::vector<double>(rows.dimension(), 0.0);
    if (i > 0 && norm < 0.5 * std::sqrt(static_cast<double>(rows.row_count()))) break;
    last_norm = norm;
    Eigen::MatrixXd hessian = scale * passes.hessian(weights, scope);
    hessian.diagonal().array() += l2;
    const VectorXd step = hessian.selfadjointView<Eigen::Lower>().llt().solve(gradient);
    for (std::size_t j = 0; j < weights.size(); ++j)
      weights[j] -= step[static_cast<Eigen::Index>(j)];
  }
  return weights;
}

VectorXd as_vector(const std::vector<double>& v) {
  return Eigen::Map<const VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
}

class Newton {
 public:
  Newton(const RowPasses& passes, const Objective& objective, const SolverOptions& options,
         DirectionSolver& solver)
      : passes_(passes), objective_(objective), options_(options), solver_(solver) {}

  Solution run(std::vector<double> weights) {
    weights_ = std::move(weights);
    now_ = evaluate(weights_);
    bool fresh = false;
    while (iterations_ < options_.most_iterations && now_.norm_bound() > options_.residual) {
      ++iterations_;
      if (options_.progress) options_.progress(iterations_);
      if (!fresh && !keep_) solver_.renew(weights_);
      fresh = !keep_;
      const double before = norm_up(now_.gradient);
      if (!step(fresh)) {
        if (!fresh) {
          keep_ = false;
          continue;
        }
        if (precision_ == Precision::extended) break;
        precision_ = Precision::extended;
        now_ = evaluate(weights_);
        fresh = false;
        keep_ = false;
        continue;
      }
      // Where rounding is most of what is left, more steps in double are no use.
      if (precision_ == Precision::plain && now_.error > options_.residual / 2 &&
          norm_up(now_.gradient) <= now_.error) {
        precision_ = Precision::extended;
        now_ = evaluate(weights_);
      }
      keep_ = damping_ == 0 && norm_up(now_.gradient) <= kGoodShrink * before;
      fresh = false;
    }
    return finish(objective_, options_, std::move(weights_), now_.norm_bound(), iterations_);
  }

 private:
  CertifiedGradient evaluate(const std::vector<double>& weights) const {
    return certified_gradient(passes_, objective_, weights, precision_);
  }
  double value_at(const std::vector<double>& weights) const {
    return certified_gradient(passes_, objective_, weights, Precision::plain, true).value;
  }

  // Moves along the direction, damped as far as need be. False if no step helps. A kept Hessian
  // gets one try, undamped.
  bool step(bool fresh) {
    const VectorXd gradient = as_vector(now_.gradient);
    const double norm = norm_up(now_.gradient);
    const double least_damping = objective_.regulariser.l2 / 8;
    std::optional<double> value;
    for (int tries = 0; tries < kMostTries; ++tries) {
      const VectorXd direction = solver_.direction(gradient, fresh ? damping_ : 0);
      if (!direction.allFinite()) return false;
      const double promised = -kSufficient * direction.dot(gradient);
      std::vector<double> next = weights_;
      for (std::size_t j = 0; j < next.size(); ++j)
        next[j] += direction[static_cast<Eigen::Index>(j)];
      CertifiedGradient at = evaluate(next);
      bool take = norm_up(at.gradient) <= kClearShrink * norm;
      if (!take && !fresh) return false;
      if (!take && !value) value = value_at(weights_);
      if (!take && promised > kValueDigits * std::fabs(*value)) {
        take = value_at(next) < *value - promised;
      } else if (!take) {
        // Too near for values to tell.
        take = norm_up(at.gradient) < norm;
      }
      if (take) {
        weights_ = std::move(next);
        now_ = std::move(at);
        damping_ = damping_ / 8 < least_damping ? 0 : damping_ / 8;
        return true;
      }
      damping_ = std::fmax(8 * damping_, least_damping);
    }
    return false;
  }

  const RowPasses& passes_;
  const Objective& objective_;
  const SolverOptions& options_;
  DirectionSolver& solver_;
  std::vector<double> weights_;
  CertifiedGradient now_;
  Precision precision_ = Precision::plain;
  bool keep_ = false;
  double damping_ = 0;
  int iterations_ = 0;
};

}  // namespace

Solution minimise_newton(const RowSource& rows, const Objective& objective,
                         const SolverOptions& options) {
  check_smooth_objective(rows, objective);
  const RowPasses passes(rows, objective.loss, options.threads);
  FactoredHessian solver(passes, objective.regulariser.l2);
  return Newton(passes, objective, options, solver).run(start_on_part(passes, objective));
}

Solution minimise_newton_cg(const RowSource& rows, const Objective& objective,
                            const SolverOptions& options) {
  check_smooth_objective(rows, objective);
  const RowPasses passes(rows, objective.loss, options.threads);
  ConjugateHessian solver(passes, objective.regulariser.l2);
  return Newton(passes, objective, options, solver).run(std::vector<double>(rows.dimension(), 0.0));
}

}  // namespace shoal::learn
