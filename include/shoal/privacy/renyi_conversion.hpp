// From Renyi divergences, zCDP and Gaussian differential privacy to (epsilon, delta), by name, and
// the Renyi divergences of simple mechanisms in closed form.
//
// Everything called _up or returned as Bounds is rounded to the safe side; an estimate that is not
// a bound has a type of its own. Conversion from zCDP with the best order: conversion.hpp.
// Arguments outside the stated ranges throw invalid_argument. Proofs: renyi_conversion.proof.md.
#pragma once

#include <shoal/base/quantity.hpp>
#include <shoal/privacy/profile.hpp>

#include <cstdint>
#include <span>

namespace shoal::privacy {

// The Renyi divergence of `order` is at most `divergence`, for every pair of neighbours. The order
// is above 1, infinity included; the divergence is not negative, infinity included.
struct RenyiBound {
  double order = 2;
  double divergence = 0;
  bool operator==(const RenyiBound&) const = default;
};

// tau + ln(1 - 1/a) - ln(a delta) / (a - 1): Canonne, Kamath and Steinke 2020, proposition 12; not
// below 0. Infinite for delta = 0 and a finite order.
double epsilon_of_renyi_up(const RenyiBound& bound, Delta delta);
// The best of several orders. Throws if there is none.
double epsilon_of_renyi_up(std::span<const RenyiBound> bounds, Delta delta);
// The same read the other way: e^((a - 1)(tau - epsilon)) (1 - 1/a)^(a - 1) / a, at most 1. Any
// finite epsilon.
double delta_of_renyi_up(const RenyiBound& bound, double epsilon);
double delta_of_renyi_up(std::span<const RenyiBound> bounds, double epsilon);

// The smallest delta that follows from one order alone (the form of Asoodeh et al. 2020): several
// times smaller than the above at small orders and divergences, the same at large ones. Found by a
// tangent that is good to about 1e-13 of absolute delta; below, it is the above. epsilon >= 0,
// finite.
double best_delta_of_renyi_up(const RenyiBound& bound, double epsilon);

// rho + 2 sqrt(rho ln(1 / delta)): Bun and Steinke 2016. Never better than epsilon_of_rho_up.
double bun_steinke_epsilon_up(Rho rho, Delta delta);

// Renyi divergences of an order >= 1, infinity included. Order 1 is the mean loss.
// Of randomized response with two categories, the largest of all epsilon-private mechanisms.
double pure_renyi_up(Epsilon epsilon, double order);
// Of Laplace noise, for sensitivity / scale in [0, kMaxEpsilon].
double laplace_renyi_up(double sensitivity_per_scale, double order);
// Of Gaussian noise: order (sensitivity / sigma)^2 / 2. Infinite at order infinity.
double gaussian_renyi_up(double sensitivity_per_sigma, double order);

// mu-Gaussian differential privacy (Dong, Roth and Su 2022), mu in [0, 1000]: the profile of the
// normal laws N(0, 1) and N(mu, 1). Any finite epsilon.
Bounds gdp_delta(double mu, double epsilon);
// The smallest epsilon >= 0; infinite for delta 0 and mu above 0.
Bounds gdp_epsilon(double mu, Delta delta);
// sqrt(sum of squares).
double gdp_composition_up(std::span<const double> mus);

// A number that is NOT a bound and must never be reported or charged as one.
struct UncertifiedEstimate {
  double value = 0;
};

// The central-limit estimate of mu for noisy gradient descent with Poisson sampling:
// q sqrt(T (e^(1 / sigma^2) - 1)). It is usually too small: the true epsilon is larger. sigma > 0,
// rate in [0, 1], steps >= 0.
UncertifiedEstimate poisson_gaussian_mu_estimate(double sigma, double rate, std::int64_t steps);
// And the epsilon of that mu. delta in (0, 1).
UncertifiedEstimate poisson_gaussian_epsilon_estimate(double sigma, double rate, std::int64_t steps,
                                                      Delta delta);

}  // namespace shoal::privacy
