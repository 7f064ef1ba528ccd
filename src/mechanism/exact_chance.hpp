// The chances of the local randomizers as real numbers that can be enclosed with any precision.
// Each double stands for its exact value.
#pragma once

#include <shoal/random/lazy_uniform.hpp>

#include <cstdint>

namespace shoal::mechanism {

// The double itself, finite and not negative.
random::RealAtPrecision exact_chance(double value);

// 1 / (1 + others * e^-epsilon): what randomized response keeps the truth with, against `others`
// other categories.
random::RealAtPrecision keep_chance(double epsilon, std::uint64_t others);

}  // namespace shoal::mechanism
