// Uniform integers, exactly.
#pragma once

#include <shoal/random/bit_source.hpp>

#include <cstdint>

namespace shoal::random {

// Uniform on 0 .. bound - 1. Rejects numbers of as many bits as bound - 1 has until one is below
// the bound: fewer than two tries on average. Throws invalid_argument if bound is 0.
std::uint64_t uniform_below(std::uint64_t bound, BitSource& bits);

}  // namespace shoal::random
