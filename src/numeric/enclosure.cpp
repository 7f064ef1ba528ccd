#include <shoal/base/error.hpp>
#include <shoal/numeric/enclosure.hpp>

#include <fmt/format.h>

namespace shoal::numeric {
namespace {

[[noreturn]] void refuse(std::string_view what) {
  throw Error(ErrorCode::invalid_argument, fmt::format("enclosure: {}", what));
}

void check_same(const Enclosure& a, const Enclosure& b) {
  if (a.precision != b.precision) {
    refuse(fmt::format("precisions {} and {} differ; use one for both", a.precision, b.precision));
  }
}

// Shifts right, rounded up.
BigInt shift_up(const BigInt& value, int bits) {
  return (value + ((BigInt(1) << bits) - 1)) >> bits;
}

BigInt divide_up(const BigInt& a, const BigInt& b) { return (a + (b - 1)) / b; }

// e^-y for y = value * 2^-bits below 2^-7, in units of 2^-bits. The terms of the alternating series
// shrink, so the first one left out bounds what is left out. Each term is rounded down and carries
// less than two units of error, because the error of the one before is shrunk by y.
Enclosure small_exp_minus(const BigInt& value, int bits) {
  const BigInt one = BigInt(1) << bits;
  BigInt term = one;
  BigInt sum = one;
  unsigned index = 0;
  while (term != 0) {
    ++index;
    term = ((term * value) >> bits) / index;
    if (index % 2 == 1) {
      sum -= term;
    } else {
      sum += term;
    }
  }
  const BigInt error = 2 * BigInt(index) + 2;
  return {sum > error ? BigInt(sum - error) : BigInt(0), sum + error, bits};
}

}  // namespace

Enclosure enclose_dyadic(const BigInt& value, int bits, int precision) {
  if (value < 0 || bits > precision) refuse("the number does not fit the precision");
  const BigInt scaled = value << (precision - bits);
  return {scaled, scaled, precision};
}

Enclosure enclose_ratio(const BigInt& numerator, const BigInt& denominator, int precision) {
  if (numerator < 0 || denominator <= 0) refuse("a ratio needs a positive denominator");
  const BigInt scaled = numerator << precision;
  return {scaled / denominator, divide_up(scaled, denominator), precision};
}

Enclosure add(const Enclosure& a, const Enclosure& b) {
  check_same(a, b);
  return {a.low + b.low, a.high + b.high, a.precision};
}

Enclosure subtract(const Enclosure& a, const Enclosure& b) {
  check_same(a, b);
  const auto floored = [](const BigInt& x, const BigInt& y) {
    return x > y ? BigInt(x - y) : BigInt(0);
  };
  return {floored(a.low, b.high), floored(a.high, b.low), a.precision};
}

Enclosure multiply(const Enclosure& a, const Enclosure& b) {
  check_same(a, b);
  return {(a.low * b.low) >> a.precision, shift_up(a.high * b.high, a.precision), a.precision};
}

Enclosure multiply(const Enclosure& a, const BigInt& factor) {
  if (factor < 0) refuse("a factor must not be negative");
  return {a.low * factor, a.high * factor, a.precision};
}

Enclosure divide(const Enclosure& a, const Enclosure& b) {
  check_same(a, b);
  if (b.low == 0) refuse("the divisor may be zero; use a larger precision");
  return {(a.low << a.precision) / b.high, divide_up(a.high << a.precision, b.low), a.precision};
}

Enclosure square_root(const Enclosure& a) {
  const BigInt low = boost::multiprecision::sqrt(BigInt(a.low << a.precision));
  const BigInt radicand = a.high << a.precision;
  BigInt high = boost::multiprecision::sqrt(radicand);
  if (high * high < radicand) ++high;
  return {low, high, a.precision};
}

// Halves the argument until the series is short, then squares as often. Squaring doubles an error,
// which the guard bits pay for. The slope of e^-x is at most one, so the width of x is added to the
// upper end.
Enclosure exp_minus(const Enclosure& x) {
  const int precision = x.precision;
  const BigInt one = BigInt(1) << precision;
  if (x.low >= one * precision) return {0, 1, precision};  // e^-p < 2^-p
  if (x.high == 0) return {one, one, precision};
  const int length = static_cast<int>(msb(x.high)) + 1 - precision;  // x < 2^length
  const int halvings = length > -8 ? length + 8 : 0;
  const int bits = precision + halvings + 16;
  // (x * 2^(halvings + 16)) / 2^halvings, so the halved argument is exact at `bits`.
  Enclosure power = small_exp_minus(x.high << 16, bits);
  for (int i = 0; i < halvings; ++i) power = multiply(power, power);
  const int drop = bits - precision;
  BigInt high = shift_up(power.high, drop) + (x.high - x.low);
  if (high > one) high = one;
  return {power.low >> drop, high, precision};
}

}  // namespace shoal::numeric
