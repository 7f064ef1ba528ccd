// How much Gaussian noise an (epsilon, delta) needs: the least, by the exact delta of the noise
// (numeric/gaussian_delta.hpp), never by a tail bound. Argument:
// src/mechanism/gaussian_calibration.proof.md.
#pragma once

#include <shoal/base/quantity.hpp>

namespace shoal::mechanism {

// The smallest double sigma whose certified delta at epsilon is at most delta, for continuous (or
// rounded) Gaussian noise on a statistic of any dimension that moves by at most `l2_sensitivity` in
// L2 norm. Any epsilon, 0 included. Throws invalid_argument if delta is 0 or the sensitivity not
// positive and finite.
double analytic_gaussian_sigma(double l2_sensitivity, Epsilon epsilon, Delta delta);

// The same for the discrete Gaussian on one integer, from 2^-10 on. Beyond numeric::kMaxSummedSigma
// it is above the smallest by less than one part in 1000. Throws invalid_argument if delta is 0 or
// the noise would be beyond 2^50.
double discrete_gaussian_sigma(Sensitivity sensitivity, Epsilon epsilon, Delta delta);

// sqrt(2 ln(1.25 / delta)) sensitivity / epsilon, rounded up: the textbook's bound (Dwork and Roth
// 2014, theorem A.1), for comparison. It is proven for epsilon < 1 only and wasteful there; throws
// invalid_argument for any other epsilon.
double classic_gaussian_sigma(double l2_sensitivity, Epsilon epsilon, Delta delta);

}  // namespace shoal::mechanism
