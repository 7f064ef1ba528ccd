// How the kernels look at a trial of Laplace noise: in double precision, by the same operations in
// the same order on every machine, with proven margins. What falls into a margin is decided
// exactly.
//
// A trial has two words of 64 bits, rank word and place word:
//   rank word:  the first 48 digits of U, then the first 16 digits of the acceptance's u
//   place word: the sign, 47 digits of lambda, then 14 more digits of u and two that nobody uses
// A group has the rank words of its eight lanes first, then their place words.
//
// h = floor(-t ln U). U lies in [w, x] 2^-48 for w the 48 digits and x = w + 1. With x = 2^e m,
// -t ln(x 2^-48) = t ln 2 (48 - e) - t ln m, and ln m is a polynomial of degree 12 in m - 3/2: the
// Chebyshev series, which leaves out less than 2 r^13 / (13 (1 - r)) < 2^-35.48 with r = 3 -
// sqrt(8). The factor of ln 2 is e + (m - 1), read off the bits of x, so the polynomial makes up
// for m - 1 too. The result `low` is in units that a double between 2^18 and 2^19 counts by 2^-34;
// `start` holds the offset 1.5 2^18 and minus the margin t 2^-35. Errors besides the series are
// less than 2^-30 in all: the digits of m after the fortieth, left out where it is read with e (t
// ln 2 2^-40 < 2^-32.5), `start` (three roundings, 2^-32), three roundings of 2^-35, coefficients
// and series (2^-38). With t >= 128, t 2^-35.48 + 2^-30 < t 2^-35, so
//   -t ln(x 2^-48) - 2 margin <= low <= -t ln(x 2^-48).
// `high` is to lie above -t ln(w 2^-48), which is at most t/w more. It is low plus the larger of
// 17/8 margin and 40t/x, rounded by 2^-35 < margin/100. If t/w <= margin/16 the first is enough.
// Else 2 margin < 32 t/w and the rounding is less than t/(6w), so 40t/x is enough from w = 5 on;
// below, it is more than one and the word ambiguous. If low and high have the same floor it is h.
//
// 40t/x comes from subtracting the bits of x from those of 40t: for 2^a (1 + f) / 2^b (1 + g) that
// gives 2^(a-b) (1 + f - g) or, for f < g, 2^(a-b-1) (2 + f - g), never too small and at most by an
// eighth too large.
//
// The acceptance p = e^(-lambda/t) in units of 2^-30, added to 2^52 so that it is rounded to a
// whole number a. The series goes to the third power, around the point next to lambda = 1/2 where p
// is a whole number, because the sum of that and 2^52 must not be rounded too. For t >= 128 it
// leaves out less than 2^-36, and everything else is less than 2^-40. So p lies in [a - 3/4, a +
// 3/4], and the uniform number in [u, u + 1) for its first 30 digits u: a - u >= 2 accepts and a -
// u <= -1 rejects for certain.
#pragma once

#include "random/acceptance.hpp"
#include "random/noise_law.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace shoal::random {

inline constexpr double kLeastLaplaceT = 128;
inline constexpr int kRankBits = 48;   // digits of U in a trial
inline constexpr int kPlaceBits = 47;  // digits of lambda in a trial
inline constexpr int kRankPoint = 34;  // the binary point of low and high
inline constexpr double kRankOffset = 0x1.8p18;
inline constexpr double kAcceptOffset = 0x1p52;
inline constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << 52) - 1;

// ln(3/2 + z) for |z| <= 1/2, constant first.
inline constexpr std::array<double, 13> kLogSeries = {
    0x1.9f323ecbedc92p-2,  0x1.555555519b642p-1, -0x1.c71c71a37454dp-3,  0x1.948b1cb8890e5p-4,
    -0x1.948b331901de3p-5, 0x1.af7ce44e1daf3p-6, -0x1.df685b69c76b0p-7,  0x1.12a55a9c38930p-7,
    -0x1.40c7a4f2e4cfcp-8, 0x1.698d463775a58p-9, -0x1.acbf5d379c3aap-10, 0x1.7b16fb1dce3c1p-10,
    -0x1.dcf89de0e4fd5p-11};

// The same number four times, as one register holds it.
template <class Number>
struct alignas(32) Fourfold {
  std::array<Number, 4> lane{};

  Fourfold() = default;
  explicit Fourfold(Number number) { lane.fill(number); }
};

struct LaplaceTables {
  LaplaceKind kind{};
  int lambda_bits = 0;  // digits of lambda in the value: j, or j + 1 to round by
  int drop = 0;         // digits rounded away at the end: 0 or 1
  Fourfold<double> slope;
  Fourfold<double> start;
  std::array<Fourfold<double>, 12> log;  // highest first; the constant is in `start`
  Fourfold<double> margin;
  Fourfold<std::uint64_t> reach;        // minus the bits of x: 40t/x
  Fourfold<std::uint64_t> lambda_mask;  // which of the first 52 digits lambda has
  Fourfold<std::uint64_t> step;         // what a minus adds to lambda: 2^-j if discrete, else 0
  Fourfold<double> centre;              // 1 + the lambda of the series
  std::array<Fourfold<double>, 4> acceptance;  // highest first
};

// Word `lane` of 64 bits.
inline std::uint64_t word64(const std::uint32_t* words, std::size_t lane) {
  return words[2 * lane] | static_cast<std::uint64_t>(words[2 * lane + 1]) << 32;
}

// The first 30 digits of u.
inline std::uint32_t accept_digits(std::uint64_t rank_word, std::uint64_t place_word) {
  return static_cast<std::uint32_t>((rank_word & 0xffff) << 14 | (place_word & 0xffff) >> 2);
}

// For scale = t 2^j.
inline LaplaceTables laplace_tables(double t, int j, LaplaceKind kind) {
  LaplaceTables tables;
  const bool rounded = kind == LaplaceKind::rounded;
  tables.kind = kind;
  tables.lambda_bits = rounded ? j + 1 : j;
  tables.drop = rounded ? 1 : 0;
  const double factor = t * kLn2;
  const double margin = t * 0x1p-35;
  tables.slope = Fourfold<double>(-4096 * factor);
  tables.start = Fourfold<double>(
      kRankOffset + (factor * (4096 + 1023.5 + kRankBits) - (t * kLogSeries[0] + margin)));
  for (std::size_t i = 0; i < tables.log.size(); ++i) {
    const std::size_t power = tables.log.size() - i;
    tables.log[i] = Fourfold<double>((power == 1 ? factor : 0) - t * kLogSeries[power]);
  }
  tables.margin = Fourfold<double>(17 * margin / 8);
  tables.reach = Fourfold<std::uint64_t>(std::bit_cast<std::uint64_t>(40 * t) +
                                         std::bit_cast<std::uint64_t>(1.0));
  const int digits = rounded ? kPlaceBits : j;
  tables.lambda_mask = Fourfold<std::uint64_t>(kMantissaMask & ~(kMantissaMask >> digits));
  const bool discrete = kind == LaplaceKind::discrete;
  tables.step = Fourfold<std::uint64_t>(discrete ? std::uint64_t{1} << (52 - j) : 0);
  const double whole = std::nearbyint(0x1p30 * std::exp(-0.5 / t));
  tables.centre = Fourfold<double>(1 - t * std::log(whole * 0x1p-30));
  tables.acceptance = {Fourfold<double>(-whole / (6 * t * t * t)),
                       Fourfold<double>(whole / (2 * t * t)), Fourfold<double>(-whole / t),
                       Fourfold<double>(whole + kAcceptOffset)};
  return tables;
}

template <std::size_t Size>
double series(const std::array<Fourfold<double>, Size>& coefficients, double x) {
  double sum = coefficients[0].lane[0];
  for (std::size_t i = 1; i < Size; ++i) sum = std::fma(sum, x, coefficients[i].lane[0]);
  return sum;
}

// low and high, with the offset.
struct RankLook {
  double low;
  double high;
};

inline RankLook look_at_rank(const LaplaceTables& tables, std::uint64_t rank_word) {
  const auto one = std::bit_cast<std::uint64_t>(1.0);
  const auto shift = std::bit_cast<std::uint64_t>(0x1p52);
  const double x = std::bit_cast<double>(rank_word >> (64 - kRankBits) | shift) - (0x1p52 - 1);
  const auto x_bits = std::bit_cast<std::uint64_t>(x);
  const double z = std::bit_cast<double>((x_bits & kMantissaMask) | one) - 1.5;
  const double with_exponent = std::bit_cast<double>(x_bits >> 12 | one);
  const double linear = std::fma(with_exponent, tables.slope.lane[0], tables.start.lane[0]);
  const double low = std::fma(series(tables.log, z), z, linear);
  const double reach = std::bit_cast<double>(tables.reach.lane[0] - x_bits);
  return {low, low + std::max(reach, tables.margin.lane[0])};
}

// The floor of low or high.
inline std::uint64_t rank_of(double looked) {
  return (std::bit_cast<std::uint64_t>(looked) >> kRankPoint) -
         (std::bit_cast<std::uint64_t>(kRankOffset) >> kRankPoint);
}

// a, from lambda's first 52 digits; `minus` is all ones or none.
inline std::int32_t look_at_acceptance(const LaplaceTables& tables, std::uint64_t digits,
                                       std::uint64_t minus) {
  const std::uint64_t one_plus =
      std::bit_cast<std::uint64_t>(1.0) + digits + (minus & tables.step.lane[0]);
  const double lambda = std::bit_cast<double>(one_plus) - tables.centre.lane[0];
  return static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(series(tables.acceptance, lambda)));
}

}  // namespace shoal::random
