#include "mechanism/noise_spec.hpp"
#include "mechanism/parameter_json.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/discrete_laplace.hpp>
#include <shoal/random/discrete_laplace.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "discrete_laplace";
constexpr std::string_view kParameter = "scale";

}  // namespace

void validate(const DiscreteLaplace& spec) { random::check_scale(spec.scale, kParameter); }

Int128 sample(const DiscreteLaplace& spec, random::BitSource& bits) {
  return random::sample_discrete_laplace(spec.scale, bits);
}

double log_pmf(const DiscreteLaplace& spec, Int128 x) {
  validate(spec);
  // (1 - q) / (1 + q) = tanh(h) for h = 1 / (2 scale), and 1 - tanh(h) = 2 / (e^2h + 1), which
  // keeps its digits where tanh is almost 1.
  const double half = 0.5 / spec.scale;
  const double log_centre =
      half > 0.5 ? std::log1p(-2 / (std::exp(2 * half) + 1)) : std::log(std::tanh(half));
  return log_centre - std::fabs(static_cast<double>(x)) / spec.scale;
}

privacy::Event privacy_event(const DiscreteLaplace& spec, Sensitivity sensitivity) {
  validate(spec);
  return privacy::event::DiscreteLaplace{spec.scale, steps_up(sensitivity)};
}

// P(|X| > w) = 2 q^(w+1) / (1 + q), which is at most alpha from w + 1 >= scale * log(2 / ((1 + q)
// alpha)) on.
Int128 error_interval(const DiscreteLaplace& spec, Confidence confidence) {
  validate(spec);
  const double q_down = numeric::exp_down(-numeric::divide_up(1, spec.scale));
  const double divisor_down =
      numeric::multiply_down(numeric::add_down(1, q_down), alpha_down(confidence));
  const double log_ratio_up = numeric::log_up(numeric::divide_up(2, divisor_down));
  const double width_up = std::ceil(numeric::multiply_up(spec.scale, log_ratio_up));
  return std::max<Int128>(static_cast<Int128>(width_up) - 1, 0);
}

AuditTarget audit_target(const DiscreteLaplace& spec, Sensitivity sensitivity) {
  validate(spec);
  return {sensitivity.steps()};
}

std::string_view name(const DiscreteLaplace&) { return kName; }

std::string describe(const DiscreteLaplace& spec) {
  return fmt::format("discrete Laplace noise, scale {} grid steps", format_number(spec.scale));
}

std::string to_json(const DiscreteLaplace& spec) {
  validate(spec);
  return parameter_to_json(kName, kParameter, spec.scale);
}

void from_json(std::string_view text, DiscreteLaplace& spec) {
  const DiscreteLaplace read{parameter_from_json(text, kName, kParameter)};
  validate_read(read);
  spec = read;
}

}  // namespace shoal::mechanism
