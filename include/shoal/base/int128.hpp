// 128-bit integers: exact sums on a grid need them. Saturation happens after noise, never before.
#pragma once

#include <cstdint>
#include <string>

namespace shoal {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

inline constexpr Int128 kInt128Max = static_cast<Int128>(~static_cast<UInt128>(0) >> 1);
inline constexpr Int128 kInt128Min = -kInt128Max - 1;

// The sum, clamped to the representable range.
constexpr Int128 saturating_add(Int128 a, Int128 b) {
  Int128 sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? kInt128Max : kInt128Min;
}

// The product, clamped to the representable range.
constexpr Int128 saturating_multiply(Int128 a, Int128 b) {
  Int128 product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a > 0) == (b > 0) ? kInt128Max : kInt128Min;
}

std::string to_string(Int128 value);

}  // namespace shoal
