#include "mechanism/noise_spec.hpp"
#include "mechanism/parameter_json.hpp"

#include <shoal/base/text.hpp>
#include <shoal/mechanism/rounded_gaussian.hpp>
#include <shoal/numeric/mills_ratio.hpp>
#include <shoal/numeric/normal.hpp>
#include <shoal/random/rounded_normal.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "rounded_gaussian";
constexpr std::string_view kParameter = "sigma";

}  // namespace

void validate(const RoundedGaussian& spec) { random::check_scale(spec.sigma, kParameter); }

Int128 sample(const RoundedGaussian& spec, random::BitSource& bits) {
  validate(spec);
  return random::sample_rounded_normal(spec.sigma, bits);
}

double log_pmf(const RoundedGaussian& spec, Int128 x) {
  validate(spec);
  const double half = 0.5 / spec.sigma;
  if (x == 0) {
    return half > 1 ? std::log1p(-std::erfc(half / std::numbers::sqrt2))
                    : std::log(std::erf(half / std::numbers::sqrt2));
  }
  return numeric::log_normal_cell(std::fabs(static_cast<double>(x)) / spec.sigma, half);
}

privacy::Event privacy_event(const RoundedGaussian& spec, Sensitivity sensitivity) {
  validate(spec);
  return privacy::event::Gaussian{spec.sigma, steps_up(sensitivity)};
}

// P(|X| > w) = P(|b| > w + 1/2), which is at most alpha from w = sigma z - 1/2 on, z the two-sided
// quantile.
Int128 error_interval(const RoundedGaussian& spec, Confidence confidence) {
  validate(spec);
  const double z_up = numeric::two_sided_normal_quantile_up(alpha_down(confidence));
  const double width_up =
      std::ceil(numeric::subtract_up(numeric::multiply_up(spec.sigma, z_up), 0.5));
  return std::max<Int128>(static_cast<Int128>(width_up), 0);
}

AuditTarget audit_target(const RoundedGaussian& spec, Sensitivity sensitivity) {
  validate(spec);
  return {sensitivity.steps()};
}

std::string_view name(const RoundedGaussian&) { return kName; }

std::string describe(const RoundedGaussian& spec) {
  return fmt::format("rounded Gaussian noise, sigma {} grid steps", format_number(spec.sigma));
}

std::string to_json(const RoundedGaussian& spec) {
  validate(spec);
  return parameter_to_json(kName, kParameter, spec.sigma);
}

void from_json(std::string_view text, RoundedGaussian& spec) {
  const RoundedGaussian read{parameter_from_json(text, kName, kParameter)};
  validate_read(read);
  spec = read;
}

}  // namespace shoal::mechanism
