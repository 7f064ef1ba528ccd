#include "plan/row_interval.hpp"

#include <shoal/numeric/directed.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::plan {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An infinite end stands for "any large number", so its product with zero is zero.
double product(double a, double b, double (*multiply)(double, double)) {
  return a == 0 || b == 0 ? 0.0 : multiply(a, b);
}

// The libm result moved outward; pow is not among the directed functions, and glibc states 1 unit.
double widened_power(double base, double exponent, bool up) {
  const double value = std::pow(base, exponent);
  if (std::isnan(value)) return up ? kInfinity : -kInfinity;
  return up ? numeric::step_up(value, numeric::kLibmSteps)
            : std::max(0.0, numeric::step_down(value, numeric::kLibmSteps));
}

}  // namespace

bool Interval::is_finite() const { return std::isfinite(lower) && std::isfinite(upper); }

bool Interval::is_everything() const { return lower == -kInfinity && upper == kInfinity; }

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
}

Interval add(const Interval& a, const Interval& b) {
  return {numeric::add_down(a.lower, b.lower), numeric::add_up(a.upper, b.upper)};
}

Interval subtract(const Interval& a, const Interval& b) { return add(a, negate(b)); }

Interval multiply(const Interval& a, const Interval& b) {
  Interval result{kInfinity, -kInfinity};
  for (const double x : {a.lower, a.upper}) {
    for (const double y : {b.lower, b.upper}) {
      result.lower = std::min(result.lower, product(x, y, numeric::multiply_down));
      result.upper = std::max(result.upper, product(x, y, numeric::multiply_up));
    }
  }
  return result;
}

Interval divide(const Interval& a, const Interval& b) {
  if (b.contains(0)) return {};
  const Interval inverse{numeric::divide_down(1, b.upper), numeric::divide_up(1, b.lower)};
  if (!a.is_finite() || !b.is_finite()) return multiply(a, inverse);
  Interval result{kInfinity, -kInfinity};
  for (const double x : {a.lower, a.upper}) {
    for (const double y : {b.lower, b.upper}) {
      result.lower = std::min(result.lower, numeric::divide_down(x, y));
      result.upper = std::max(result.upper, numeric::divide_up(x, y));
    }
  }
  return result;
}

Interval modulo(const Interval& a, const Interval& b) {
  if (b.contains(0)) return {};
  const double size = std::max(std::fabs(b.lower), std::fabs(b.upper));
  // Where nothing wraps around, the operand itself.
  const double smallest = std::min(std::fabs(b.lower), std::fabs(b.upper));
  if (a.lower > -smallest && a.upper < smallest) return a;
  return {a.lower >= 0 ? 0 : -std::min(size, -a.lower), a.upper <= 0 ? 0 : std::min(size, a.upper)};
}

Interval negate(const Interval& a) { return {-a.upper, -a.lower}; }

Interval absolute(const Interval& a) {
  if (a.lower >= 0) return a;
  if (a.upper <= 0) return negate(a);
  return {0, std::max(-a.lower, a.upper)};
}

Interval greatest(const Interval& a, const Interval& b) {
  return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
}

Interval least(const Interval& a, const Interval& b) {
  return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)};
}

Interval square_root(const Interval& a) {
  if (a.lower < 0) return {};
  return {numeric::sqrt_down(a.lower),
          a.upper == kInfinity ? kInfinity : numeric::sqrt_up(a.upper)};
}

Interval natural_log(const Interval& a) {
  if (a.lower <= 0) return {};
  return {numeric::log_down(a.lower), a.upper == kInfinity ? kInfinity : numeric::log_up(a.upper)};
}

Interval log_base(const Interval& a, double base) {
  const Interval divisor{numeric::log_down(base), numeric::log_up(base)};
  return divide(natural_log(a), divisor);
}

Interval exponential(const Interval& a) {
  const double lower = a.lower == -kInfinity ? 0 : numeric::exp_down(a.lower);
  const double upper = a.upper == kInfinity ? kInfinity : numeric::exp_up(a.upper);
  return upper == kInfinity ? Interval{} : Interval{lower, upper};
}

// For positive bases the power is monotone in each operand, so its extremes are at the corners.
// Whole powers of any base: even ones through the absolute value.
Interval power(const Interval& base, const Interval& exponent) {
  const bool fixed = exponent.lower == exponent.upper && std::isfinite(exponent.lower);
  if (base.lower < 0) {
    const double n = exponent.lower;
    if (!fixed || n < 1 || std::trunc(n) != n) return {};
    const bool even = std::fmod(n, 2) == 0;
    if (even) return power(absolute(base), exponent);
    const Interval positive = power({0, std::max(0.0, base.upper)}, exponent);
    const Interval negative =
        negate(power(absolute({base.lower, std::min(0.0, base.upper)}), exponent));
    return {negative.lower, base.upper <= 0 ? negative.upper : positive.upper};
  }
  if (base.lower == 0 && exponent.lower < 0) return {};
  Interval result{kInfinity, -kInfinity};
  for (const double x : {base.lower, base.upper}) {
    for (const double y : {exponent.lower, exponent.upper}) {
      result.lower = std::min(result.lower, widened_power(x, y, false));
      result.upper = std::max(result.upper, widened_power(x, y, true));
    }
  }
  return result;
}

}  // namespace shoal::plan
