// The loss of an event of which only an upper bound of its privacy profile is known: delta as a
// function of epsilon, over all real epsilon. On a lattice it becomes the largest law whose profile
// is the lower convex hull, in e^epsilon, of the values at the lattice points: above the true
// profile everywhere, since a true profile is convex. Proof: loss_distribution.proof.md.
#pragma once

#include "privacy/loss_law.hpp"

#include <functional>

namespace shoal::privacy {

// delta at any real epsilon.
using Curve = std::function<double(double)>;

// The curve of the reverse direction at -epsilon, seen from this one: 1 - e^epsilon + e^epsilon d.
double reversed_delta(double epsilon, double delta_of_reverse);

class CurveLaw final : public LossLaw {
 public:
  // The curve is an upper bound, at most 1, never NaN, that does not increase.
  explicit CurveLaw(Curve delta_up);

  double infinite() const override { return infinite_; }
  bool smooth() const override { return false; }
  std::optional<Bounds> delta(double epsilon) const override;
  NodeTable nodes(double largest_tilt, double largest_frequency, double tolerance) const override;
  double decay(double, double, const NodeTable&, const std::vector<double>&) const override {
    return 1;
  }
  CellShares split(const std::vector<double>& boundaries) const override;
  double lowest_loss(double tail) const override;
  double highest_loss(double tail) const override;
  double largest_loss() const override;

 private:
  Curve delta_up_;
  double infinite_;
};

}  // namespace shoal::privacy
