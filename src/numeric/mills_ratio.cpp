#include <shoal/base/error.hpp>
#include <shoal/numeric/mills_ratio.hpp>

#include <boost/math/quadrature/gauss.hpp>
#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace shoal::numeric {
namespace {

constexpr int kPrecision = kMillsPrecision;

// Below, Mills' ratio comes from a power series, which loses x^2 / 2 nats; above, from a continued
// fraction, which is short there.
constexpr int kSeriesEnd = 8;

Enclosure whole(int value) { return enclose_dyadic(value, 0, kPrecision); }

// x + x^3 / 3 + x^5 / (3 5) + ... = (Phi(x) - 1/2) / phi(x).
Enclosure odd_series(const Enclosure& x) {
  const Enclosure square = multiply(x, x);
  Enclosure term = x;
  Enclosure sum = x;
  for (int divisor = 3;; divisor += 2) {
    term = multiply(term, square);
    term.low /= divisor;
    term.high = term.high / divisor + 1;
    sum = add(sum, term);
    // From here on each term is less than half of the one before, so the rest is less than this
    // one.
    const bool halving = whole(divisor).low > 2 * square.high;
    if (halving && term.high <= 2) break;
  }
  sum.high += term.high + 1;
  return sum;
}

}  // namespace

const Enclosure& root_of_two_pi_inverse() {
  // A lower bound, and the next number of this precision.
  static const BigInt low(
      "0x662114cf50d942343f2cf1402eae38bfd3829f30512706d8c0471b4802639d2e9df8ac55447d3db7");
  static const Enclosure value{low, low + 1, kPrecision};
  return value;
}

Enclosure mills_ratio(const Enclosure& x) {
  if (x.precision != kPrecision) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a precision of {}; Mills' ratio takes {}", x.precision, kPrecision));
  }
  if (x.high < whole(kSeriesEnd).low) {
    // Phi(-x) = 1/2 - (Phi(x) - 1/2), divided by phi(x) = e^(-x^2 / 2) / sqrt(2 pi).
    const Enclosure square = multiply(x, x);
    const Enclosure half_square{square.low >> 1, (square.high + 1) >> 1, kPrecision};
    const Enclosure twice_height =
        multiply(multiply(exp_minus(half_square), root_of_two_pi_inverse()), BigInt(2));
    return subtract(divide(whole(1), twice_height), odd_series(x));
  }
  // M(x) = 1 / (x + 1 / (x + 2 / (x + 3 / ...))), every denominator at least x. The fraction's tail
  // at this depth matters by less than 2^-250.
  constexpr int kDepth = 192;
  Enclosure tail{x.low, add(x, divide(whole(kDepth), x)).high, kPrecision};
  for (int k = kDepth - 1; k >= 1; --k) tail = add(x, divide(whole(k), tail));
  return divide(whole(1), tail);
}

double mills_ratio(double x) {
  constexpr double kSeriesReach = 6;
  if (x < kSeriesReach) {
    return std::sqrt(std::numbers::pi / 2) * std::exp(x * x / 2) *
           std::erfc(x / std::numbers::sqrt2);
  }
  double tail = x;
  for (int k = 60; k >= 1; --k) tail = x + k / tail;
  return 1 / tail;
}

double log_normal_cell(double centre, double half_width) {
  const double log_root = 0.5 * std::log(2 * std::numbers::pi);
  const double tilt = 2 * centre * half_width;
  if (tilt < 1) {
    // phi(centre) times the integral of e^(-centre t - t^2 / 2) over the cell, folded at its
    // middle: nothing cancels.
    const auto folded = [centre](double t) { return std::cosh(centre * t) * std::exp(-t * t / 2); };
    const double mass =
        2 * boost::math::quadrature::gauss<double, 15>::integrate(folded, 0.0, half_width);
    return -centre * centre / 2 - log_root + std::log(mass);
  }
  const double near = centre - half_width;
  const double mass = mills_ratio(near) - std::exp(-tilt) * mills_ratio(centre + half_width);
  return -near * near / 2 - log_root + std::log(mass);
}

}  // namespace shoal::numeric
