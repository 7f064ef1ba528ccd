// Coins with an exact chance: rational, or e to a rational power. No floating point takes part.
#pragma once

#include <shoal/random/bit_source.hpp>

#include <cstdint>

namespace shoal::random {

// True with probability numerator / denominator. Throws invalid_argument if that is no probability.
bool bernoulli(std::uint64_t numerator, std::uint64_t denominator, BitSource& bits);

// True with probability exp(-numerator / denominator). The time does not depend on what comes out,
// but with probability below 2^-60. Throws invalid_argument if the denominator is 0.
bool bernoulli_exp_minus(std::uint64_t numerator, std::uint64_t denominator, BitSource& bits);

}  // namespace shoal::random
