// The polynomial by which the Gaussian kernels look at a trial: e^-y for 0 <= y <= 32, in the same
// operations in the same order on every machine, so that scalar and AVX2 code call the same trials
// too close to call.
//
// e^-y = 2^k e^r with k = round(-y / ln 2) and |r| <= 0.3467: the series to the eighth power leaves
// out less than 2.1e-10 of it. Everything else (the nearest double of y, of ln 2 and of the
// coefficients, nine roundings) adds less than 2^-45. In all less than 2^-32, against a margin of
// 2^-30 of which the unknown digits of the word take 2^-32.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace shoal::random {

inline constexpr double kMinusLog2E = -0x1.71547652b82fep+0;
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kRoundingShift = 0x1.8p52;  // adding it rounds to an integer
inline constexpr std::array<double, 9> kExpSeries = {
    1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0};

inline double approximate_exp_minus(double y) {
  const double shifted = std::fma(y, kMinusLog2E, kRoundingShift);
  const double k = shifted - kRoundingShift;
  const double r = std::fma(-k, kLn2, -y);
  double sum = kExpSeries[0];
  for (std::size_t i = 1; i < kExpSeries.size(); ++i) sum = std::fma(sum, r, kExpSeries[i]);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) +
                               (std::bit_cast<std::uint64_t>(shifted) << 52));
}

}  // namespace shoal::random
