// Discrete Laplace noise whose scale is a ratio of integers: what both public samplers are made of.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>

namespace shoal::random {

// P(x) proportional to exp(-|x| s / t) (Canonne, Kamath and Steinke 2020, algorithm 2). Requires
// t from 1 to 2^53 and s > 0.
Int128 sample_laplace_fraction(std::uint64_t t, std::uint64_t s, BitSource& bits);

}  // namespace shoal::random
