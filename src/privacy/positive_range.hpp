// A non-negative real number between two extended doubles, for long sums of positive terms: the
// inner loops of closed-form accounting, where directed doubles would be too wide and exact
// integers too slow.
//
// Invariant: low <= the number <= high, after every operation. Each operation is done in ordinary
// rounding and then moved outwards by 2 units in the last place, which covers its one rounding and
// that of the move; results near underflow become [0, a tiny number]. There is no cancellation
// except in `subtract`, so widths stay relative: a chain of n operations is wide by about n 2^-61.
//
// The exponent range of `long double` is part of the contract (e^-1000 and its powers must not
// underflow), its precision is not: with fewer digits the ranges are wider, and still right.
#pragma once

#include <shoal/privacy/profile.hpp>

#include <cstdint>
#include <limits>

namespace shoal::privacy {

struct PositiveRange {
  long double low = 0;
  long double high = 0;
};

namespace range_detail {

using Limits = std::numeric_limits<long double>;
static_assert(Limits::max_exponent >= 16384,
              "closed-form accounting needs the range of x87 or "
              "binary128 extended doubles");

// A factor of this size outwards covers up to three roundings, its own included: each rounding is
// at most half of epsilon.
inline constexpr long double kUp = 1 + 2 * Limits::epsilon();
inline constexpr long double kDown = 1 - 2 * Limits::epsilon();
// Below this, relative errors mean nothing. Products of two numbers above its square root are safe.
inline constexpr long double kTiny = 0x1p-16000L;

inline PositiveRange outward(long double low, long double high) {
  return {low < kTiny ? 0 : low * kDown, high < kTiny ? kTiny : high * kUp};
}

}  // namespace range_detail

inline PositiveRange exactly(long double value) { return {value, value}; }

inline PositiveRange operator+(const PositiveRange& a, const PositiveRange& b) {
  if (b.high == 0) return a;
  if (a.high == 0) return b;
  return range_detail::outward(a.low + b.low, a.high + b.high);
}

inline PositiveRange operator*(const PositiveRange& a, const PositiveRange& b) {
  if (a.high == 0 || b.high == 0) return {};
  return range_detail::outward(a.low * b.low, a.high * b.high);
}

// b must not reach zero: the upper end is infinite where b.low is 0.
inline PositiveRange operator/(const PositiveRange& a, const PositiveRange& b) {
  if (a.high == 0) return {};
  if (b.low == 0) {
    return {range_detail::outward(a.low / b.high, 1).low, range_detail::Limits::infinity()};
  }
  return range_detail::outward(a.low / b.high, a.high / b.low);
}

// a - b where a >= b is known: the lower end stops at zero.
PositiveRange subtract(const PositiveRange& a, const PositiveRange& b);

// The part of both, for two ranges that hold the same number.
PositiveRange intersect(const PositiveRange& a, const PositiveRange& b);

// e^-x and 1 - e^-x, the second without cancellation: integer arithmetic (numeric/interval128) in
// between, within a few units of the last place up to x = 32 and of 2^-53 beyond.
PositiveRange exp_minus(const PositiveRange& x);
PositiveRange one_minus_exp_minus(const PositiveRange& x);

// The chance that at least one of n independent trials fails, and that none does.
struct Failures {
  PositiveRange some;
  PositiveRange none;
};

// For one trial given, n of them: nothing is subtracted. n >= 0.
Failures repeated(Failures one, std::int64_t n);

// integer * a - b for doubles a and b, exact but for one relative rounding of the result, however
// close the two are. Must not be negative: what is, becomes zero.
PositiveRange product_minus(std::int64_t integer, double a, double b);

// value * 2^exponent: for numbers beyond the exponents of any machine type.
struct ScaledRange {
  PositiveRange value;
  std::int64_t exponent = 0;
};

ScaledRange scaled(const PositiveRange& value);
// e^x, for any finite x.
ScaledRange scaled_exp(double x);

// As doubles, rounded outwards. Numbers too small for a double have the lower bound 0.
Bounds to_bounds(const PositiveRange& x);
Bounds to_bounds(const ScaledRange& x);
// The natural logarithm; -infinity for 0.
Bounds log_bounds(const ScaledRange& x);

}  // namespace shoal::privacy
