#include "learn/factored_hessian.hpp"

namespace shoal::learn {

using Eigen::VectorXd;

void FactoredHessian::renew(std::span<const double> weights, PassScope scope, double scale) {
  hessian_ = passes_.hessian(weights, scope);
  if (scale != 1) hessian_ *= scale;
  hessian_.diagonal().array() += l2_;
  factors_.compute(hessian_);
  pairs_.clear();
}

double FactoredHessian::renewal_cost() const {
  return 1 + static_cast<double>(passes_.rows().widest_row()) / 8;
}

VectorXd FactoredHessian::direction(const VectorXd& gradient, double damping) {
  if (damping == 0)
    return pairs_.apply_inverse(-gradient, [&](VectorXd& q) { factors_.solveInPlace(q); });
  Eigen::MatrixXd damped = hessian_;
  damped.diagonal().array() += damping;
  return -damped.selfadjointView<Eigen::Lower>().llt().solve(gradient);
}

}  // namespace shoal::learn
