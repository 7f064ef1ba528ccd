// A loss with finitely many values: randomized response and its kin, discrete noise (with its tails
// at infinity or dropped), and whatever was put on a lattice before.
#pragma once

#include "privacy/loss_law.hpp"

namespace shoal::privacy {

struct Atom {
  double loss;
  double mass;  // of P
};

class AtomLaw final : public LossLaw {
 public:
  // Relative error of the masses and absolute error of the losses, as doubles; 0 means a few
  // roundings, which are accounted for anyway.
  // `uncertain_infinite` is a mass that the upper bound puts at infinity and the lower one nowhere.
  AtomLaw(std::vector<Atom> atoms, double infinite, double mass_error = 0, double loss_error = 0,
          double uncertain_infinite = 0);

  double infinite() const override { return infinite_ * (1 + 4 * kRounding) + uncertain_infinite_; }
  double infinite_down() const override {
    return infinite_ * (1 - 4 * kRounding) * (1 - mass_error_);
  }
  std::optional<Bounds> delta(double epsilon) const override;
  NodeTable nodes(double largest_tilt, double largest_frequency, double tolerance) const override;
  double decay(double, double, const NodeTable&, const std::vector<double>&) const override {
    return 1;
  }
  CellShares split(const std::vector<double>& boundaries) const override;
  double lowest_loss(double tail) const override;
  double highest_loss(double tail) const override;
  double largest_loss() const override {
    return atoms_.empty() ? 0 : atoms_.back().loss + loss_error_;
  }
  std::vector<double> atoms() const override;
  bool only_atoms() const override { return true; }

  const std::vector<Atom>& list() const { return atoms_; }
  double mass_error() const { return mass_error_; }
  double loss_error() const { return loss_error_; }

 private:
  std::vector<Atom> atoms_;  // by increasing loss
  double infinite_;
  double mass_error_;
  double loss_error_;
  double uncertain_infinite_;
};

}  // namespace shoal::privacy
