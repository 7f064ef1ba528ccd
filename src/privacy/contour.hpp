// Engine 1: delta as a contour integral over the sum of the cumulants, no common grid needed.
//
// With M(t) the product of the laws' moments,
//   delta(epsilon) = 1/(2 pi i) integral over Re t = c of M(t) e^{-epsilon t} / (t (1 + t)) dt,
// c > 0 (the finite part of the loss). On the line through the saddle point the trapezoidal rule
// converges geometrically; it gives delta plus aliases that are never negative and are bounded.
// What is cut off at high frequencies is bounded by the laws' decay, quadrature and rounding by a
// running error bound. Proof: contour.proof.md.
#pragma once

#include "privacy/loss_law.hpp"

#include <optional>
#include <vector>

namespace shoal::privacy {

// The laws with their largest losses, of at most `tail` each, moved to infinity where they can be.
std::vector<CountedLaw> without_tails(const std::vector<CountedLaw>& laws, double tail);

class Contour {
 public:
  // Independent losses, and one more that is normal with this variance (and half of it as mean):
  // all the Gaussian noise together. The variance is known up to a relative error.
  Contour(std::vector<CountedLaw> laws, double gaussian_variance, double relative_error = 0);

  // Bounds of the logarithm of the finite part of delta; empty if the integral would take more than
  // `work` rotations of a node, or decays too slowly to be cut off.
  std::optional<LogBounds> log_delta(double epsilon, double work = 3e6);

  // An epsilon at which the Chernoff (that is, Renyi) bound of delta is e^{log_delta}, rounded up
  // by no one: a place to start from.
  double chernoff_epsilon(double log_delta);

  // The tilt that it was found at, or that the last integral went through.
  double tilt() const { return tilt_; }

  // The tilt of the saddle point for this epsilon; empty if it is beyond every sensible tilt, as
  // for an epsilon near or above the largest possible loss.
  std::optional<double> saddle(double epsilon);

  // The Chernoff bound at the tilt as it is, rounded up: at this epsilon the finite part of delta
  // is at most e^{log_delta}. Best after chernoff_epsilon; infinite if the laws' nodes only guide.
  double chernoff_epsilon_up(double log_delta);

  // An upper bound of ln delta at epsilon, without infinity, by Chernoff's (that is, Renyi's)
  // bound.
  double chernoff_log_delta_up(double epsilon);

  // An upper bound of ln E[e^{cL}; L < infinity]: c times the Renyi divergence of order c + 1.
  double log_moment_up(double c);

  // The derivative of ln delta by epsilon at the last point, near enough for Newton's method.
  double slope() const { return slope_; }

 private:
  struct Part;
  struct Tilted {
    double log_moment = 0;
    double mean = 0;
    double variance = 0;
    double error = 0;  // of log_moment
  };

  double nodes() const;
  // Whether the tables stand for the moments, or only guide.
  bool reliable() const;
  void prepare(double largest_tilt, double largest_frequency);
  Tilted tilted(double c, bool keep_weights);
  double log_chernoff(double c, double epsilon, double log_moment) const;
  double log_tail(double tilt, double frequency) const;

  std::vector<CountedLaw> laws_;
  double gaussian_variance_;
  double variance_error_;
  double count_ = 0;
  std::vector<NodeTable> tables_;
  std::vector<std::vector<double>> weights_;
  std::vector<double> means_;
  std::vector<double> errors_;
  double largest_tilt_ = 0;
  double largest_frequency_ = 0;
  double tolerance_ = 1e-18;
  double tilt_ = 1;
  double slope_ = 0;
};

}  // namespace shoal::privacy
