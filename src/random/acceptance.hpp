// The polynomial by which the kernels look at a trial of Gaussian noise, in the same operations in
// the same order on every machine, so that scalar and AVX2 code call the same trials too close to
// call. It gives the acceptance probability p in units of 2^-30, as a double. (For Laplace noise
// see laplace_look.hpp.)
//
// e^-y for 0 <= y <= 32. e^-y = 2^k e^r with k = round(-y / ln 2) and |r| <= 0.3467; the series to
// the eighth power leaves out less than 2.1e-10 of it. Everything else (the nearest doubles of y,
// of ln 2 and of the coefficients, nine roundings) adds less than 2^-45. In all less than 2^-32, a
// quarter of a unit.
//
// So p lies in [a - 1/4, a + 5/4] for a = floor of the result, and the uniform number in [u, u + 1)
// for its first 30 digits u: a - u >= 2 accepts and a - u <= -2 rejects for certain.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace shoal::random {

inline constexpr int kUnitBits = 30;
inline constexpr double kMinusLog2E = -0x1.71547652b82fep+0;
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kRoundingShift = 0x1.8p52;  // adding it rounds to an integer
inline constexpr std::array<double, 9> kExpSeries = {0x1p30 / 40320, 0x1p30 / 5040, 0x1p30 / 720,
                                                     0x1p30 / 120,   0x1p30 / 24,   0x1p30 / 6,
                                                     0x1p29,         0x1p30,        0x1p30};

template <std::size_t Size>
double horner(const std::array<double, Size>& coefficients, double x) {
  double sum = coefficients[0];
  for (std::size_t i = 1; i < Size; ++i) sum = std::fma(sum, x, coefficients[i]);
  return sum;
}

inline double gaussian_acceptance(double y) {
  const double shifted = std::fma(y, kMinusLog2E, kRoundingShift);
  const double k = shifted - kRoundingShift;
  const double sum = horner(kExpSeries, std::fma(-k, kLn2, -y));
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) +
                               (std::bit_cast<std::uint64_t>(shifted) << 52));
}

}  // namespace shoal::random
