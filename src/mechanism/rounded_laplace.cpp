#include "mechanism/noise_spec.hpp"
#include "mechanism/parameter_json.hpp"

#include <shoal/base/text.hpp>
#include <shoal/mechanism/rounded_laplace.hpp>
#include <shoal/random/rounded_laplace.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "rounded_laplace";
constexpr std::string_view kParameter = "scale";

}  // namespace

void validate(const RoundedLaplace& spec) { random::check_scale(spec.scale, kParameter); }

Int128 sample(const RoundedLaplace& spec, random::BitSource& bits) {
  validate(spec);
  return random::sample_rounded_laplace(spec.scale, bits);
}

// P(0) = 1 - e^-h and P(x) = e^(-|x| / scale) sinh(h), for h = 1 / (2 scale).
double log_pmf(const RoundedLaplace& spec, Int128 x) {
  validate(spec);
  const double half = 0.5 / spec.scale;
  if (x == 0) return half > 1 ? std::log1p(-std::exp(-half)) : std::log(-std::expm1(-half));
  const double log_sinh = half > 1 ? half + std::log1p(-std::exp(-2 * half)) - std::numbers::ln2
                                   : std::log(std::sinh(half));
  return log_sinh - std::fabs(static_cast<double>(x)) / spec.scale;
}

privacy::Event privacy_event(const RoundedLaplace& spec, Sensitivity sensitivity) {
  validate(spec);
  return privacy::event::Laplace{spec.scale, steps_up(sensitivity)};
}

// P(|X| > w) = P(|b| > w + 1/2) = e^(-(w + 1/2) / scale), which is at most alpha from
// w = scale * log(1 / alpha) - 1/2 on.
Int128 error_interval(const RoundedLaplace& spec, Confidence confidence) {
  validate(spec);
  const double log_up = -numeric::log_down(alpha_down(confidence));
  const double width_up =
      std::ceil(numeric::subtract_up(numeric::multiply_up(spec.scale, log_up), 0.5));
  return std::max<Int128>(static_cast<Int128>(width_up), 0);
}

AuditTarget audit_target(const RoundedLaplace& spec, Sensitivity sensitivity) {
  validate(spec);
  return {sensitivity.steps()};
}

std::string_view name(const RoundedLaplace&) { return kName; }

std::string describe(const RoundedLaplace& spec) {
  return fmt::format("rounded Laplace noise, scale {} grid steps", format_number(spec.scale));
}

std::string to_json(const RoundedLaplace& spec) {
  validate(spec);
  return parameter_to_json(kName, kParameter, spec.scale);
}

void from_json(std::string_view text, RoundedLaplace& spec) {
  const RoundedLaplace read{parameter_from_json(text, kName, kParameter)};
  validate_read(read);
  spec = read;
}

}  // namespace shoal::mechanism
