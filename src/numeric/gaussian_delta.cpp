#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/enclosure.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/numeric/mills_ratio.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace shoal::numeric {
namespace {

constexpr int kPrecision = kMillsPrecision;

// 1 / sqrt(2 pi) lies strictly below this double and strictly above the one before.
constexpr double kRootOfTwoPiInverseUp = 0x1.9884533d43651p-2;

// Beyond this |u| delta is below e^-800 or above 1 - 2 e^-800: out of the reach of doubles.
constexpr double kFarthest = 40;

// The exact value of a finite non-negative double: mantissa * 2^exponent.
struct Dyadic {
  BigInt mantissa;
  int exponent;
};

Dyadic exact(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return {BigInt(static_cast<std::int64_t>(std::ldexp(fraction, 53))), exponent - 53};
}

Dyadic multiply(const Dyadic& a, const Dyadic& b) {
  return {a.mantissa * b.mantissa, a.exponent + b.exponent};
}

// The mantissas of both numbers at the smaller of their exponents.
std::pair<BigInt, BigInt> aligned(const Dyadic& a, const Dyadic& b) {
  const int exponent = std::min(a.exponent, b.exponent);
  return {a.mantissa << (a.exponent - exponent), b.mantissa << (b.exponent - exponent)};
}

// u and v of the header, where u has a sign of its own.
struct Thresholds {
  bool negative;
  Enclosure u;  // its magnitude
  Enclosure v;
};

// u = (2 epsilon sigma^2 - D^2) / (2 sigma D), and v with a plus: numerators and denominator are
// exact.
Thresholds thresholds(double sigma, double sensitivity, double epsilon) {
  const Dyadic s = exact(sigma);
  const Dyadic d = exact(sensitivity);
  Dyadic loss = multiply(exact(epsilon), multiply(s, s));
  loss.exponent += 1;
  const Dyadic square = multiply(d, d);
  Dyadic divisor = multiply(s, d);
  divisor.exponent += 1;
  const auto [loss_part, square_part] = aligned(loss, square);
  const int exponent = std::min(loss.exponent, square.exponent);
  const bool negative = loss_part < square_part;
  const auto ratio = [&](const BigInt& numerator) {
    const auto [top, bottom] = aligned({numerator, exponent}, divisor);
    return enclose_ratio(top, bottom, kPrecision);
  };
  return {negative,
          ratio(negative ? BigInt(square_part - loss_part) : BigInt(loss_part - square_part)),
          ratio(loss_part + square_part)};
}

// value * 2^-precision as a double, rounded down or up.
double rounded(const BigInt& value, int precision, bool up) {
  if (value == 0) return 0;
  const int shift = std::max(static_cast<int>(msb(value)) - 52, 0);
  BigInt mantissa = value >> shift;
  if (up && (mantissa << shift) != value) ++mantissa;
  const double result =
      std::ldexp(static_cast<double>(mantissa.convert_to<std::int64_t>()), shift - precision);
  // Subnormal: ldexp itself rounds.
  if (result >= std::numeric_limits<double>::min()) return result;
  return up ? step_up(result) : std::max(step_down(result), 0.0);
}

// e^(-u^2 / 2), with as many digits behind its leading one as u has.
Enclosure bell(const Enclosure& u) {
  const Enclosure square = numeric::multiply(u, u);
  const double nats = rounded(square.high, kPrecision, true) / 2;
  const int extra = static_cast<int>(nats * 1.5) + 2;
  // One place less than the shift: half of the square. The two ends apart: the width of an argument
  // would be added as it is, where the power is much smaller than one.
  const BigInt low = square.low << (extra - 1);
  const BigInt high = square.high << (extra - 1);
  const int precision = kPrecision + extra;
  return {exp_minus({high, high, precision}).low, exp_minus({low, low, precision}).high, precision};
}

struct Bounds {
  double down;
  double up;
};

Bounds bounds_of(double sigma, double sensitivity, double epsilon) {
  if (!(sigma > 0 && sensitivity >= 0 && epsilon >= 0 && std::isfinite(sigma) &&
        std::isfinite(sensitivity) && std::isfinite(epsilon))) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("sigma {}, sensitivity {}, epsilon {}; they must be finite, sigma above "
                    "0 and the others not negative",
                    sigma, sensitivity, epsilon));
  }
  if (sensitivity == 0) return {0, 0};
  const double smallest = std::numeric_limits<double>::denorm_min();
  const double ratio_down = divide_down(sensitivity, sigma);
  const double ratio_up = divide_up(sensitivity, sigma);
  // First from afar, so that no exponent below gets out of hand. delta <= Phi(-u) and, for u < 0,
  // delta >= 1 - Phi(u) - phi(u) M(v), where M(v) < 1 / v < 1.
  if (ratio_up == 0 || subtract_down(divide_down(epsilon, ratio_up), ratio_up / 2) > kFarthest) {
    return {0, smallest};
  }
  if (subtract_up(divide_up(epsilon, ratio_down), ratio_down / 2) < -kFarthest) {
    return {step_down(1), 1};
  }
  const Thresholds at = thresholds(sigma, sensitivity, epsilon);
  const Enclosure at_u = mills_ratio(at.u);
  const Enclosure at_v = mills_ratio(at.v);
  const Enclosure factor = at.negative ? add(at_u, at_v) : subtract(at_u, at_v);
  const Enclosure height = bell(at.u);
  const Enclosure& root = root_of_two_pi_inverse();
  const int precision = height.precision + 2 * kPrecision;
  const BigInt low = height.low * factor.low * root.low;
  const BigInt high = height.high * factor.high * root.high;
  // And delta is at most its value without epsilon, 1 - 2 Phi(-m / 2) <= m / sqrt(2 pi), which says
  // more than a difference of ratios that agree in all digits.
  const double without_epsilon = multiply_up(ratio_up, kRootOfTwoPiInverseUp);
  if (!at.negative) {
    return {rounded(low, precision, false),
            std::min({rounded(high, precision, true), without_epsilon, 1.0})};
  }
  const BigInt one = BigInt(1) << precision;
  return {high < one ? rounded(one - high, precision, false) : 0,
          std::min(rounded(one - low, precision, true), without_epsilon)};
}

}  // namespace

double gaussian_delta_up(double sigma, double sensitivity, double epsilon) {
  return bounds_of(sigma, sensitivity, epsilon).up;
}

double gaussian_delta_down(double sigma, double sensitivity, double epsilon) {
  return bounds_of(sigma, sensitivity, epsilon).down;
}

}  // namespace shoal::numeric
