// Slopes and curvatures of the logistic loss for many rows at once. The chance of a label needs an
// exponential, which is most of what a sparse row costs; here it is a polynomial that compilers
// turn into vector instructions.
#pragma once

#include <cstddef>

namespace shoal::learn {

// e^-t for t >= 0, off by at most 6 units of 2^-53 relatively up to t = 700, and e^-700 beyond.
// Proof: certificate.proof.md.
double exp_of_minus(double t);

// At predictions z and labels y of +1 and -1: the slopes, or the curvatures, in place of the
// predictions. The same numbers with and without AVX2.
void logistic_slopes(double* z, const double* y, std::size_t count);
void logistic_curvatures(double* z, const double* y, std::size_t count);

}  // namespace shoal::learn
