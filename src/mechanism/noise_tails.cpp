#include "mechanism/noise_tails.hpp"

#include <shoal/numeric/directed.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace shoal::mechanism {
namespace {

using namespace numeric;

// sqrt(2) and sqrt(2 pi) lie strictly between these doubles and the next.
constexpr double kRootOfTwoDown = 0x1.6a09e667f3bccp+0;
constexpr double kRootOfTwoPiDown = 0x1.40d931ff62705p+1;

// x / (sigma sqrt 2), the argument of erfc.
double deviation_down(double x, double sigma) {
  return divide_down(x, multiply_up(sigma, step_up(kRootOfTwoDown)));
}
double deviation_up(double x, double sigma) {
  return divide_up(x, multiply_down(sigma, kRootOfTwoDown));
}

// exp(-x^2 / (2 sigma^2)); x^2 is exact for integers below 2^26.
double weight_up(double sigma, double x) {
  return exp_up(-divide_down(x * x, 2 * multiply_up(sigma, sigma)));
}
double weight_down(double sigma, double x) {
  return exp_down(-divide_up(x * x, 2 * multiply_down(sigma, sigma)));
}

}  // namespace

double double_down(Int128 value) {
  const auto nearest = static_cast<double>(value);
  if (nearest >= 0x1p127) return step_down(nearest);
  return static_cast<Int128>(nearest) > value ? step_down(nearest) : nearest;
}

double double_up(Int128 value) {
  const auto nearest = static_cast<double>(value);
  if (nearest >= 0x1p127) return nearest;
  return static_cast<Int128>(nearest) < value ? step_up(nearest) : nearest;
}

NoiseTails::NoiseTails(const DiscreteLaplace& noise) : scale_(noise.scale), is_laplace_(true) {
  validate(noise);
}

NoiseTails::NoiseTails(const DiscreteGaussian& noise) : scale_(noise.sigma), is_laplace_(false) {
  validate(noise);
  if (scale_ > kMaxSummed) return;
  // All beyond 39 sigma is below the smallest double; the weights there fall by a factor of
  // e^(-39 / sigma) < 0.86 or faster, so they sum to less than 8 times the first.
  const auto last = static_cast<std::size_t>(std::ceil(39 * scale_)) + 1;
  up_.resize(last + 1);
  down_.resize(last + 1);
  double sum_up = 8 * weight_up(scale_, static_cast<double>(last + 1));
  double sum_down = 0;
  for (std::size_t x = last + 1; x-- > 0;) {
    sum_up = add_up(sum_up, weight_up(scale_, static_cast<double>(x)));
    sum_down = add_down(sum_down, weight_down(scale_, static_cast<double>(x)));
    up_[x] = sum_up;
    down_[x] = sum_down;
  }
  const double all_up = add_up(up_[0], up_[1]);
  const double all_down = add_down(down_[0], down_[1]);
  for (double& tail : up_) tail = divide_up(tail, all_down);
  for (double& tail : down_) tail = divide_down(tail, all_up);
}

double NoiseTails::upper_tail_up(Int128 t) const {
  if (is_laplace_) {
    const double power_up = exp_up(-divide_down(double_down(t), scale_));
    return divide_up(power_up, add_down(1, exp_down(-divide_up(1, scale_))));
  }
  if (!up_.empty())
    return up_[t < static_cast<Int128>(up_.size()) ? static_cast<std::size_t>(t) : up_.size() - 1];
  const double from = subtract_down(double_down(t), 0.5);
  if (from >= scale_) return erfc_up(deviation_down(from, scale_)) / 2;
  return add_up(erfc_up(deviation_down(double_down(t), scale_)) / 2,
                divide_up(1, multiply_down(scale_, kRootOfTwoPiDown)));
}

double NoiseTails::upper_tail_down(Int128 t) const {
  if (is_laplace_) {
    const double power_down = exp_down(-divide_up(double_up(t), scale_));
    return divide_down(power_down, add_up(1, exp_up(-divide_down(1, scale_))));
  }
  if (!down_.empty()) {
    return t < static_cast<Int128>(down_.size()) ? down_[static_cast<std::size_t>(t)] : 0;
  }
  return std::max(step_down(erfc_down(deviation_up(double_up(t), scale_)) / 2), 0.0);
}

double NoiseTails::at_least_up(Int128 t) const {
  if (t >= 1) return std::min(upper_tail_up(t), 1.0);
  if (t < -kInt128Max / 2) return 1;
  return std::min(subtract_up(1, upper_tail_down(1 - t)), 1.0);
}

double NoiseTails::at_least_down(Int128 t) const {
  if (t >= 1) return upper_tail_down(t);
  if (t < -kInt128Max / 2) t = -kInt128Max / 2;
  return std::max(subtract_down(1, upper_tail_up(1 - t)), 0.0);
}

}  // namespace shoal::mechanism
