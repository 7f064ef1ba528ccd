#include <shoal/audit/hockey_stick.hpp>
#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <cmath>

namespace shoal::audit {
namespace {

// Sum of P(x) - e^epsilon Q(x) where that is positive, relative to P(x) so that no digits cancel.
double positive_part(double log_p, double log_q, double epsilon) {
  const double log_ratio = epsilon + log_q - log_p;
  return log_ratio < 0 ? -std::exp(log_p) * std::expm1(log_ratio) : 0.0;
}

}  // namespace

HockeyStick hockey_stick(const LogPmf& log_pmf, Int128 shift, Int128 radius, double epsilon) {
  if (shift <= 0 || radius < 0 || std::isnan(epsilon)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("shift {}, radius {}, epsilon {}; give a positive shift and a number",
                            to_string(shift), to_string(radius), epsilon));
  }
  if (shift > kMaxSummands || radius > kMaxSummands || shift + 2 * radius > kMaxSummands) {
    throw Error(ErrorCode::unsupported,
                fmt::format("a sum over {} values; at most {} are summed, so audit a smaller scale",
                            to_string(saturating_add(shift, saturating_multiply(2, radius))),
                            kMaxSummands));
  }
  HockeyStick sum{0, 0};
  for (Int128 x = -radius; x <= radius + shift; ++x) {
    const double log_low = log_pmf(x);
    const double log_high = log_pmf(x - shift);
    sum.forward += positive_part(log_high, log_low, epsilon);
    sum.backward += positive_part(log_low, log_high, epsilon);
  }
  return sum;
}

HockeyStick hockey_stick(const mechanism::AnyMechanism& spec, Sensitivity sensitivity,
                         double epsilon) {
  // Four times the interval of 1 - 10^-6 leaves less than 10^-20 outside: a tail that falls
  // geometrically falls to its fourth power there, and a Gaussian one further.
  const Int128 radius = 4 * error_interval(spec, Confidence(1 - 1e-6)) + 4;
  const Int128 shift = audit_target(spec, sensitivity).shift;
  return hockey_stick([&spec](Int128 x) { return log_pmf(spec, x); }, shift, radius, epsilon);
}

}  // namespace shoal::audit
