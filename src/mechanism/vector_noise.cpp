#include "mechanism/noise_spec.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/gaussian_calibration.hpp>
#include <shoal/mechanism/vector_noise.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/discrete_laplace.hpp>
#include <shoal/random/rounded_laplace.hpp>
#include <shoal/random/rounded_normal.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::mechanism {
namespace {

using numeric::divide_up;
using numeric::multiply_up;
using numeric::sqrt_up;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

// As a double; exact, since a dimension is below 2^53.
double checked(std::int64_t dimension) {
  if (dimension < 1 || dimension > kMaxVectorDimension) {
    refuse(fmt::format("the dimension is {}; it must be from 1 to {}", dimension,
                       kMaxVectorDimension));
  }
  return static_cast<double>(dimension);
}

double in_range(double scale) {
  if (!(scale <= random::kMaxScale)) {
    refuse(
        fmt::format("the noise would be {} grid steps wide; at most 2^50 are drawn, so ask for "
                    "less privacy or use a coarser grid",
                    scale));
  }
  return std::max(scale, random::kMinScale);
}

// A bound of an integer: what lies between it and the integer below is of no use.
double whole(double bound) { return std::floor(bound); }

double rho_up(const DiscreteGaussian& spec, const VectorSensitivity& sensitivity) {
  const double ratio = divide_up(sensitivity.l2(), spec.sigma);
  return numeric::decimal_at_least(multiply_up(ratio, ratio) / 2);
}

double epsilon_up(double scale, const VectorSensitivity& sensitivity) {
  return numeric::decimal_at_least(divide_up(sensitivity.l1(), scale));
}

struct EventOfVector {
  const VectorSensitivity& sensitivity;

  privacy::Event operator()(const DiscreteLaplace& spec) const { return pure(spec.scale); }
  privacy::Event operator()(const RoundedLaplace& spec) const { return pure(spec.scale); }
  privacy::Event operator()(const DiscreteGaussian& spec) const {
    return privacy::event::Zcdp{rho_up(spec, sensitivity)};
  }
  privacy::Event operator()(const RoundedGaussian& spec) const {
    return privacy::event::Gaussian{spec.sigma, sensitivity.l2()};
  }

  privacy::Event pure(double scale) const {
    return privacy::event::Pure{epsilon_up(scale, sensitivity)};
  }
};

random::DiscreteLaplaceSampler sampler_of(const DiscreteLaplace& spec) {
  return random::DiscreteLaplaceSampler(spec.scale);
}
random::DiscreteGaussianSampler sampler_of(const DiscreteGaussian& spec) {
  return random::DiscreteGaussianSampler(spec.sigma);
}
random::RoundedLaplaceSampler sampler_of(const RoundedLaplace& spec) {
  return random::RoundedLaplaceSampler(spec.scale);
}
random::RoundedNormalSampler sampler_of(const RoundedGaussian& spec) {
  return random::RoundedNormalSampler(spec.sigma);
}

// sigma sqrt(d + 2 sqrt(d x) + 2 x) for x = log(1 / alpha) (Laurent and Massart 2000, lemma 1).
double gaussian_norm_up(double sigma, double dimension, double alpha) {
  const double x = -numeric::log_down(alpha);
  const double root = sqrt_up(multiply_up(dimension, x));
  return multiply_up(sigma, sqrt_up(numeric::add_up(dimension, 2 * numeric::add_up(root, x))));
}

}  // namespace

VectorSensitivity::VectorSensitivity(double l1, double l2, double linf, std::int64_t dimension)
    : l1_(l1), l2_(l2), linf_(linf), dimension_(dimension) {}

VectorSensitivity VectorSensitivity::from_l1(Sensitivity steps, std::int64_t dimension) {
  checked(dimension);
  const double l1 = steps_up(steps);
  return {l1, l1, l1, dimension};
}

VectorSensitivity VectorSensitivity::from_linf(Sensitivity steps, std::int64_t dimension) {
  const double d = checked(dimension);
  const double linf = steps_up(steps);
  return {multiply_up(d, linf), multiply_up(sqrt_up(d), linf), linf, dimension};
}

// |x| <= x^2 for integers, so L1 <= L2^2 besides L1 <= sqrt(d) L2.
VectorSensitivity VectorSensitivity::from_l2(double norm, std::int64_t dimension) {
  const double d = checked(dimension);
  if (!(norm >= 1 && std::isfinite(norm))) {
    refuse(fmt::format("the L2 sensitivity is {}; in grid steps it must be finite and at least 1",
                       norm));
  }
  const double l1 = std::min(multiply_up(sqrt_up(d), norm), multiply_up(norm, norm));
  if (!std::isfinite(l1)) refuse(fmt::format("the L2 sensitivity is {}; it is too large", norm));
  return {whole(l1), norm, whole(norm), dimension};
}

VectorSensitivity VectorSensitivity::and_also(const VectorSensitivity& other) const {
  if (other.dimension_ != dimension_) {
    refuse(fmt::format("sensitivities of dimensions {} and {}; they must be of one vector",
                       dimension_, other.dimension_));
  }
  const double l1 = std::min(l1_, other.l1_);
  const double linf = std::min(linf_, other.linf_);
  const double l2 = std::min({l2_, other.l2_, sqrt_up(multiply_up(l1, linf))});
  return {l1, l2, linf, dimension_};
}

DiscreteLaplace calibrate_laplace(const VectorSensitivity& sensitivity, Epsilon epsilon) {
  if (!(epsilon.value() > 0)) refuse("epsilon is 0; no finite noise gives that");
  DiscreteLaplace spec{in_range(divide_up(sensitivity.l1(), epsilon.value()))};
  while (epsilon_up(spec.scale, sensitivity) > epsilon.value())
    spec.scale = numeric::step_up(spec.scale);
  return spec;
}

RoundedGaussian calibrate_gaussian(const VectorSensitivity& sensitivity, Epsilon epsilon,
                                   Delta delta) {
  return {in_range(analytic_gaussian_sigma(sensitivity.l2(), epsilon, delta))};
}

DiscreteGaussian calibrate_zcdp(const VectorSensitivity& sensitivity, Rho rho) {
  if (!(rho.value() > 0)) refuse("rho is 0; no finite noise gives that");
  const double root_down = numeric::sqrt_down(2 * rho.value());
  DiscreteGaussian spec{in_range(divide_up(sensitivity.l2(), root_down))};
  // The event is rounded up twice; it must not end above what was asked for.
  while (rho_up(spec, sensitivity) > rho.value()) spec.sigma = numeric::step_up(spec.sigma);
  return spec;
}

privacy::Event vector_event(const AnyMechanism& spec, const VectorSensitivity& sensitivity) {
  validate(spec);
  return std::visit(EventOfVector{sensitivity}, spec);
}

std::vector<Int128> sample_many(const AnyMechanism& spec, std::size_t count,
                                random::BitSource& bits) {
  validate(spec);
  std::vector<std::int64_t> drawn(count);
  std::visit([&](const auto& member) { sampler_of(member).fill(drawn, bits); }, spec);
  return {drawn.begin(), drawn.end()};
}

std::vector<Int128> add_noise(std::span<const Int128> values, const AnyMechanism& spec,
                              random::BitSource& bits) {
  std::vector<Int128> noisy = sample_many(spec, values.size(), bits);
  for (std::size_t i = 0; i < values.size(); ++i) noisy[i] = saturating_add(values[i], noisy[i]);
  return noisy;
}

// The coordinates are independent: each must stay within w with probability c^(1/d), so it may
// leave with probability 1 - e^(log(c) / d).
Int128 simultaneous_interval(const AnyMechanism& spec, std::int64_t dimension,
                             Confidence confidence) {
  validate(spec);
  const double d = checked(dimension);
  if (dimension == 1) return error_interval(spec, confidence);
  const double share_down = -numeric::expm1_up(divide_up(numeric::log_up(confidence.value()), d));
  const double each = numeric::subtract_up(1, share_down);
  if (!(each < 1)) {
    refuse(
        fmt::format("a confidence of {} for {} coordinates at once is too near certainty; use a "
                    "smaller one",
                    confidence.value(), dimension));
  }
  return error_interval(spec, Confidence(each));
}

double norm_interval(const AnyMechanism& spec, std::int64_t dimension, Confidence confidence) {
  validate(spec);
  const double d = checked(dimension);
  if (dimension == 1)
    return numeric::step_up(static_cast<double>(error_interval(spec, confidence)));
  const double alpha = alpha_down(confidence);
  if (const auto* discrete = std::get_if<DiscreteGaussian>(&spec)) {
    return gaussian_norm_up(discrete->sigma, d, alpha);
  }
  if (const auto* rounded = std::get_if<RoundedGaussian>(&spec)) {
    // Rounding moves a coordinate by at most one half.
    return numeric::add_up(gaussian_norm_up(rounded->sigma, d, alpha), sqrt_up(d) / 2);
  }
  const Int128 width = simultaneous_interval(spec, dimension, confidence);
  return multiply_up(sqrt_up(d), numeric::step_up(static_cast<double>(width)));
}

}  // namespace shoal::mechanism
