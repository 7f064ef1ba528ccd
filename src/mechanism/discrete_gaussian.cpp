#include "mechanism/noise_spec.hpp"
#include "mechanism/parameter_json.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/discrete_gaussian.hpp>
#include <shoal/numeric/normal.hpp>
#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "discrete_gaussian";
constexpr std::string_view kParameter = "sigma";

// Up to this sigma the interval comes from the sum of the pmf, beyond it from the normal tail,
// which costs about one grid step of width.
constexpr double kMaxSummedSigma = 64;

// From this sigma on the sum of exp(-x^2 / (2 sigma^2)) is sigma sqrt(2 pi) up to a factor 1 + 2
// e^(-19 * 16).
constexpr double kMinSmoothSigma = 4;

double log_weight(double sigma, double x) {
  const double ratio = x / sigma;
  return -0.5 * ratio * ratio;
}

double log_normaliser(double sigma) {
  if (sigma >= kMinSmoothSigma) return std::log(sigma * std::sqrt(2 * std::numbers::pi));
  double total = 0;
  // Smallest first; e^-800 and all beyond is zero beside 1.
  for (int x = static_cast<int>(std::ceil(40 * sigma)); x > 0; --x) {
    total += 2 * std::exp(log_weight(sigma, x));
  }
  return std::log1p(total);
}

// Bounds of exp(-x^2 / (2 sigma^2)). x^2 is exact: x is an integer below 2^26.
double weight_up(double sigma, double x) {
  const double two_variance_up = 2 * numeric::multiply_up(sigma, sigma);
  return numeric::exp_up(-numeric::divide_down(x * x, two_variance_up));
}

double weight_down(double sigma, double x) {
  const double two_variance_down = 2 * numeric::multiply_down(sigma, sigma);
  return numeric::exp_down(-numeric::divide_up(x * x, two_variance_down));
}

// The smallest w whose certified tail is at most alpha: walks inwards from where nothing counts any
// more.
Int128 summed_interval(double sigma, double alpha) {
  const int last = static_cast<int>(std::ceil(16 * sigma));
  double normaliser_down = 0;
  for (int x = last; x > 0; --x) {
    normaliser_down = numeric::add_down(normaliser_down, weight_down(sigma, x));
  }
  normaliser_down = numeric::add_down(1, 2 * normaliser_down);
  const double allowed_down = numeric::multiply_down(alpha, normaliser_down);
  // Beyond `last` the weights fall at least as fast as a geometric series of ratio e^(-16/64): the
  // sum of them is below 8 times the first.
  double tail_up = 8 * weight_up(sigma, last + 1);
  int w = last;
  while (w > 0) {
    tail_up = numeric::add_up(tail_up, weight_up(sigma, w));
    if (2 * tail_up > allowed_down) break;
    --w;
  }
  return w;
}

}  // namespace

void validate(const DiscreteGaussian& spec) { random::check_scale(spec.sigma, kParameter); }

Int128 sample(const DiscreteGaussian& spec, random::BitSource& bits) {
  return random::sample_discrete_gaussian(spec.sigma, bits);
}

double log_pmf(const DiscreteGaussian& spec, Int128 x) {
  validate(spec);
  return log_weight(spec.sigma, static_cast<double>(x)) - log_normaliser(spec.sigma);
}

privacy::Event privacy_event(const DiscreteGaussian& spec, Sensitivity sensitivity) {
  validate(spec);
  return privacy::event::DiscreteGaussian{spec.sigma, steps_up(sensitivity)};
}

Int128 error_interval(const DiscreteGaussian& spec, Confidence confidence) {
  validate(spec);
  const double alpha = alpha_down(confidence);
  if (spec.sigma <= kMaxSummedSigma) return summed_interval(spec.sigma, alpha);
  const double z_up = numeric::two_sided_normal_quantile_up(alpha);
  return static_cast<Int128>(std::ceil(numeric::multiply_up(spec.sigma, z_up)));
}

AuditTarget audit_target(const DiscreteGaussian& spec, Sensitivity sensitivity) {
  validate(spec);
  return {sensitivity.steps()};
}

std::string_view name(const DiscreteGaussian&) { return kName; }

std::string describe(const DiscreteGaussian& spec) {
  return fmt::format("discrete Gaussian noise, sigma {} grid steps", format_number(spec.sigma));
}

std::string to_json(const DiscreteGaussian& spec) {
  validate(spec);
  return parameter_to_json(kName, kParameter, spec.sigma);
}

void from_json(std::string_view text, DiscreteGaussian& spec) {
  const DiscreteGaussian read{parameter_from_json(text, kName, kParameter)};
  validate_read(read);
  spec = read;
}

}  // namespace shoal::mechanism
