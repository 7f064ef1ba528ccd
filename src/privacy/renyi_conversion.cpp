#include "privacy/composition_checks.hpp"
#include "privacy/falling_inverse.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/numeric/mills_ratio.hpp>
#include <shoal/privacy/renyi_conversion.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace shoal::privacy {
namespace {

using namespace numeric;  // directed arithmetic reads better bare

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMaxMu = 1000;

void check_bound(const RenyiBound& bound) {
  if (!(bound.order > 1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the Renyi order is {}; it must be above 1", bound.order));
  }
  if (!(bound.divergence >= 0)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the Renyi divergence is {}; it must not be negative", bound.divergence));
  }
}

void check_some(std::size_t count) {
  if (count == 0) {
    throw Error(ErrorCode::invalid_argument, "no Renyi order is given; give at least one");
  }
}

void check_mu(double mu) {
  if (!(mu >= 0 && mu <= kMaxMu)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("mu is {}; it must be from 0 to {}", mu, kMaxMu));
  }
}

// (x / y) rounded up, for y > 0 between two bounds and x of any sign.
double divide_up_between(double x, double y_down, double y_up) {
  return x >= 0 ? divide_up(x, y_down) : divide_up(x, y_up);
}

// x^power in either direction, x > 0 between two bounds.
struct Power {
  double down;
  double up;
};

Power power_of(double down, double up, double exponent) {
  const auto scaled_down = [&](double log) { return multiply_down(exponent, log); };
  const auto scaled_up = [&](double log) { return multiply_up(exponent, log); };
  const double log_low = log_down(down);
  const double log_high = log_up(up);
  if (exponent >= 0) return {exp_down(scaled_down(log_low)), exp_up(scaled_up(log_high))};
  return {exp_down(scaled_down(log_high)), exp_up(scaled_up(log_low))};
}

// A pair of chances (p, q) near the best one, by a search over w = v / u where u = p / q and
// v = (1 - p) / (1 - q): renyi_conversion.proof.md.
struct ChancePair {
  double p;
  double q;
};

ChancePair best_pair_near(double order, double log_limit, double epsilon) {
  const double a = order;
  const auto pair_at = [&](double w) {
    const double u =
        std::exp(epsilon) * (a / (a - 1)) * (1 - std::pow(w, a - 1)) / (1 - std::pow(w, a));
    const double v = w * u;
    const double q = (1 - v) / (u - v);
    return ChancePair{u * q, q};
  };
  const auto exceeds = [&](double w) {
    const ChancePair pair = pair_at(w);
    if (!(pair.q > 0)) return false;
    const double u = pair.p / pair.q;
    const double v = w * u;
    return std::log(std::pow(u, a - 1) * pair.p + std::pow(v, a - 1) * (1 - pair.p)) > log_limit;
  };
  double low = 0;
  double high = 1;
  for (int step = 0; step < 200; ++step) {
    const double middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) break;
    (exceeds(middle) ? low : high) = middle;
  }
  return pair_at(high);
}

// A tangent at (p, q) to the convex set of pairs within the divergence bounds p - e^epsilon q on
// all of it, whether or not the point is the best one.
double tangent_bound_up(const RenyiBound& bound, double epsilon, const ChancePair& at) {
  const double a = bound.order;
  const double less_down = subtract_down(a, 1);
  const double less_up = subtract_up(a, 1);
  const double p = at.p;
  const double q = at.q;
  const double u_down = divide_down(p, q);
  const double u_up = divide_up(p, q);
  const double v_down = divide_down(subtract_down(1, p), subtract_up(1, q));
  const double v_up = divide_up(subtract_up(1, p), subtract_down(1, q));
  if (!(p > 0 && p < 1 && q > 0 && q < 1 && v_down > 0)) return kInfinity;
  // u > 1 > v, so the rounding of a - 1 has a known side in each power.
  const Power u_less{power_of(u_down, u_up, less_down).down, power_of(u_down, u_up, less_up).up};
  const Power v_less{power_of(v_down, v_up, less_up).down, power_of(v_down, v_up, less_down).up};
  if (!(u_down > 1 && v_up < 1)) return kInfinity;
  const Power u_whole = power_of(u_down, u_up, a);
  const Power v_whole = power_of(v_down, v_up, a);
  const double value =
      add_down(multiply_down(u_less.down, p), multiply_down(v_less.down, subtract_down(1, p)));
  const double slope_p_down = multiply_down(a, subtract_down(u_less.down, v_less.up));
  const double slope_p_up = multiply_up(a, subtract_up(u_less.up, v_less.down));
  const double slope_q_down = -multiply_up(less_up, subtract_up(u_whole.up, v_whole.down));
  const double slope_q_up = -multiply_down(less_down, subtract_down(u_whole.down, v_whole.up));
  if (!(slope_p_down > 0 && std::isfinite(u_whole.up))) return kInfinity;
  const double grown_down = exp_down(epsilon);
  const double grown_up = exp_up(epsilon);
  const double skew_down = add_down(slope_q_down, multiply_down(slope_p_down, grown_down));
  const double skew_up = add_up(slope_q_up, multiply_up(slope_p_up, grown_up));
  // Pairs that matter have q <= e^-epsilon, and so has this one but for its rounding.
  const double reach = std::max(exp_up(-epsilon), q);
  const double skew = multiply_up(std::max(std::fabs(skew_down), std::fabs(skew_up)), reach);
  const double limit = exp_up(multiply_up(less_up, bound.divergence));
  const double distance = add_up(subtract_up(limit, value), skew);
  const double here = subtract_up(p, multiply_down(grown_down, q));
  return add_up(here, divide_up_between(distance, slope_p_down, slope_p_up));
}

void check_order(double order) {
  if (!(order >= 1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the Renyi order is {}; it must be at least 1", order));
  }
}

// The delta of mu-GDP in ordinary doubles: for searches.
double gaussian_delta_near(double mu, double epsilon) {
  const double middle = epsilon / mu;
  const double u = middle - mu / 2;
  const double v = middle + mu / 2;
  const double root = std::sqrt(2.0);
  if (u < 0 && mu > 1e-4) {
    return (std::erfc(u / root) - std::exp(epsilon) * std::erfc(v / root)) / 2;
  }
  // phi(u) (M(u) - M(v)), and M' = x M - 1 where the difference would cancel.
  const double height = std::exp(-u * u / 2) / std::sqrt(2 * std::numbers::pi);
  const double drop =
      mu > 1e-4 ? mills_ratio(u) - mills_ratio(v) : mu * (1 - middle * mills_ratio(middle));
  return height * drop;
}

// 2 sinh(x) = (e^x - 1) - (e^-x - 1), for x >= 0 rounded up.
double twice_sinh_up(double x) { return subtract_up(expm1_up(x), expm1_down(-x)); }

}  // namespace

double epsilon_of_renyi_up(const RenyiBound& bound, Delta delta) {
  check_bound(bound);
  if (std::isinf(bound.order) || bound.divergence == 0) return bound.divergence;
  if (delta.value() == 0) return kInfinity;
  const double a = bound.order;
  // ln(1 - 1/a) = -ln(1 + 1/(a - 1)).
  const double constant = -log1p_down(divide_down(1, subtract_up(a, 1)));
  const double numerator = -add_down(log_down(delta.value()), log_down(a));
  const double tail = divide_up_between(numerator, subtract_down(a, 1), subtract_up(a, 1));
  return std::max(0.0, add_up(add_up(bound.divergence, constant), tail));
}

double epsilon_of_renyi_up(std::span<const RenyiBound> bounds, Delta delta) {
  check_some(bounds.size());
  double best = kInfinity;
  for (const RenyiBound& bound : bounds) best = std::min(best, epsilon_of_renyi_up(bound, delta));
  return best;
}

double delta_of_renyi_up(const RenyiBound& bound, double epsilon) {
  check_bound(bound);
  check_finite("epsilon", epsilon);
  const double apart = std::max(0.0, -expm1_down(epsilon));  // delta is no less at any order
  if (bound.divergence == 0) return apart;
  if (std::isinf(bound.order)) {
    // P <= e^tau Q: p - e^epsilon q <= 1 - e^(epsilon - tau).
    if (epsilon >= bound.divergence) return 0;
    if (std::isinf(bound.divergence)) return 1;
    return std::min(1.0, -expm1_down(subtract_down(epsilon, bound.divergence)));
  }
  if (std::isinf(bound.divergence)) return 1;
  const double less_down = subtract_down(bound.order, 1);
  const double less_up = subtract_up(bound.order, 1);
  const double over = subtract_up(bound.divergence, epsilon);
  const double grown = over >= 0 ? multiply_up(less_up, over) : multiply_up(less_down, over);
  // (a - 1) ln(1 - 1/a) = -(a - 1) ln(1 + 1/(a - 1)).
  const double power = -multiply_down(less_down, log1p_down(divide_down(1, less_up)));
  const double log_delta = subtract_up(add_up(grown, power), log_down(bound.order));
  return std::clamp(exp_up(log_delta), apart, 1.0);
}

double delta_of_renyi_up(std::span<const RenyiBound> bounds, double epsilon) {
  check_some(bounds.size());
  double best = 1;
  for (const RenyiBound& bound : bounds) best = std::min(best, delta_of_renyi_up(bound, epsilon));
  return best;
}

double best_delta_of_renyi_up(const RenyiBound& bound, double epsilon) {
  check_bound(bound);
  check_not_negative("epsilon", epsilon);
  const double simple = delta_of_renyi_up(bound, epsilon);
  if (std::isinf(bound.order) || std::isinf(bound.divergence) || bound.divergence == 0) {
    return simple;
  }
  // p = 1 is best if tau is that large: delta = 1 - e^(epsilon - tau). It is a bound only there.
  const double a = bound.order;
  const double ceiling = add_up(epsilon, log1p_up(divide_up(1, subtract_down(a, 1))));
  if (bound.divergence >= ceiling) {
    return std::min(simple, -expm1_down(subtract_down(epsilon, bound.divergence)));
  }
  const ChancePair near = best_pair_near(a, (a - 1) * bound.divergence, epsilon);
  const double tangent = tangent_bound_up(bound, epsilon, near);
  return std::isnan(tangent) ? simple : std::clamp(tangent, 0.0, simple);
}

double bun_steinke_epsilon_up(Rho rho, Delta delta) {
  if (rho.value() == 0) return 0;
  if (delta.value() == 0) return kInfinity;
  const double root = sqrt_up(multiply_up(rho.value(), -log_down(delta.value())));
  return add_up(rho.value(), 2 * root);
}

double pure_renyi_up(Epsilon epsilon, double order) {
  check_order(order);
  const double e = epsilon.value();
  if (e == 0 || std::isinf(order)) return e;
  const double mean = multiply_up(e, tanh_up(e / 2));
  if (order == 1) return mean;
  const double less_down = subtract_down(order, 1);
  const double less_up = subtract_up(order, 1);
  const double simple = std::min(e, multiply_up(order, mean));
  // (a - 1) D = ln(cosh((a - 1/2) e) / cosh(e / 2))
  //           = ln(1 + 2 sinh(a e / 2) sinh((a - 1) e / 2) / cosh(e / 2)).
  const double product = multiply_up(twice_sinh_up(multiply_up(order, e / 2)),
                                     twice_sinh_up(multiply_up(less_up, e / 2)));
  if (std::isfinite(product)) {
    const double twice_cosh = add_down(exp_down(e / 2), exp_down(-e / 2));
    const double log = log1p_up(divide_up(product, twice_cosh));
    return std::min(simple, divide_up(log, less_down));
  }
  // e + ln((1 + e^-(2 a - 1) e) / (1 + e^-e)) / (a - 1), where the first exponential is tiny.
  const double top = log1p_up(exp_up(-multiply_down(add_down(order, less_down), e)));
  const double difference = subtract_up(top, log1p_down(exp_down(-e)));
  return std::min(simple, add_up(e, divide_up_between(difference, less_down, less_up)));
}

double laplace_renyi_up(double sensitivity_per_scale, double order) {
  const double x = sensitivity_per_scale;
  check_epsilon("sensitivity / scale", x);
  check_order(order);
  if (x == 0 || std::isinf(order)) return x;
  // Laplace noise is x-private, so this holds, and says more where the closed form cancels.
  const double simple = pure_renyi_up(Epsilon(x), order);
  if (order == 1) return std::clamp(add_up(x, expm1_up(-x)), 0.0, simple);
  const double less_down = subtract_down(order, 1);
  const double less_up = subtract_up(order, 1);
  const double twice_down = add_down(order, less_down);
  // x + ln(a / (2a - 1) + (a - 1) / (2a - 1) e^-(2a - 1) x) / (a - 1).
  const double first = divide_up(order, twice_down);
  const double second =
      multiply_up(divide_up(less_up, twice_down), exp_up(-multiply_down(twice_down, x)));
  const double far =
      add_up(x, divide_up_between(log_up(add_up(first, second)), less_down, less_up));
  // The same without the leading x, for small x: ln(1 + (a (e^((a-1) x) - 1) + (a - 1) (e^-ax - 1))
  // / (2a - 1)) / (a - 1).
  const double rise = multiply_up(order, expm1_up(multiply_up(less_up, x)));
  const double fall = multiply_up(less_down, expm1_up(-multiply_down(order, x)));
  const double sum = add_up(rise, fall);
  const double near =
      sum >= 0 ? divide_up(log1p_up(divide_up(sum, twice_down)), less_down) : kInfinity;
  return std::clamp(std::min(far, near), 0.0, simple);
}

double gaussian_renyi_up(double sensitivity_per_sigma, double order) {
  check_not_negative("sensitivity / sigma", sensitivity_per_sigma);
  check_order(order);
  if (sensitivity_per_sigma == 0) return 0;
  const double half_square = multiply_up(sensitivity_per_sigma, sensitivity_per_sigma / 2);
  return multiply_up(order, half_square);
}

Bounds gdp_delta(double mu, double epsilon) {
  check_mu(mu);
  check_finite("epsilon", epsilon);
  const double size = std::fabs(epsilon);
  const Bounds delta{gaussian_delta_down(1, mu, size), gaussian_delta_up(1, mu, size)};
  if (epsilon >= 0) return delta;
  // The two normal laws are mirror images: delta(-e) = 1 - e^-e + e^-e delta(e).
  const double down = add_down(-expm1_up(-size), multiply_down(exp_down(-size), delta.lower));
  const double up = add_up(-expm1_down(-size), multiply_up(exp_up(-size), delta.upper));
  return {std::min(down, 1.0), std::min(up, 1.0)};
}

Bounds gdp_epsilon(double mu, Delta delta) {
  check_mu(mu);
  if (mu == 0) return {0, 0};
  if (delta.value() == 0) return {kInfinity, kInfinity};
  const auto bounds = [&](double at) { return gdp_delta(mu, at); };
  const auto near = [&](double at) { return gaussian_delta_near(mu, at); };
  const double highest = bun_steinke_epsilon_up(Rho(multiply_up(mu, mu / 2)), delta);
  return falling_inverse({bounds, near}, delta.value(), highest, 1e-13);
}

double gdp_composition_up(std::span<const double> mus) {
  double sum = 0;
  for (const double mu : mus) {
    check_mu(mu);
    sum = add_up(sum, multiply_up(mu, mu));
  }
  return sqrt_up(sum);
}

UncertifiedEstimate poisson_gaussian_mu_estimate(double sigma, double rate, std::int64_t steps) {
  if (!(sigma > 0 && std::isfinite(sigma) && rate >= 0 && rate <= 1 && steps >= 0)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("sigma {}, sampling rate {}, steps {}; sigma must be above 0, the rate "
                            "from 0 to 1 and the steps not negative",
                            sigma, rate, steps));
  }
  return {rate * std::sqrt(static_cast<double>(steps) * std::expm1(1 / (sigma * sigma)))};
}

UncertifiedEstimate poisson_gaussian_epsilon_estimate(double sigma, double rate, std::int64_t steps,
                                                      Delta delta) {
  const double mu = poisson_gaussian_mu_estimate(sigma, rate, steps).value;
  return {gdp_epsilon(mu, delta).upper};
}

}  // namespace shoal::privacy
