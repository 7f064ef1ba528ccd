#include "privacy/positive_range.hpp"

#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/interval128.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::privacy {
namespace {

using numeric::Interval128;
using range_detail::kDown;
using range_detail::kTiny;
using range_detail::kUp;
using range_detail::outward;

// ln 2 lies strictly between this double and the next.
constexpr double kLog2Down = 0x1.62e42fefa39efp-1;
constexpr double kLog2Up = 0x1.62e42fefa39f0p-1;

// Below this, two terms of the series of e^-x leave less than 2^-65.
constexpr long double kTwoTerms = 0x1p-32L;
// Below this, four terms of the series of (1 - e^-x) / x leave less than 2^-70.
constexpr long double kFourTerms = 0x1p-16L;
constexpr long double kLargestFixed = 32;
// e^-x is below kTiny from here on.
constexpr long double kVanishes = 11100;

// x in units of 2^-120, for 2^-32 <= x < 32: 64 digits of the mantissa, shifted left.
Interval128 fixed_point(long double x) {
  int exponent = 0;
  const long double scaled_up = std::ldexp(std::frexp(x, &exponent), 64);
  const long double whole = std::floor(scaled_up);
  const auto mantissa = static_cast<UInt128>(whole);
  const int shift = exponent + Interval128::kPrecision - 64;
  return {mantissa << shift, (mantissa + (whole == scaled_up ? 0 : 1)) << shift};
}

PositiveRange from_fixed(UInt128 low, UInt128 high) {
  return outward(std::ldexp(static_cast<long double>(low), -Interval128::kPrecision),
                 std::ldexp(static_cast<long double>(high), -Interval128::kPrecision));
}

PositiveRange exp_minus_at(long double x) {
  if (x == 0) return exactly(1);
  if (!(x < kVanishes)) return {0, kTiny};
  if (x < kTwoTerms) return {(1 - x) * kDown, std::min(1.0L, (1 - x + x * x / 2) * kUp)};
  if (x < kLargestFixed) {
    const Interval128 value = numeric::exp_minus(fixed_point(x));
    return from_fixed(value.low, value.high);
  }
  // Halving is exact; each squaring doubles the relative width.
  const PositiveRange root = exp_minus_at(x / 2);
  return root * root;
}

PositiveRange one_minus_exp_minus_at(long double x) {
  if (x == 0) return {};
  if (x < kFourTerms) {
    // The partial sums of the alternating series bracket the value, and differ by less than a
    // rounding; the product has six roundings, all but two of them far below the leading 1.
    const long double value = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
    return {value * kDown * kDown, value * kUp * kUp};
  }
  if (x < kLargestFixed) {
    const Interval128 value = numeric::exp_minus(fixed_point(x));
    return from_fixed(Interval128::kOne - value.high, Interval128::kOne - value.low);
  }
  const PositiveRange power = exp_minus_at(x);
  return {(1 - power.high) * kDown, std::min(1.0L, (1 - power.low) * kUp)};
}

double double_down(long double x) {
  const auto nearest = static_cast<double>(x);
  return static_cast<long double>(nearest) > x ? numeric::step_down(nearest) : nearest;
}

double double_up(long double x) {
  const auto nearest = static_cast<double>(x);
  return static_cast<long double>(nearest) < x ? numeric::step_up(nearest) : nearest;
}

// n * ln 2, in the direction.
double times_log2_down(double n) { return numeric::multiply_down(n, n >= 0 ? kLog2Down : kLog2Up); }
double times_log2_up(double n) { return numeric::multiply_up(n, n >= 0 ? kLog2Up : kLog2Down); }

double log_down(long double x, std::int64_t exponent) {
  if (x == 0) return -std::numeric_limits<double>::infinity();
  int own = 0;
  const double mantissa = double_down(2 * std::frexp(x, &own));
  // A mantissa in [1, 2) and one exponent: a number near 1 keeps its small logarithm.
  const double n = static_cast<double>(exponent + own - 1);
  if (n == -1) return numeric::log_down(double_down(std::frexp(x, &own)));
  return numeric::add_down(times_log2_down(n), numeric::log_down(mantissa));
}

double log_up(long double x, std::int64_t exponent) {
  if (x == 0) return -std::numeric_limits<double>::infinity();
  int own = 0;
  const double mantissa = double_up(2 * std::frexp(x, &own));
  const double n = static_cast<double>(exponent + own - 1);
  if (n == -1) return numeric::log_up(double_up(std::frexp(x, &own)));
  return numeric::add_up(times_log2_up(n), numeric::log_up(mantissa));
}

// x * 2^exponent, or what the machine has on that side of it.
long double shifted(long double x, std::int64_t exponent) {
  return std::ldexp(x, static_cast<int>(std::clamp<std::int64_t>(exponent, -40000, 40000)));
}

}  // namespace

PositiveRange subtract(const PositiveRange& a, const PositiveRange& b) {
  const long double low = std::max(0.0L, a.low - b.high);
  const long double high = std::max(0.0L, a.high - b.low);
  // Doubles and extended doubles subtract to zero only if they are equal.
  return {low < kTiny ? 0 : low * kDown, high == 0 ? 0 : std::max(kTiny, high * kUp)};
}

PositiveRange intersect(const PositiveRange& a, const PositiveRange& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

PositiveRange exp_minus(const PositiveRange& x) {
  if (x.low == x.high) return exp_minus_at(x.low);
  return {exp_minus_at(x.high).low, exp_minus_at(x.low).high};
}

PositiveRange one_minus_exp_minus(const PositiveRange& x) {
  if (x.low == x.high) return one_minus_exp_minus_at(x.low);
  return {one_minus_exp_minus_at(x.low).low, one_minus_exp_minus_at(x.high).high};
}

Failures repeated(Failures one, std::int64_t n) {
  if (n == 0) return {{}, exactly(1)};
  // Either the first group fails, or it does not and the second does.
  const auto both = [](const Failures& a, const Failures& b) {
    return Failures{a.some + a.none * b.some, a.none * b.none};
  };
  // One trial stays as exact as it was given.
  for (; n % 2 == 0; n /= 2) one = both(one, one);
  Failures result = one;
  for (n /= 2; n > 0; n /= 2) {
    one = both(one, one);
    if (n % 2 == 1) result = both(result, one);
  }
  return result;
}

PositiveRange product_minus(std::int64_t integer, double a, double b) {
  const auto n = static_cast<long double>(integer);
  const long double product = n * a;
  // The error of the product is itself an extended double. The difference is exact if the product
  // and b are close (Sterbenz), and if not, nothing cancels in the sum.
  const long double error = std::fma(n, static_cast<long double>(a), -product);
  const long double difference = (product - b) + error;
  if (!(difference > 0)) return {};
  return outward(difference * kDown, difference * kUp);
}

ScaledRange scaled(const PositiveRange& value) { return {value, 0}; }

ScaledRange scaled_exp(double x) {
  const double n = std::floor(x / kLog2Down);
  // x = n ln 2 + rest: n has at most 53 bits, so the rest is known to about |x| 2^-52.
  const double rest_low = numeric::subtract_down(x, times_log2_up(n));
  const double rest_high = numeric::subtract_up(x, times_log2_down(n));
  return {{numeric::exp_down(rest_low), numeric::exp_up(rest_high)}, static_cast<std::int64_t>(n)};
}

Bounds to_bounds(const PositiveRange& x) { return {double_down(x.low), double_up(x.high)}; }

Bounds to_bounds(const ScaledRange& x) {
  // Shifting may round only below the range of doubles, where one step outwards repairs it.
  const long double low = shifted(x.value.low, x.exponent);
  const long double high = shifted(x.value.high, x.exponent);
  const double smallest = std::numeric_limits<double>::denorm_min();
  return {low < kTiny ? 0 : double_down(low),
          x.value.high == 0 ? 0 : std::max(smallest, double_up(high))};
}

Bounds log_bounds(const ScaledRange& x) {
  return {log_down(x.value.low, x.exponent), log_up(x.value.high, x.exponent)};
}

}  // namespace shoal::privacy
