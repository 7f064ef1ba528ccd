// The odometer: what may be stated about all answers so far by somebody who stops at a moment of
// her own choosing, having seen them.
//
// A filter promises its budget for the whole interaction, however it goes. It does not promise that
// the smaller number read off on the way holds for whoever stops there because of what she saw; an
// odometer does, for a larger number. With probability at least 1 - delta - failures over the
// answers, the privacy loss of all so far is at most epsilon_at(total), at all times at once; so
// for every stopping time and every set of outcomes S in which the stated number is at most e,
//   P(S) <= e^e Q(S) + delta + failures.
// Proof: odometer.proof.md.
//
// Invariants: everything in an Odometer is fixed before the first question.
#pragma once

#include <shoal/base/quantity.hpp>
#include <shoal/privacy/charge.hpp>

namespace shoal::privacy {

struct Odometer {
  Delta delta;                // of the statement, besides failures; above 0
  Delta failures = Delta(0);  // what events with a delta of their own may use up
  double start = 0;           // above 0: the rho from which on the statement is good; smaller ones
                              // are stated as if about so much had been spent
  bool operator==(const Odometer&) const = default;
};

// The one whose statement is as small as can be (within about one part in a hundred) when the total
// has this rho. Throws invalid_argument if rho or delta is 0.
Odometer odometer_for(Rho rho, Delta delta, Delta failures = Delta(0));

// What may be stated after this total, rounded up: the sum of the pure charges or the mixture bound
// on the zCDP charges, whichever is smaller; infinite if failures exceed their part. Throws
// invalid_argument if delta or start is not above 0.
double epsilon_at(const Odometer& odometer, const Charge& total);

}  // namespace shoal::privacy
