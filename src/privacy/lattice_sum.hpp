// Engine 2: the sum of independent losses on one lattice, by a tilted Fourier transform.
//
// Each law is multiplied by e^{theta l} and normalised, transformed, raised to its count,
// multiplied with the others, transformed back and tilted back: rounding is then relative to delta
// at the loss that theta points to, however small. The window is as wide as Chernoff's bound asks;
// what wraps around it, and all rounding, is bounded and counted on the safe side. Proof:
// loss_distribution.proof.md.
#pragma once

#include "privacy/lattice_law.hpp"

#include <optional>
#include <vector>

namespace shoal::privacy {

enum class Side { lower, upper };

struct LatticePart {
  const LatticeLaw* law;
  double count;
};

class LatticeSum {
 public:
  // The window holds all of the tilted sum but about `tail` at each end. Empty if it would need
  // more than `largest` points.
  static std::optional<LatticeSum> compose(const std::vector<LatticePart>& parts, double tilt,
                                           Side side, std::size_t largest, double tail = 1e-15);

  // A bound, on this sum's side, of the logarithm of delta at epsilon, without the mass at
  // infinity.
  double log_delta(double epsilon) const;

  // A bound of the mass at infinity, on this sum's side.
  double infinite() const { return infinite_; }

  // The composed law itself, tilted back, as masses of P from the lowest index: for nesting.
  std::size_t points() const { return value_.size(); }
  double loss(std::size_t point) const { return base_ + step_ * static_cast<double>(point); }
  double log_scale() const { return log_moment_; }
  double tilt() const { return tilt_; }
  const std::vector<double>& tilted() const { return value_; }
  // Absolute error of each tilted value, and what lies outside of the window as part of the whole.
  double point_error() const { return norm_error_; }
  double outside() const { return outside_low_ + outside_high_; }
  double relative_error() const { return relative_error_; }
  double loss_error() const { return loss_error_; }

 private:
  LatticeSum() = default;

  Side side_ = Side::upper;
  double tilt_ = 0;
  double step_ = 0;
  double base_ = 0;  // the loss of value_[0]
  std::vector<double> value_;
  double log_moment_ = 0;
  double relative_error_ = 0;
  double norm_error_ = 0;
  double loss_error_ = 0;
  double outside_low_ = 0;
  double outside_high_ = 0;
  double infinite_ = 0;
};

}  // namespace shoal::privacy
