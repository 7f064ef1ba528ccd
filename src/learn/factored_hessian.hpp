// Directions of descent: -H^-1 g for some H > 0 at or near the weights.
#pragma once

#include "learn/passes.hpp"
#include "learn/secant_pairs.hpp"

#include <Eigen/Cholesky>

#include <span>

namespace shoal::learn {

class DirectionSolver {
 public:
  virtual ~DirectionSolver() = default;
  virtual void renew(std::span<const double> weights) = 0;
  // What that costs, in gradients.
  virtual double renewal_cost() const = 0;
  // With `damping` added to the diagonal: the larger, the shorter and the more like the gradient.
  virtual Eigen::VectorXd direction(const Eigen::VectorXd& gradient, double damping) = 0;
  // What a step showed: the gradient changed by that much.
  virtual void learn(const Eigen::VectorXd& /*step*/, const Eigen::VectorXd& /*change*/) {}
};

// A factored Hessian, and on top of it what the steps since then have shown of the curvature.
class FactoredHessian final : public DirectionSolver {
 public:
  FactoredHessian(const RowPasses& passes, double l2) : passes_(passes), l2_(l2) {}

  void renew(std::span<const double> weights) override { renew(weights, {}, 1); }
  // Of a part of the rows, scaled up to all.
  void renew(std::span<const double> weights, PassScope scope, double scale);
  double renewal_cost() const override;
  Eigen::VectorXd direction(const Eigen::VectorXd& gradient, double damping) override;
  void learn(const Eigen::VectorXd& step, const Eigen::VectorXd& change) override {
    pairs_.add(step, change);
  }

 private:
  const RowPasses& passes_;
  double l2_;
  Eigen::MatrixXd hessian_;
  Eigen::LLT<Eigen::MatrixXd, Eigen::Lower> factors_;
  SecantPairs pairs_;
};

}  // namespace shoal::learn
