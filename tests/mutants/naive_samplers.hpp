// Noise and sums as they are often written, and broken: floating-point Laplace noise, a
// floating-point clamped sum, and an exact sampler whose running time tells what it drew. The
// attacks in tests/statistical must succeed against these, or they prove nothing about Shoal.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/random/bit_source.hpp>
#include <shoal/random/uniform.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace shoal::mutants {

// One of the 2^53 magnitudes that the naive sampler can draw: u = (index + 1) / 2^53 in (0, 1].
inline double naive_laplace_magnitude(std::uint64_t index, double scale) {
  return -scale * std::log(std::ldexp(static_cast<double>(index + 1), -53));
}

// Continuous Laplace noise by inversion, in doubles.
inline double naive_laplace(double scale, random::BitSource& bits) {
  const double magnitude = naive_laplace_magnitude(bits.next_bits(53), scale);
  return bits.next_bit() ? -magnitude : magnitude;
}

// Whether value + naive_laplace(scale) can be exactly `output`: one sided with this sign. Only
// indices near the one that the real numbers give can be meant; how near, the rounding errors of
// exp, log and the addition say.
inline bool naive_laplace_reaches(double output, double value, double scale, double sign) {
  const double magnitude = sign * (output - value);
  const double rounding =
      std::ldexp(std::fabs(output) + std::fabs(value), -53) + std::ldexp(std::fabs(magnitude), -51);
  if (magnitude < -rounding) return false;
  const double u = std::min(1.0, std::exp(-magnitude / scale));
  const double nearest = std::ldexp(u, 53) - 1;
  const double reach = 4 + std::ldexp(u, 53) * rounding / scale;
  const double last = 0x1p53 - 1;
  const auto from = static_cast<std::uint64_t>(std::clamp(nearest - reach, 0.0, last));
  const auto to = static_cast<std::uint64_t>(std::clamp(nearest + reach, 0.0, last));
  for (std::uint64_t index = from; index <= to; ++index) {
    if (value + sign * naive_laplace_magnitude(index, scale) == output) return true;
  }
  return false;
}

inline bool naive_laplace_reaches(double output, double value, double scale) {
  return naive_laplace_reaches(output, value, scale, 1) ||
         naive_laplace_reaches(output, value, scale, -1);
}

// Adds in the order of the data, rounding after every record.
inline double naive_clamped_sum(std::span<const double> values, double low, double high) {
  double sum = 0;
  for (const double value : values) sum += std::clamp(value, low, high);
  return sum;
}

// True with probability numerator / denominator, digit by digit: it takes as long as the digits
// agree.
inline bool rational_coin(UInt128 numerator, UInt128 denominator, random::BitSource& bits) {
  if (numerator >= denominator) return true;
  while (numerator != 0) {
    numerator *= 2;
    const bool digit = numerator >= denominator;
    if (digit) numerator -= denominator;
    if (bits.next_bit() != digit) return digit;
  }
  return false;
}

// True with probability exp(-numerator / denominator), at most 1 in the exponent.
inline bool rational_exp_coin(std::uint64_t numerator, std::uint64_t denominator,
                              random::BitSource& bits) {
  std::uint32_t run = 0;
  UInt128 scaled = denominator;
  while (rational_coin(numerator, scaled, bits)) {
    ++run;
    scaled += denominator;
  }
  return run % 2 == 0;
}

// Discrete Laplace noise of integer scale t, exact (Canonne, Kamath and Steinke 2020, algorithm 2).
// The law is right; the time is not: each t in the magnitude costs another coin.
inline Int128 rational_laplace(std::uint64_t t, random::BitSource& bits) {
  while (true) {
    std::uint64_t low = random::uniform_below(t, bits);
    while (!rational_exp_coin(low, t, bits)) low = random::uniform_below(t, bits);
    std::uint64_t high = 0;
    while (rational_exp_coin(1, 1, bits)) ++high;
    const Int128 magnitude = static_cast<Int128>(UInt128{high} * t + low);
    const bool negative = bits.next_bit();
    if (!(negative && magnitude == 0)) return negative ? -magnitude : magnitude;
  }
}

}  // namespace shoal::mutants
