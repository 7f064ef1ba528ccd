// Discrete Gaussian noise, sampled exactly: P(x) proportional to exp(-x^2 / (2 sigma^2)) on the
// integers, where sigma is the exact value of the double. As for the discrete Laplace, only the
// noise decides the time.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/random/bit_source.hpp>

namespace shoal::random {

// Throws invalid_argument unless kMinScale <= sigma <= kMaxScale. Never clamped; that 128 bits
// always hold it is said at sample_discrete_laplace, from which this accepts or rejects.
Int128 sample_discrete_gaussian(double sigma, BitSource& bits);

}  // namespace shoal::random
