// Between zCDP or Gaussian privacy and (epsilon, delta), rounded to the safe side. Formula and its
// origin: charge.proof.md.
#pragma once

#include <shoal/base/quantity.hpp>

namespace shoal::privacy {

// An epsilon for which every rho-zCDP mechanism is (epsilon, delta)-differentially private: an
// upper bound, infinite if delta is 0 and rho is not.
double epsilon_of_rho_up(Rho rho, Delta delta);

// A rho whose epsilon_of_rho_up is at most epsilon: a lower bound of the largest one. 0 if delta is
// 0.
Rho rho_within(Epsilon epsilon, Delta delta);

// A mu for which every mu-Gaussian mechanism is (epsilon, delta)-differentially private, even if
// mu^2 / 2 is rounded up to units as a charge is: a lower bound of the largest one. 0 if delta is
// 0.
double mu_within(Epsilon epsilon, Delta delta);

}  // namespace shoal::privacy
