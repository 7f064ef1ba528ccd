#include "privacy/both_relations.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/normal.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace shoal::privacy {
namespace {

using numeric::expm1_up;
using numeric::multiply_up;

constexpr std::int64_t kCertain = 1'000'000'000'000'000'000;  // delta 1: it may always fail

[[noreturn]] void too_large() {
  throw Error(ErrorCode::invalid_argument,
              "the privacy cost is too large to be counted; use more noise (a smaller epsilon)");
}

[[noreturn]] void unsupported(const std::string& message) {
  throw Error(ErrorCode::unsupported, message);
}

std::int64_t multiply_checked(std::int64_t amount, std::int64_t count) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(amount, count, &product)) too_large();
  return product;
}

std::int64_t add_checked(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) too_large();
  return sum;
}

// A Gaussian bound is one of several, so one that is too large to be counted is left out.
std::optional<std::int64_t> multiply_or_none(std::optional<std::int64_t> amount,
                                             std::int64_t count) {
  std::int64_t product = 0;
  if (!amount || __builtin_mul_overflow(*amount, count, &product)) return std::nullopt;
  return product;
}

std::optional<std::int64_t> add_or_none(std::optional<std::int64_t> a,
                                        std::optional<std::int64_t> b) {
  std::int64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

// mu^2 / 2 for the smallest mu of which every epsilon-private pair is Gaussian: mu / 2 is where the
// upper tail of the normal distribution is 1 / (1 + e^epsilon). Beyond 200 nothing fits anywhere.
std::optional<std::int64_t> gaussian_units_of_pure(double epsilon) {
  if (epsilon == 0) return 0;
  if (epsilon > 200) return std::nullopt;
  const double both_tails = numeric::divide_down(2, numeric::add_up(1, numeric::exp_up(epsilon)));
  const double half_mu = numeric::two_sided_normal_quantile_up(both_tails);
  return numeric::ratio_units_up(multiply_up(2, multiply_up(half_mu, half_mu)), 1, kRhoDecimals);
}

// epsilon-differential privacy implies epsilon * tanh(epsilon / 2) - zCDP.
Charge pure_charge(std::int64_t epsilon_units, std::int64_t delta_units = 0) {
  const double epsilon = numeric::from_units_up(epsilon_units, kEpsilonDecimals);
  const double rho = multiply_up(epsilon, numeric::tanh_up(epsilon / 2));
  return {epsilon_units, numeric::ratio_units_up(rho, 1, kRhoDecimals), delta_units,
          gaussian_units_of_pure(epsilon)};
}

Charge zcdp_charge(std::int64_t rho_units) {
  if (rho_units == 0) return {};
  return {std::nullopt, rho_units, 0, std::nullopt};
}

Charge gaussian_charge(std::int64_t rho_units) {
  if (rho_units == 0) return {};
  return {std::nullopt, rho_units, 0, rho_units};
}

// Both charges hold for the event as a whole, without failure: the better of each.
Charge better(Charge a, const Charge& b) {
  SHOAL_CHECK(a.delta_units == 0 && b.delta_units == 0);
  if (b.epsilon_units)
    a.epsilon_units = std::min(a.epsilon_units.value_or(*b.epsilon_units), *b.epsilon_units);
  a.rho_units = std::min(a.rho_units, b.rho_units);
  if (b.gaussian_units)
    a.gaussian_units = std::min(a.gaussian_units.value_or(*b.gaussian_units), *b.gaussian_units);
  return a;
}

// ln(1 + rate (e^epsilon - 1)), and its mirror image ln(1 - rate (1 - e^-gap)).
double amplified_up(double rate, double epsilon) {
  return numeric::log1p_up(multiply_up(rate, expm1_up(epsilon)));
}
double diluted_down(double rate, double exponent) {
  const double growth = numeric::expm1_down(exponent);
  return numeric::log1p_down(std::max(-1.0, numeric::multiply_down(rate, growth)));
}

// What sampling makes of a charge: `epsilon` if it improves on it, and the part `rate` of delta.
Charge amplified(const Charge& base, double epsilon, double rate) {
  std::int64_t units = *base.epsilon_units;
  if (epsilon < numeric::from_units_up(units, kEpsilonDecimals))
    units = std::min(units, numeric::ratio_units_up(epsilon, 1, kEpsilonDecimals));
  if (base.delta_units == 0) return better(pure_charge(units), base);
  const double delta = numeric::from_units_up(base.delta_units, kDeltaDecimals);
  const std::int64_t part = numeric::ratio_units_up(multiply_up(rate, delta), 1, kDeltaDecimals);
  return pure_charge(units, std::min(part, base.delta_units));
}

Charge poisson_charge(const event::PoissonSampled& e, Neighbors neighbors) {
  if (e.rate == 0) return {};
  const Charge base = price(e.event, neighbors);
  if (e.rate == 1 || !base.epsilon_units) return base;
  const double epsilon = numeric::from_units_up(*base.epsilon_units, kEpsilonDecimals);
  if (neighbors == Neighbors::add_remove)
    return amplified(base, amplified_up(e.rate, epsilon), e.rate);
  if (!knows_both_relations(e.event)) return base;
  // Whether a person is in the sample can show unless the base hides it too, so an exchange needs
  // its bound for coming and going: `come`.
  const Charge other = price(e.event, Neighbors::add_remove);
  const double come = numeric::from_units_up(*other.epsilon_units, kEpsilonDecimals);
  const double exponent = numeric::subtract_down(come, std::min(epsilon, 2 * come));
  return amplified(base,
                   numeric::subtract_up(amplified_up(e.rate, come), diluted_down(e.rate, exponent)),
                   e.rate);
}

Charge fixed_size_charge(const event::SampledWithoutReplacement& e, Neighbors neighbors) {
  if (neighbors == Neighbors::add_remove) {
    unsupported(
        "sampled_without_replacement under add_remove has no meaning: its population is public, "
        "so nobody comes or goes; use a policy with neighbors = replace_one, or poisson_sampled");
  }
  if (e.sample == 0) return {};
  const Charge base = price(e.event, neighbors);
  if (e.sample == e.population || !base.epsilon_units) return base;
  // Both may be beyond 2^53, and the conversion rounds to nearest.
  const double rate =
      std::min(1.0, numeric::divide_up(numeric::step_up(static_cast<double>(e.sample)),
                                       numeric::step_down(static_cast<double>(e.population))));
  const double epsilon = numeric::from_units_up(*base.epsilon_units, kEpsilonDecimals);
  return amplified(base, amplified_up(rate, epsilon), rate);
}

// delta (e^(k epsilon) - 1) / (e^epsilon - 1), at most 1.
std::int64_t group_delta_units(const Charge& base, std::int64_t size) {
  const double epsilon = numeric::from_units_up(*base.epsilon_units, kEpsilonDecimals);
  const double delta = numeric::from_units_up(base.delta_units, kDeltaDecimals);
  const double people = numeric::step_up(static_cast<double>(size));
  const double factor = epsilon == 0 ? people
                                     : numeric::divide_up(expm1_up(multiply_up(people, epsilon)),
                                                          numeric::expm1_down(epsilon));
  const double group = multiply_up(delta, factor);
  return group < 1 ? numeric::ratio_units_up(group, 1, kDeltaDecimals) : kCertain;
}

Charge group_charge(const event::Group& e, Neighbors neighbors) {
  const Charge base = price(e.event, neighbors);
  if (e.size == 1) return base;
  if (base.delta_units > 0 && !base.epsilon_units) {
    unsupported(
        "a group of people has no charge for an event that may fail and is not pure otherwise; "
        "state it as one epsilon_delta event, or protect one person");
  }
  if (base.delta_units > 0)
    return pure_charge(multiply_checked(*base.epsilon_units, e.size),
                       group_delta_units(base, e.size));
  Charge group;
  group.rho_units = multiply_checked(multiply_checked(base.rho_units, e.size), e.size);
  group.epsilon_units = std::nullopt;
  group.gaussian_units = multiply_or_none(multiply_or_none(base.gaussian_units, e.size), e.size);
  if (!base.epsilon_units) return group;
  return better(pure_charge(multiply_checked(*base.epsilon_units, e.size)), group);
}

struct Pricer {
  Neighbors neighbors;

  Charge operator()(const event::DiscreteLaplace& e) const { return laplace(e); }
  Charge operator()(const event::Laplace& e) const { return laplace(e); }
  Charge operator()(const event::DiscreteGaussian& e) const { return zcdp_charge(rho_units(e)); }
  Charge operator()(const event::Gaussian& e) const { return gaussian_charge(rho_units(e)); }
  // The samplers take the double for its exact value, so the charge does too: 0.1 costs a unit more
  // than a tenth.
  Charge operator()(const event::RandomizedResponse& e) const {
    return pure_charge(numeric::ratio_units_up(e.epsilon, 1, kEpsilonDecimals));
  }
  Charge operator()(const event::LeakyRandomizedResponse& e) const {
    return pure_charge(numeric::ratio_units_up(e.epsilon, 1, kEpsilonDecimals),
                       numeric::ratio_units_up(e.delta, 1, kDeltaDecimals));
  }
  Charge operator()(const event::NameAndShame& e) const {
    return pure_charge(0, numeric::ratio_units_up(e.delta, 1, kDeltaDecimals));
  }
  // epsilon^2 / 8 = (epsilon / 2)^2 / 2; above epsilon of about 8 the pure bound is the smaller. As
  // a Gaussian it is as hard to tell apart as what is epsilon / 2-private.
  Charge operator()(const event::Exponential& e) const {
    Charge charge = pure_charge(numeric::ratio_units_up(e.epsilon, 1, kEpsilonDecimals));
    charge.gaussian_units =
        gaussian_units_of_pure(e.epsilon == 0 ? 0 : numeric::step_up(e.epsilon / 2));
    if (e.epsilon <= 8) {
      charge.rho_units = std::min(charge.rho_units,
                                  numeric::half_square_ratio_units_up(e.epsilon, 2, kRhoDecimals));
    }
    return charge;
  }
  Charge operator()(const event::Pure& e) const {
    return pure_charge(numeric::decimal_units_up(e.epsilon, kEpsilonDecimals));
  }
  Charge operator()(const event::EpsilonDelta& e) const {
    return pure_charge(numeric::decimal_units_up(e.epsilon, kEpsilonDecimals),
                       numeric::decimal_units_up(e.delta, kDeltaDecimals));
  }
  Charge operator()(const event::Zcdp& e) const {
    return zcdp_charge(numeric::decimal_units_up(e.rho, kRhoDecimals));
  }
  Charge operator()(const event::Rdp&) const {
    unsupported(
        "an rdp table has no charge: at finitely many orders it implies no zCDP bound; declare the "
        "whole plan in advance and charge it as one zcdp, gdp or epsilon_delta event");
  }
  Charge operator()(const event::Gdp& e) const {
    return gaussian_charge(numeric::half_square_ratio_units_up(e.mu, 1, kRhoDecimals));
  }
  Charge operator()(const event::PoissonSampled& e) const { return poisson_charge(e, neighbors); }
  Charge operator()(const event::SampledWithoutReplacement& e) const {
    return fixed_size_charge(e, neighbors);
  }
  // Hiding who sent which can only help.
  Charge operator()(const event::Shuffled& e) const {
    return pure_charge(numeric::decimal_units_up(e.epsilon, kEpsilonDecimals));
  }
  Charge operator()(const event::Group& e) const { return group_charge(e, neighbors); }
  Charge operator()(const event::Repeat& e) const {
    if (e.count == 0) return {};
    Charge charge = price(e.event, neighbors);
    if (charge.epsilon_units)
      charge.epsilon_units = multiply_checked(*charge.epsilon_units, e.count);
    charge.rho_units = multiply_checked(charge.rho_units, e.count);
    charge.delta_units = multiply_checked(charge.delta_units, e.count);
    charge.gaussian_units = multiply_or_none(charge.gaussian_units, e.count);
    return charge;
  }
  Charge operator()(const event::Compose& e) const {
    Charge total;
    for (const Event& part : e.events) total = add(total, price(part, neighbors));
    return total;
  }

 private:
  template <class Noise>
  Charge laplace(const Noise& e) const {
    return pure_charge(numeric::ratio_units_up(distance(e, neighbors), e.scale, kEpsilonDecimals));
  }
  template <class Noise>
  std::int64_t rho_units(const Noise& e) const {
    return numeric::half_square_ratio_units_up(distance(e, neighbors), e.sigma, kRhoDecimals);
  }
};

}  // namespace

Charge price(const Event& event, Neighbors neighbors) {
  return std::visit(Pricer{neighbors}, event.node());
}

Charge add(const Charge& a, const Charge& b) {
  Charge sum;
  sum.epsilon_units = std::nullopt;
  if (a.epsilon_units && b.epsilon_units)
    sum.epsilon_units = add_checked(*a.epsilon_units, *b.epsilon_units);
  sum.rho_units = add_checked(a.rho_units, b.rho_units);
  sum.delta_units = add_checked(a.delta_units, b.delta_units);
  sum.gaussian_units = add_or_none(a.gaussian_units, b.gaussian_units);
  return sum;
}

Event stated_for(const Event& event, Neighbors neighbors) {
  if (neighbors == Neighbors::add_remove) return event;
  return std::visit(
      [&](auto e) -> Event {
        using Node = std::decay_t<decltype(e)>;
        if constexpr (requires { e.replace_sensitivity; }) {
          if (!e.replace_sensitivity) e.replace_sensitivity = e.sensitivity;
        } else if constexpr (std::is_same_v<Node, event::Compose>) {
          for (Event& part : e.events) part = stated_for(part, neighbors);
        } else if constexpr (requires { e.event; }) {
          e.event = stated_for(e.event, neighbors);
        }
        return e;
      },
      event.node());
}

}  // namespace shoal::privacy
