#include <shoal/base/error.hpp>
#include <shoal/mechanism/gaussian_calibration.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/numeric/mills_ratio.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace shoal::mechanism {
namespace {

void require_delta(Delta delta) {
  if (delta.value() > 0) return;
  throw Error(ErrorCode::invalid_argument,
              "delta is 0; Gaussian noise needs a positive delta, so use Laplace noise instead");
}

void require_sensitivity(double sensitivity) {
  if (sensitivity > 0 && std::isfinite(sensitivity)) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the L2 sensitivity is {}; it must be finite and above 0", sensitivity));
}

// delta at sensitivity 1 in plain doubles: a guess to start from.
double rough_delta(double sigma, double epsilon) {
  const double u = epsilon * sigma - 0.5 / sigma;
  const double v = epsilon * sigma + 0.5 / sigma;
  const double height = std::exp(-u * u / 2) / std::sqrt(2 * std::numbers::pi);
  const double at_v = numeric::mills_ratio(v);
  return u >= 0 ? height * (numeric::mills_ratio(u) - at_v)
                : 1 - height * (numeric::mills_ratio(-u) + at_v);
}

double rough_sigma(double epsilon, double delta) {
  double low = 0x1p-40;
  double high = 0x1p+1000;
  for (int i = 0; i < 1200 && high / low > 1 + 1e-14; ++i) {
    const double middle = std::sqrt(low) * std::sqrt(high);
    (rough_delta(middle, epsilon) <= delta ? high : low) = middle;
  }
  return high;
}

// A step of Newton's method on the logarithms, from a delta that is right in all digits: the rough
// one loses a few, and every candidate that is tried afterwards costs a certified delta.
double refined_sigma(double sigma, double sensitivity, double epsilon, double delta) {
  const double exact = numeric::gaussian_delta_up(sigma, sensitivity, epsilon);
  const double sigma_of_one = sigma / sensitivity;
  constexpr double kStep = 1e-4;
  const double slope = std::log(rough_delta(sigma_of_one * (1 + kStep), epsilon) /
                                rough_delta(sigma_of_one * (1 - kStep), epsilon)) /
                       (2 * kStep);
  const double refined = sigma * (1 + std::log(delta / exact) / slope);
  // Where rough deltas say nothing, the guess stays; a bad one costs time, no more.
  return std::fabs(refined / sigma - 1) < 1e-9 ? refined : sigma;
}

// The smallest double at which `enough` holds, near a guess; enough must hold from some point on.
// Positive doubles are ordered as their bit patterns; `stride` is how many of them the guess may
// well be off.
template <class Enough>
double smallest(double guess, std::int64_t stride, double least, double most,
                const Enough& enough) {
  const auto ordinal = [](double x) { return std::bit_cast<std::int64_t>(x); };
  const std::int64_t floor = ordinal(least);
  const std::int64_t ceiling = ordinal(most);
  std::int64_t high = std::clamp(ordinal(guess), floor, ceiling);
  std::int64_t low = high;
  constexpr std::int64_t kLongestStride = std::int64_t{1} << 56;
  if (enough(std::bit_cast<double>(high))) {
    while (low > floor) {
      low = low - floor < stride ? floor : low - stride;
      if (!enough(std::bit_cast<double>(low))) break;
      high = low;
      stride = std::min(16 * stride, kLongestStride);
    }
    if (low == high) return least;
  } else {
    do {
      low = high;
      if (high == ceiling) return std::numeric_limits<double>::infinity();
      high = ceiling - high < stride ? ceiling : high + stride;
      stride = std::min(16 * stride, kLongestStride);
    } while (!enough(std::bit_cast<double>(high)));
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (enough(std::bit_cast<double>(middle)) ? high : low) = middle;
  }
  return std::bit_cast<double>(high);
}

}  // namespace

double analytic_gaussian_sigma(double l2_sensitivity, Epsilon epsilon, Delta delta) {
  require_delta(delta);
  require_sensitivity(l2_sensitivity);
  constexpr double kLeast = std::numeric_limits<double>::min();
  constexpr double kMost = std::numeric_limits<double>::max();
  const double rough =
      std::clamp(rough_sigma(epsilon.value(), delta.value()) * l2_sensitivity, kLeast, kMost);
  const double guess = refined_sigma(rough, l2_sensitivity, epsilon.value(), delta.value());
  const double sigma = smallest(guess, 2, kLeast, kMost, [&](double candidate) {
    return numeric::gaussian_delta_up(candidate, l2_sensitivity, epsilon.value()) <= delta.value();
  });
  if (std::isfinite(sigma)) return sigma;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("epsilon {} and delta {} need more noise than a double can say; use larger "
                  "ones",
                  epsilon.value(), delta.value()));
}

double discrete_gaussian_sigma(Sensitivity sensitivity, Epsilon epsilon, Delta delta) {
  require_delta(delta);
  const double sigma = smallest(
      rough_sigma(epsilon.value(), delta.value()) * static_cast<double>(sensitivity.steps()),
      1 << 12, random::kMinScale, random::kMaxScale, [&](double candidate) {
        return numeric::discrete_gaussian_delta_up(candidate, sensitivity.steps(),
                                                   epsilon.value()) <= delta.value();
      });
  if (std::isfinite(sigma)) return sigma;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("epsilon {} and delta {} at sensitivity {} need a sigma above 2^50; use "
                          "larger ones or a coarser grid",
                          epsilon.value(), delta.value(), sensitivity.steps()));
}

double classic_gaussian_sigma(double l2_sensitivity, Epsilon epsilon, Delta delta) {
  require_delta(delta);
  require_sensitivity(l2_sensitivity);
  if (!(epsilon.value() > 0 && epsilon.value() < 1)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("epsilon is {}; the classic bound holds above 0 and below 1 only, so use "
                    "analytic_gaussian_sigma",
                    epsilon.value()));
  }
  const double log_up = numeric::log_up(numeric::divide_up(1.25, delta.value()));
  const double root_up = numeric::sqrt_up(numeric::multiply_up(2, log_up));
  return numeric::divide_up(numeric::multiply_up(root_up, l2_sensitivity), epsilon.value());
}

}  // namespace shoal::mechanism
