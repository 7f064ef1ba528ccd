// The natural logarithm in integer arithmetic, with a certified error: what the first look at two
// Gumbel noises is made of.
//
// For d = 2^e m, 1 <= m < 2, a table gives c near 1/m, so that m c = 1 + r with |r| < 2^-7.9, and
// ln d = e ln 2 - ln c + ln(1 + r), the last by its series up to r^7. The table is made by the
// compiler, from integers. Errors, in units of 2^-56: the cut series below 2^-10, its rounding
// below 2^-3, the table and ln 2 below 2^-5 each, rounding to units at most 1 for each of three
// terms. So kFixedLogError = 4 covers them; tests/unit/mechanism/fixed_log_test.cpp compares with
// MPFR.
#pragma once

#include <shoal/base/int128.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace shoal::mechanism {

inline constexpr int kFixedLogBits = 56;
inline constexpr std::int64_t kFixedLogError = 4;

namespace detail {

// ln(denominator / numerator) * 2^90, at most 60 too small, for 1/2 <= numerator / denominator <= 1
// and a denominator of at most 2^16: twice the inverse hyperbolic tangent of z = (denominator -
// numerator) / (denominator + numerator) <= 1/3, whose 28th term is below 2^-91.
constexpr UInt128 log_ratio_90(std::uint64_t numerator, std::uint64_t denominator) {
  const UInt128 up = denominator - numerator;
  const UInt128 down = denominator + numerator;
  UInt128 power = (up << 91) / down;
  UInt128 sum = 0;
  for (unsigned k = 1; power != 0 && k < 60; k += 2) {
    sum += power / k;
    power = power * (up * up) / (down * down);
  }
  return sum;
}

struct LogCell {
  std::uint64_t reciprocal;  // c * 2^16
  std::int64_t minus_log;    // -ln c * 2^62
};

// For m in [1 + i/128, 1 + (i + 1)/128).
constexpr std::array<LogCell, 128> make_log_cells() {
  std::array<LogCell, 128> cells{};
  for (std::uint64_t i = 0; i < cells.size(); ++i) {
    // 2^16 divided by the middle, (257 + 2 i) / 256, rounded to the nearest.
    const std::uint64_t middle = 257 + 2 * i;
    const std::uint64_t reciprocal = ((std::uint64_t{1} << 25) + middle) / (2 * middle);
    cells[i] = {reciprocal,
                static_cast<std::int64_t>(log_ratio_90(reciprocal, std::uint64_t{1} << 16) >> 28)};
  }
  return cells;
}

inline constexpr std::array<LogCell, 128> kLogCells = make_log_cells();
inline constexpr auto kLn2At90 = static_cast<Int128>(log_ratio_90(1, 2));

// r (1 - r (1/2 - r (1/3 - ... r/7))) with 62 binary digits after the point.
constexpr std::int64_t log1p_62(std::int64_t r) {
  constexpr std::int64_t one = std::int64_t{1} << 62;
  const auto times = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>((static_cast<Int128>(a) * b) >> 62);
  };
  std::int64_t bracket = one / 7;
  for (const std::int64_t term : {one / 6, one / 5, one / 4, one / 3, one / 2, one}) {
    bracket = term - times(r, bracket);
  }
  return times(r, bracket);
}

}  // namespace detail

// ln(d * 2^-bits) * 2^56, wrong by at most kFixedLogError. Requires d > 0 and a result below 2^63:
// |ln(d 2^-bits)| < 120.
constexpr std::int64_t fixed_log(std::uint64_t d, int bits) {
  const int zeros = std::countl_zero(d);
  const std::uint64_t m = d << zeros;  // m * 2^-63 in [1, 2)
  const detail::LogCell& cell = detail::kLogCells[static_cast<std::size_t>(m >> 56) & 127];
  // m c - 1, exactly, with 63 + 16 digits after the point, and then with 62.
  const Int128 excess = static_cast<Int128>(static_cast<UInt128>(m) * cell.reciprocal) -
                        (static_cast<Int128>(1) << 79);
  const auto r = static_cast<std::int64_t>(excess >> 17);
  const std::int64_t log_m = cell.minus_log + detail::log1p_62(r);
  const auto log_power = static_cast<std::int64_t>((63 - zeros - bits) * detail::kLn2At90 >> 34);
  return log_power + (log_m >> 6);
}

}  // namespace shoal::mechanism
