// Renyi divergences of an event tree, added up leaf by leaf: each leaf by the best formula that is
// known for it. Private to the accountant. Proof: methods.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/privacy/event.hpp>

#include <functional>
#include <vector>

namespace shoal::privacy {

class RenyiSum {
 public:
  // Throws unsupported if the relation does not fit the event.
  RenyiSum(const Event& event, Neighbors neighbors);

  // An upper bound of the divergence of an order above 1, in the worse direction. Infinite where
  // none is known.
  double divergence_up(double order) const;

  // At least the chance that the loss is infinite.
  double infinite() const { return infinite_; }

  // What follows from the best order. delta above 0; epsilon >= 0.
  double epsilon_up(double delta) const;
  double delta_up(double epsilon) const;

 private:
  using Divergence = std::function<double(double)>;
  struct Part {
    Divergence whole;
    Divergence finite;    // of the finite losses alone
    double infinite = 0;  // at least the chance of the others
    double count = 1;
  };

  Part part_of(const Event& event, Neighbors neighbors);
  double finite_up(double order) const;

  std::vector<Part> parts_;
  std::vector<double> orders_;  // of tables: to be tried as they are
  double infinite_ = 0;
};

}  // namespace shoal::privacy
