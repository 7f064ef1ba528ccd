// The losses as templates over the floating point they are computed in: the solvers' kernels take
// them in double and, where that is too coarse, in long double and beyond.
#pragma once

#include <shoal/learn/loss.hpp>

#include <cmath>

namespace shoal::learn {

// Value, slope and curvature at one prediction. Most passes need no value, and a logarithm costs as
// much as all the rest.
template <typename Real>
struct Derivatives {
  Real value = 0;
  Real slope = 0;
  Real curvature = 0;
};

template <typename Real, bool with_value = true>
Derivatives<Real> derivatives(const Squared&, Real z, Real y) {
  const Real residual = z - y;
  return {residual * residual / 2, residual, 1};
}

// Both branches keep e^-|z|, so that nothing overflows and small chances keep their digits.
template <typename Real, bool with_value = true>
Derivatives<Real> derivatives(const Logistic&, Real z, Real y) {
  using std::exp;
  using std::log1p;
  const Real margin = y * z;
  const Real small = exp(margin > 0 ? -margin : margin);
  const Real inverse = 1 / (1 + small);
  const Real wrong = (margin > 0 ? small : Real(1)) * inverse;  // the chance of the other label
  Real value = 0;
  if constexpr (with_value) value = log1p(small) + (margin > 0 ? Real(0) : -margin);
  return {value, -y * wrong, small * inverse * inverse};
}

template <typename Real, bool with_value = true>
Derivatives<Real> derivatives(const HuberisedHinge& loss, Real z, Real y) {
  const Real h = static_cast<Real>(loss.half_width);
  const Real margin = y * z;
  const Real short_of = 1 + h - margin;
  if (short_of <= 0) return {};
  if (short_of >= 2 * h) return {1 - margin, -y, 0};
  return {short_of * short_of / (4 * h), -y * short_of / (2 * h), 1 / (2 * h)};
}

template <typename Real, bool with_value = true>
Derivatives<Real> derivatives(const Hinge&, Real z, Real y) {
  const Real margin = y * z;
  if (margin >= 1) return {};
  return {1 - margin, -y, 0};
}

template <typename Real, bool with_value = true>
Derivatives<Real> derivatives(const Huber& loss, Real z, Real y) {
  const Real knot = static_cast<Real>(loss.knot);
  const Real residual = z - y;
  const Real size = residual < 0 ? Real(-residual) : residual;
  if (size <= knot) return {residual * residual / 2, residual, 1};
  return {knot * (size - knot / 2), residual < 0 ? Real(-knot) : knot, 0};
}

template <typename Real, bool with_value = true>
Derivatives<Real> derivatives(const LogCosh&, Real z, Real y) {
  using std::exp;
  using std::log;
  using std::log1p;
  using std::tanh;
  const Real residual = z - y;
  const Real size = residual < 0 ? Real(-residual) : residual;
  const Real slope = tanh(residual);
  Real value = 0;
  if constexpr (with_value) value = size + log1p(exp(-2 * size)) - log(Real(2));
  return {value, slope, (1 - slope) * (1 + slope)};
}

template <typename Real, bool with_value = true>
Derivatives<Real> derivatives(const Poisson& loss, Real z, Real y) {
  using std::exp;
  const Real limit = static_cast<Real>(loss.log_limit);
  const Real rate = exp(z < limit ? z : limit);
  const Real beyond = z < limit ? Real(0) : z - limit;
  return {rate * (1 + beyond) - y * z, rate - y, z < limit ? rate : Real(0)};
}

}  // namespace shoal::learn
