// Certified real arithmetic in 128 bits, for where enclosure.hpp would be too slow: the thresholds
// of a new noise scale, and the first look at a coin. Same rules: integers only, lower ends rounded
// down, upper ends up, non-negative numbers.
#pragma once

#include <shoal/base/int128.hpp>

#include <cstdint>

namespace shoal::numeric {

// low * 2^-120 <= the number <= high * 2^-120; numbers stay below 2^8.
struct Interval128 {
  static constexpr int kPrecision = 120;
  static constexpr UInt128 kOne = static_cast<UInt128>(1) << kPrecision;

  UInt128 low;
  UInt128 high;
};

// Throws invalid_argument if the denominator is zero or the ratio 2^8 or more.
Interval128 enclose_ratio128(UInt128 numerator, UInt128 denominator);

inline Interval128 add(Interval128 a, Interval128 b) { return {a.low + b.low, a.high + b.high}; }

// a - b, for a >= b: the lower end stops at zero.
inline Interval128 subtract(Interval128 a, Interval128 b) {
  return {a.low > b.high ? a.low - b.high : 0, a.high > b.low ? a.high - b.low : 0};
}

// floor(a * b * 2^-120), for a product below 2^8.
inline UInt128 multiply_down(UInt128 a, UInt128 b) {
  const auto a0 = static_cast<std::uint64_t>(a);
  const auto a1 = static_cast<std::uint64_t>(a >> 64);
  const auto b0 = static_cast<std::uint64_t>(b);
  const auto b1 = static_cast<std::uint64_t>(b >> 64);
  const UInt128 p00 = static_cast<UInt128>(a0) * b0;
  const UInt128 p01 = static_cast<UInt128>(a0) * b1;
  const UInt128 p10 = static_cast<UInt128>(a1) * b0;
  const UInt128 p11 = static_cast<UInt128>(a1) * b1;
  const UInt128 middle =
      (p00 >> 64) + static_cast<std::uint64_t>(p01) + static_cast<std::uint64_t>(p10);
  const UInt128 high = p11 + (p01 >> 64) + (p10 >> 64) + (middle >> 64);
  return (high << (128 - Interval128::kPrecision)) |
         (static_cast<std::uint64_t>(middle) >> (Interval128::kPrecision - 64));
}

inline Interval128 multiply(Interval128 a, Interval128 b) {
  return {multiply_down(a.low, b.low), multiply_down(a.high, b.high) + 1};
}

// e^-x. The ends are at most 2^-112 further apart than those of x.
Interval128 exp_minus(Interval128 x);

// e^-(numerator / denominator), for any ratio: beyond 84 it is all but zero. Throws
// invalid_argument if the denominator is zero.
Interval128 exp_minus_ratio128(UInt128 numerator, UInt128 denominator);

}  // namespace shoal::numeric
