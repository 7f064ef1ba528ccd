// The scales that the exact samplers take: doubles, each standing for its exact dyadic value.
#pragma once

#include <cstdint>
#include <string_view>

namespace shoal::random {

// Below, noise is all but always zero; above, an exact sum plus noise would crowd 128 bits.
inline constexpr double kMinScale = 0x1p-10;
inline constexpr double kMaxScale = 0x1p50;

// Throws invalid_argument, calling the value `what`, unless kMinScale <= value <= kMaxScale.
void check_scale(double value, std::string_view what);

// numerator / denominator, equal to the double. In range, numerator < 2^53 and denominator is a
// power of two of at most 2^62.
struct DyadicScale {
  std::uint64_t numerator;
  std::uint64_t denominator;
};

// The exact value of a double in range, in lowest terms. Throws as check_scale does.
DyadicScale exact_scale(double value, std::string_view what);

}  // namespace shoal::random
