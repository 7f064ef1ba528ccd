#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::privacy {
namespace {

[[noreturn]] void too_large() {
  throw Error(ErrorCode::invalid_argument,
              "the privacy cost is too large to be counted; use more noise (a smaller epsilon)");
}

// epsilon-differential privacy implies epsilon * tanh(epsilon / 2) - zCDP.
Charge pure_charge(std::int64_t epsilon_units) {
  const double epsilon = numeric::from_units_up(epsilon_units, kEpsilonDecimals);
  const double rho = numeric::multiply_up(epsilon, numeric::tanh_up(epsilon / 2));
  return {epsilon_units, numeric::ratio_units_up(rho, 1, kRhoDecimals)};
}

Charge gaussian_charge(double sensitivity, double sigma) {
  if (sensitivity == 0) return {};
  return {std::nullopt, numeric::half_square_ratio_units_up(sensitivity, sigma, kRhoDecimals)};
}

[[noreturn]] void no_delta(const char* name, double delta) {
  throw Error(
      ErrorCode::unsupported,
      fmt::format(
          "{} with delta {} cannot be charged: this accountant counts pure epsilon and zCDP "
          "only and has no delta of its own to spend; use delta 0, or a mechanism such as "
          "randomized_response, discrete_laplace or discrete_gaussian",
          name, delta));
}

std::int64_t multiply_checked(std::int64_t amount, std::int64_t count) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(amount, count, &product)) too_large();
  return product;
}

struct Pricer {
  Charge operator()(const event::DiscreteLaplace& e) const {
    return pure_charge(numeric::ratio_units_up(e.sensitivity, e.scale, kEpsilonDecimals));
  }
  Charge operator()(const event::DiscreteGaussian& e) const {
    return gaussian_charge(e.sensitivity, e.sigma);
  }
  Charge operator()(const event::Laplace& e) const {
    return pure_charge(numeric::ratio_units_up(e.sensitivity, e.scale, kEpsilonDecimals));
  }
  Charge operator()(const event::Gaussian& e) const {
    return gaussian_charge(e.sensitivity, e.sigma);
  }
  // The samplers take the double for its exact value, so the charge does too: 0.1 costs a unit more
  // than a tenth.
  Charge operator()(const event::RandomizedResponse& e) const {
    return pure_charge(numeric::ratio_units_up(e.epsilon, 1, kEpsilonDecimals));
  }
  Charge operator()(const event::LeakyRandomizedResponse& e) const {
    if (e.delta > 0) no_delta("leaky_randomized_response", e.delta);
    return pure_charge(numeric::ratio_units_up(e.epsilon, 1, kEpsilonDecimals));
  }
  Charge operator()(const event::NameAndShame& e) const {
    if (e.delta > 0) no_delta("name_and_shame", e.delta);
    return {};
  }
  // epsilon^2 / 8 = (epsilon / 2)^2 / 2; above epsilon of about 8 the pure bound is the smaller.
  Charge operator()(const event::Exponential& e) const {
    Charge charge = pure_charge(numeric::ratio_units_up(e.epsilon, 1, kEpsilonDecimals));
    if (e.epsilon <= 8) {
      charge.rho_units = std::min(charge.rho_units,
                                  numeric::half_square_ratio_units_up(e.epsilon, 2, kRhoDecimals));
    }
    return charge;
  }
  Charge operator()(const event::Pure& e) const {
    return pure_charge(numeric::decimal_units_up(e.epsilon, kEpsilonDecimals));
  }
  Charge operator()(const event::Zcdp& e) const {
    if (e.rho == 0) return {};
    return {std::nullopt, numeric::decimal_units_up(e.rho, kRhoDecimals)};
  }
  Charge operator()(const event::Repeat& e) const {
    if (e.count == 0) return {};
    Charge charge = price(e.event);
    if (charge.epsilon_units)
      charge.epsilon_units = multiply_checked(*charge.epsilon_units, e.count);
    charge.rho_units = multiply_checked(charge.rho_units, e.count);
    return charge;
  }
  Charge operator()(const event::Compose& e) const {
    Charge total;
    for (const Event& part : e.events) total = add(total, price(part));
    return total;
  }
};

}  // namespace

Charge price(const Event& event) { return std::visit(Pricer{}, event.node()); }

Charge add(const Charge& a, const Charge& b) {
  Charge sum;
  if (__builtin_add_overflow(a.rho_units, b.rho_units, &sum.rho_units)) too_large();
  if (!a.epsilon_units || !b.epsilon_units) {
    sum.epsilon_units = std::nullopt;
    return sum;
  }
  std::int64_t epsilon = 0;
  if (__builtin_add_overflow(*a.epsilon_units, *b.epsilon_units, &epsilon)) too_large();
  sum.epsilon_units = epsilon;
  return sum;
}

}  // namespace shoal::privacy
