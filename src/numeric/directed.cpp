#include <shoal/numeric/directed.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace shoal::numeric {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// At and above this size the rounding error of a product, of a quotient's remainder and of a root's
// remainder is a double: it has at most 53 bits, 2^-106 below the size, and doubles reach to
// 2^-1074.
constexpr double kErrorIsExact = 0x1p-960;

// A rounded result and where the exact one lies from it.
struct Rounded {
  double value;
  int side;         // sign of exact - value; 0 if they are equal
  bool side_known;  // false: the exact result may lie on either side, within one step
};

int sign_of(double x) { return (x > 0) - (x < 0); }

double up(const Rounded& result) {
  if (!result.side_known || result.side > 0) return step_up(result.value);
  return result.value;
}

double down(const Rounded& result) {
  if (!result.side_known || result.side < 0) return step_down(result.value);
  return result.value;
}

// An overflow of finite operands: the exact result lies between the largest double and infinity.
// Stepping from infinity towards zero gives the largest double.
Rounded overflowed(double value) { return {value, value > 0 ? -1 : 1, true}; }

Rounded exactly(double value) { return {value, 0, true}; }

Rounded add(double a, double b) {
  if (std::fabs(a) < std::fabs(b)) std::swap(a, b);
  const double sum = a + b;
  if (!std::isfinite(a) || !std::isfinite(b)) return exactly(sum);
  if (std::isinf(sum)) return overflowed(sum);
  // Dekker's fast two-sum: exact for |a| >= |b|, with gradual underflow and without overflow
  // inside.
  const double error = b - (sum - a);
  return {sum, sign_of(error), true};
}

Rounded multiply(double a, double b) {
  const double product = a * b;
  if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0) return exactly(product);
  if (std::isinf(product)) return overflowed(product);
  const double error = std::fma(a, b, -product);
  // A rounded error keeps its sign unless it became zero.
  return {product, sign_of(error), error != 0 || std::fabs(product) >= kErrorIsExact};
}

Rounded divide(double a, double b) {
  const double quotient = a / b;
  if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0) return exactly(quotient);
  if (std::isinf(quotient)) return overflowed(quotient);
  const double remainder = std::fma(-quotient, b, a);
  const bool exact = std::fabs(a) >= kErrorIsExact && std::fabs(quotient) >= kErrorIsExact;
  return {quotient, sign_of(remainder) * sign_of(b), remainder != 0 || exact};
}

Rounded square_root(double x) {
  if (!(x > 0) || std::isinf(x)) return exactly(std::sqrt(x));
  if (x < kErrorIsExact) {
    // Scaling by even powers of two is exact, there and back: a root is never subnormal.
    Rounded scaled = square_root(x * 0x1p200);
    scaled.value *= 0x1p-100;
    return scaled;
  }
  const double root = std::sqrt(x);
  return {root, sign_of(std::fma(-root, root, x)), true};
}

// A libm result widened, kept within the function's range and exact where the function is.
double widen_up(double x, double value, double low, double high, int steps) {
  if (std::isnan(value) || std::isinf(x) || std::isinf(value)) return value;
  return std::clamp(step_up(value, steps), low, high);
}

double widen_down(double x, double value, double low, double high, int steps) {
  if (std::isnan(value)) return value;
  // A finite argument whose result overflows: the near side is a finite number, some steps below.
  if (std::isinf(value) && value > 0 && std::isfinite(x)) return step_down(value, steps + 1);
  if (std::isinf(x) || std::isinf(value)) return value;
  return std::clamp(step_down(value, steps), low, high);
}

// Doubles in order as integers: neighbours differ by one, and both zeros are 0.
std::int64_t ordinal(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}

double from_ordinal(std::int64_t n) {
  return std::bit_cast<double>(n >= 0 ? n : std::numeric_limits<std::int64_t>::min() - n);
}

}  // namespace

double step_up(double x, int steps) {
  if (std::isnan(x)) return x;
  return from_ordinal(std::min(ordinal(x) + steps, ordinal(kInfinity)));
}

double step_down(double x, int steps) {
  if (std::isnan(x)) return x;
  return from_ordinal(std::max(ordinal(x) - steps, ordinal(-kInfinity)));
}

double add_up(double a, double b) { return up(add(a, b)); }
double add_down(double a, double b) { return down(add(a, b)); }
double subtract_up(double a, double b) { return up(add(a, -b)); }
double subtract_down(double a, double b) { return down(add(a, -b)); }
double multiply_up(double a, double b) { return up(multiply(a, b)); }
double multiply_down(double a, double b) { return down(multiply(a, b)); }
double divide_up(double a, double b) { return up(divide(a, b)); }
double divide_down(double a, double b) { return down(divide(a, b)); }
double sqrt_up(double x) { return up(square_root(x)); }
double sqrt_down(double x) { return down(square_root(x)); }

double exp_up(double x) { return x == 0 ? 1 : widen_up(x, std::exp(x), 0, kInfinity, kLibmSteps); }
double exp_down(double x) {
  return x == 0 ? 1 : widen_down(x, std::exp(x), 0, kInfinity, kLibmSteps);
}
double expm1_up(double x) {
  return x == 0 ? x : widen_up(x, std::expm1(x), -1, kInfinity, kLibmSteps);
}
double expm1_down(double x) {
  return x == 0 ? x : widen_down(x, std::expm1(x), -1, kInfinity, kLibmSteps);
}
double log_up(double x) {
  return x == 1 ? 0 : widen_up(x, std::log(x), -kInfinity, kInfinity, kLibmSteps);
}
double log_down(double x) {
  return x == 1 ? 0 : widen_down(x, std::log(x), -kInfinity, kInfinity, kLibmSteps);
}
double log1p_up(double x) {
  return x == 0 ? x : widen_up(x, std::log1p(x), -kInfinity, kInfinity, kLibmSteps);
}
double log1p_down(double x) {
  return x == 0 ? x : widen_down(x, std::log1p(x), -kInfinity, kInfinity, kLibmSteps);
}
double tanh_up(double x) { return x == 0 ? x : widen_up(x, std::tanh(x), -1, 1, kLibmSteps); }
double tanh_down(double x) { return x == 0 ? x : widen_down(x, std::tanh(x), -1, 1, kLibmSteps); }
double erfc_up(double x) { return x == 0 ? 1 : widen_up(x, std::erfc(x), 0, 2, kErfcSteps); }
double erfc_down(double x) { return x == 0 ? 1 : widen_down(x, std::erfc(x), 0, 2, kErfcSteps); }

}  // namespace shoal::numeric
