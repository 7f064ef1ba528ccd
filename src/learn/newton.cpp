// Newton's method on a smooth, strongly convex objective over the whole space.
//
// A step is taken if the gradient is clearly shorter than ever before, or else if it lowers the
// value enough. Shorter than here would not do: steps that shorten the gradient and raise the value
// can take turns with steps that do the opposite, for ever. As it is, the first kind can come only
// as often as the shortest length can be halved, and the second kind alone converges. One that is
// refused is tried again with a damped Hessian (Levenberg 1944). A Hessian costs several gradients:
// the factored one is kept as long as that is the shorter way, and is corrected by what each step
// shows of the curvature (BFGS on top of the factors). The first steps look at a part of the rows.
// None of this matters for the guarantee: the result is certified.
#include "learn/certificate.hpp"
#include "learn/factored_hessian.hpp"
#include "learn/part_start.hpp"
#include "learn/solver_parts.hpp"

#include <shoal/base/error.hpp>

#include <cmath>
#include <optional>

namespace shoal::learn {
namespace {

using Eigen::VectorXd;

constexpr double kGoodShrink = 0.5;     // keep the Hessian, if not much is left
constexpr double kClearShrink = 0.5;    // of the shortest gradient so far: values need not tell
constexpr double kValueDigits = 1e-13;  // relative differences of values that mean something
constexpr double kSufficient = 1e-4;    // of the descent that the direction promises
constexpr int kMostTries = 30;          // of dampings, each eight times the last

// Conjugate gradients on products with the Hessian, as far as the outer step can use.
class ConjugateHessian final : public DirectionSolver {
 public:
  ConjugateHessian(const RowPasses& passes, double l2) : passes_(passes), l2_(l2) {}

  void renew(std::span<const double> weights) override {
    weights_.assign(weights.begin(), weights.end());
  }
  double renewal_cost() const override { return 0; }
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
    shortest_ = norm_up(now_.gradient);
    bool fresh = false;
    while (iterations_ < options_.most_iterations && now_.norm_bound() > options_.residual) {
      ++iterations_;
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
      keep_ = damping_ == 0 && worth_keeping(norm_up(now_.gradient), before);
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

  // A Hessian of here would about square the rate at which the last step shrank the gradient.
  bool worth_keeping(double norm, double before) const {
    if (!(norm <= kGoodShrink * before)) return false;
    const double steps = std::log(options_.residual / norm) / std::log(norm / before);
    return steps / 2 <= solver_.renewal_cost();
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
      bool take = norm_up(at.gradient) <= kClearShrink * shortest_;
      if (!take && !fresh) return false;
      if (!take && !value) value = value_at(weights_);
      if (!take && promised > kValueDigits * std::fabs(*value)) {
        take = value_at(next) < *value - promised;
      } else if (!take) {
        // Too near for values to tell.
        take = norm_up(at.gradient) < norm;
      }
      if (take) {
        solver_.learn(direction, as_vector(at.gradient) - gradient);
        weights_ = std::move(next);
        now_ = std::move(at);
        shortest_ = std::fmin(shortest_, norm_up(now_.gradient));
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
  double shortest_ = 0;  // gradient of all that were taken
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
  std::vector<double> start = start_on_part(passes, objective, solver);
  if (start.empty()) start.assign(rows.dimension(), 0.0);
  return Newton(passes, objective, options, solver).run(std::move(start));
}

Solution minimise_newton_cg(const RowSource& rows, const Objective& objective,
                            const SolverOptions& options) {
  check_smooth_objective(rows, objective);
  const RowPasses passes(rows, objective.loss, options.threads);
  ConjugateHessian solver(passes, objective.regulariser.l2);
  return Newton(passes, objective, options, solver).run(std::vector<double>(rows.dimension(), 0.0));
}

}  // namespace shoal::learn
