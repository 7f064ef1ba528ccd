#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/conversion.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::privacy {
namespace {

using namespace numeric;  // directed arithmetic reads better bare

// The bound at Renyi order 1 + c, not rounded in any direction: for the search only.
double bound_near(double rho, double log_inverse_delta, double c) {
  return rho * (1 + c) + (log_inverse_delta - std::log1p(c)) / c - std::log1p(1 / c);
}

// The same, every operation rounded up: rho a + (ln(1/delta) - ln a) / (a - 1) + ln(1 - 1/a), a = 1
// + c. Valid at any c > 0, so the search need not be exact.
double bound_up(double rho, double delta, double c) {
  const double log_inverse_delta = -log_down(delta);
  const double numerator = subtract_up(log_inverse_delta, log1p_down(c));
  const double fraction = numerator >= 0 ? divide_up(numerator, c) : -divide_down(-numerator, c);
  // ln(1 - 1/a) = -ln(1 + 1/c).
  const double tail = -log1p_down(divide_down(1, c));
  // The order that is meant is exactly 1 + c; rho * (1 + c) is rounded up as a sum.
  const double renyi = multiply_up(rho, add_up(1, c));
  return add_up(add_up(renyi, fraction), tail);
}

double best_order(double rho, double log_inverse_delta) {
  // The bound is unimodal in ln c; golden-section search over a range that covers every case.
  double low = std::log(1e-8);
  double high = std::log(1e18);
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double left = high - ratio * (high - low);
  double right = low + ratio * (high - low);
  double at_left = bound_near(rho, log_inverse_delta, std::exp(left));
  double at_right = bound_near(rho, log_inverse_delta, std::exp(right));
  for (int step = 0; step < 120; ++step) {
    if (at_left < at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - ratio * (high - low);
      at_left = bound_near(rho, log_inverse_delta, std::exp(left));
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + ratio * (high - low);
      at_right = bound_near(rho, log_inverse_delta, std::exp(right));
    }
  }
  return std::exp((low + high) / 2);
}

// The largest number at which `fits` was seen to hold; 0 if none. It holds up to some point.
template <class Fits>
double largest(double guess, double most, const Fits& fits) {
  double low = 0;
  double high = guess;
  while (high < most && fits(high)) {
    low = high;
    high *= 2;
  }
  for (int step = 0; step < 200; ++step) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

double epsilon_of_rho_up(Rho rho, Delta delta) {
  if (rho.value() == 0) return 0;
  if (delta.value() == 0) return std::numeric_limits<double>::infinity();
  const double order = best_order(rho.value(), -std::log(delta.value()));
  return std::max(0.0, bound_up(rho.value(), delta.value(), order));
}

Rho rho_within(Epsilon epsilon, Delta delta) {
  if (delta.value() == 0) return Rho(0);
  return Rho(largest(
      1, 1e6, [&](double rho) { return epsilon_of_rho_up(Rho(rho), delta) <= epsilon.value(); }));
}

double mu_within(Epsilon epsilon, Delta delta) {
  if (delta.value() == 0) return 0;
  return largest(1, 1e3, [&](double mu) {
    const std::int64_t units = half_square_ratio_units_up(mu, 1, kRhoDecimals);
    const double charged = sqrt_up(multiply_up(2, from_units_up(units, kRhoDecimals)));
    return gaussian_delta_up(1, charged, epsilon.value()) <= delta.value();
  });
}

}  // namespace shoal::privacy
