// A law of the privacy loss on a lattice, above or below the true one.
//
// Above: each cell's mass is spread to its ends so that the masses of P and of Q both stay, which
// only raises every hockey stick (the ratio dP/dQ grows in the convex order), also after
// composition; what lies under the lattice is raised to its first point, what lies over it goes to
// infinity. Below: each cell is drawn together to its mean, neighbouring cells are joined where
// their common mean is a lattice point, and what is left over is lowered to the point below; what
// lies under the lattice is dropped. Proof: loss_distribution.proof.md.
#pragma once

#include "privacy/loss_law.hpp"

#include <vector>

namespace shoal::privacy {

struct LatticeLaw {
  double origin = 0;  // the loss of mass[0]
  double step = 0;
  std::vector<double> mass;  // of P, rounded to the safe side
  double infinite = 0;
  double loss_error = 0;  // how far the losses may be off

  double loss(double index) const { return origin + step * index; }
};

struct LatticePair {
  LatticeLaw upper;
  LatticeLaw lower;
};

// Both bounds of the law with this step; the lattice meets `anchor` and covers all but `tail` of P
// at the top and `low_tail` at the bottom.
LatticePair put_on_lattice(const LossLaw& law, double step, double anchor, double low_tail,
                           double tail);

}  // namespace shoal::privacy
