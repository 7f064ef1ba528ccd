#include "mechanism/noise_spec.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/norm_noise.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/random/norm_noise.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shoal::mechanism {
namespace {

double epsilon_up(const NormNoise& spec, double l2_sensitivity) {
  return numeric::decimal_at_least(numeric::divide_up(l2_sensitivity, spec.scale));
}

// log(n!), rounded down.
double log_factorial_down(std::int64_t n) {
  double sum = 0;
  for (std::int64_t k = 2; k <= n; ++k) {
    sum = numeric::add_down(sum, numeric::log_down(static_cast<double>(k)));
  }
  return sum;
}

// P(G > r) for G, a sum of `count` exponentials, and r >= count, rounded up: the chance
// e^-r sum_{k < count} r^k / k! that a Poisson process of rate one has fewer than `count` points up
// to r. The largest term is the last; it goes through logarithms, the others are its multiples.
double gamma_tail_up(std::int64_t count, double r, double log_factorial) {
  const auto powers = static_cast<double>(count - 1);
  const double log_last = numeric::subtract_up(
      numeric::subtract_up(numeric::multiply_up(powers, numeric::log_up(r)), log_factorial), r);
  double sum = 0;
  double term = 1;
  for (std::int64_t k = count - 1; k >= 0 && term > 0x1p-60; --k) {
    sum = numeric::add_up(sum, term);
    term = numeric::multiply_up(term, numeric::divide_up(static_cast<double>(k), r));
  }
  // The terms left out are fewer than `count` and none is above the last.
  sum = numeric::add_up(sum, numeric::multiply_up(term, static_cast<double>(count)));
  return std::min(numeric::multiply_up(numeric::exp_up(log_last), sum), 1.0);
}

// Near the r with P(G > r) = tail (Wilson and Hilferty's normal approximation, a rough quantile).
double rough_gamma_quantile(std::int64_t count, double tail) {
  const auto shape = static_cast<double>(count);
  const double log_tail = -std::log(tail);
  const double z = std::sqrt(2 * log_tail);
  const double cube = 1 - 1 / (9 * shape) + z / (3 * std::sqrt(shape));
  return std::max(shape * cube * cube * cube, shape);
}

// An r >= count with P(G > r) <= tail, above the smallest such by about one part in 10^9.
double gamma_quantile_up(std::int64_t count, double tail) {
  const double log_factorial = log_factorial_down(count - 1);
  const auto enough = [&](double r) { return gamma_tail_up(count, r, log_factorial) <= tail; };
  double low = static_cast<double>(count);
  if (enough(low)) return low;
  double high = rough_gamma_quantile(count, tail);
  while (!enough(high)) high *= 1.25;
  while (high - low > 1e-9 * high) {
    const double middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

// P(|b_i| > w) for scale 1, rounded up. A coordinate has the moment generating function
// (1 - t^2)^(-(d + 1) / 2), so the chance is at most 2 e^(-t w) (1 - t^2)^(-(d + 1) / 2) at any t
// in (0, 1); the best t is a root of a quadratic, and any double near it will do.
double coordinate_tail_up(std::int64_t dimension, double w) {
  if (dimension == 1) return numeric::exp_up(-w);
  const auto order = static_cast<double>(dimension + 1);
  const double t = std::min(2 * w / (order + std::sqrt(order * order + 4 * w * w)), 1 - 0x1p-40);
  const double rest_down = numeric::subtract_down(1, numeric::multiply_up(t, t));
  const double log_power_up = numeric::multiply_up(order / 2, -numeric::log_down(rest_down));
  const double exponent_up = numeric::subtract_up(log_power_up, numeric::multiply_down(t, w));
  return std::min(2 * numeric::exp_up(exponent_up), 1.0);
}

Int128 coordinate_width(const NormNoise& spec, double tail) {
  double high = 1;
  while (coordinate_tail_up(spec.dimension, high) > tail) high *= 2;
  double low = 0;
  while (high - low > 1e-9 * high) {
    const double middle = low + (high - low) / 2;
    (coordinate_tail_up(spec.dimension, middle) <= tail ? high : low) = middle;
  }
  // |b| <= x implies |round(b)| <= ceil(x - 1/2).
  const double width = std::ceil(numeric::subtract_up(numeric::multiply_up(spec.scale, high), 0.5));
  return std::max<Int128>(static_cast<Int128>(width), 0);
}

void require_sensitivity(double l2_sensitivity, bool positive) {
  const bool in_range = positive ? l2_sensitivity > 0 : l2_sensitivity >= 0;
  if (in_range && std::isfinite(l2_sensitivity)) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the L2 sensitivity is {}; it must be finite and {}", l2_sensitivity,
                          positive ? "above 0" : "not negative"));
}

}  // namespace

void validate(const NormNoise& spec) { random::check_norm_noise(spec.scale, spec.dimension); }

std::vector<Int128> sample(const NormNoise& spec, random::BitSource& bits) {
  return random::sample_norm_noise(spec.scale, spec.dimension, bits);
}

// The integral of e^(-|b| / s) is the sphere's surface, 2 pi^(d/2) / Gamma(d/2), times s^d
// Gamma(d).
double log_density(const NormNoise& spec, std::span<const double> b) {
  validate(spec);
  if (std::ssize(b) != spec.dimension) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a vector of {} coordinates for noise of dimension {}", b.size(),
                            spec.dimension));
  }
  double norm = 0;
  for (const double coordinate : b) norm = std::hypot(norm, coordinate);
  const auto d = static_cast<double>(spec.dimension);
  const double log_surface =
      std::numbers::ln2 + d / 2 * std::log(std::numbers::pi) - std::lgamma(d / 2);
  return -norm / spec.scale - log_surface - d * std::log(spec.scale) - std::lgamma(d);
}

privacy::Event privacy_event(const NormNoise& spec, double l2_sensitivity) {
  validate(spec);
  require_sensitivity(l2_sensitivity, false);
  return privacy::event::Pure{epsilon_up(spec, l2_sensitivity)};
}

NormNoise calibrate_norm_noise(double l2_sensitivity, std::int64_t dimension, Epsilon epsilon) {
  require_sensitivity(l2_sensitivity, true);
  if (!(epsilon.value() > 0)) {
    throw Error(ErrorCode::invalid_argument, "epsilon is 0; no finite noise gives that");
  }
  NormNoise spec{std::max(numeric::divide_up(l2_sensitivity, epsilon.value()), random::kMinScale),
                 dimension};
  while (epsilon_up(spec, l2_sensitivity) > epsilon.value())
    spec.scale = numeric::step_up(spec.scale);
  validate(spec);
  return spec;
}

double norm_interval(const NormNoise& spec, Confidence confidence) {
  validate(spec);
  const double radius =
      numeric::multiply_up(spec.scale, gamma_quantile_up(spec.dimension, alpha_down(confidence)));
  const double rounding = numeric::sqrt_up(static_cast<double>(spec.dimension)) / 2;
  return numeric::add_up(radius, rounding);
}

Int128 coordinate_interval(const NormNoise& spec, Confidence confidence) {
  validate(spec);
  return coordinate_width(spec, alpha_down(confidence));
}

// By the union bound: the coordinates are not independent.
Int128 simultaneous_interval(const NormNoise& spec, Confidence confidence) {
  validate(spec);
  return coordinate_width(
      spec, numeric::divide_down(alpha_down(confidence), static_cast<double>(spec.dimension)));
}

std::string_view name(const NormNoise&) { return "norm_noise"; }

std::string describe(const NormNoise& spec) {
  return fmt::format("rotation-invariant noise in {} dimensions, scale {} grid steps",
                     spec.dimension, format_number(spec.scale));
}

}  // namespace shoal::mechanism
