// The tails of integer noise, P(X >= t), between certified bounds. Prepared once for many t: what
// thresholds are calibrated with, and what intervals of groups that passed one are made of.
//
// Laplace: q^t / (1 + q) for t >= 1. Gaussian: the pmf is summed up to kMaxSummed; beyond, with w
// the weights, integrals stand for sums. w falls, so the sum from t on is between the integral from
// t on and that plus w(t); where w is convex (from sigma on) each summand is at most the integral
// over the unit interval around it, so the sum is at most the integral from t - 1/2 on. Poisson
// summation gives the normaliser, sigma sqrt(2 pi) and at most one part in 2^1000 more. For t <= 0
// all is mirrored: P(X >= t) = 1 - P(X >= 1 - t).
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/mechanism/discrete_gaussian.hpp>
#include <shoal/mechanism/discrete_laplace.hpp>

#include <vector>

namespace shoal::mechanism {

// The nearest double on that side.
double double_down(Int128 value);
double double_up(Int128 value);

class NoiseTails {
 public:
  static constexpr double kMaxSummed = 256;

  // Each throws invalid_argument if the noise is out of range.
  explicit NoiseTails(const DiscreteLaplace& noise);
  explicit NoiseTails(const DiscreteGaussian& noise);

  double at_least_up(Int128 t) const;
  double at_least_down(Int128 t) const;

 private:
  // For t >= 1.
  double upper_tail_up(Int128 t) const;
  double upper_tail_down(Int128 t) const;

  double scale_;
  bool is_laplace_;
  // P(X >= i) for i = 0, 1, ..., if they are summed.
  std::vector<double> up_ = {};
  std::vector<double> down_ = {};
};

}  // namespace shoal::mechanism
