// The loss between Laplace noise at distance epsilon scales, under Poisson sampling: with X the
// ratio of the densities without sampling, ln(1 - q + qX) under the mixture when a person is
// removed, and its negative under the plain noise when one is added. Rate 1: no sampling.
//
// X lies in [e^-epsilon, e^epsilon], with masses of their own at both ends and between them, in
// l = ln X, the densities e^{-(l + epsilon)/2} / 4 of the plain noise and e^{(l - epsilon)/2} / 4
// of the moved one.
#pragma once

#include "privacy/loss_law.hpp"

#include <utility>

namespace shoal::privacy {

class LaplaceLaw final : public LossLaw {
 public:
  LaplaceLaw(double epsilon, double rate, bool added);

  std::optional<Bounds> delta(double epsilon) const override;
  NodeTable nodes(double largest_tilt, double largest_frequency, double tolerance) const override;
  double decay(double tilt, double frequency, const NodeTable& nodes,
               const std::vector<double>& weight) const override;
  CellShares split(const std::vector<double>& boundaries) const override;
  double lowest_loss(double tail) const override;
  double highest_loss(double tail) const override;
  double largest_loss() const override { return atoms().back(); }
  std::vector<double> atoms() const override;

 private:
  // The loss for a value of ln X, and back.
  double sampled(double base) const;
  double unsampled(double loss) const;
  // Masses of P at the two ends, from the masses of the plain noise and of the moved one.
  double mass(double plain, double moved) const;
  double mass_at(bool top) const;
  std::pair<double, double> ends(double from, double to) const;

  double epsilon_;
  double rate_;
  bool added_;
};

}  // namespace shoal::privacy
