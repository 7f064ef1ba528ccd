#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/odometer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::privacy {
namespace {

using namespace numeric;  // directed arithmetic reads better bare

constexpr double kInfinite = std::numeric_limits<double>::infinity();

void validate(const Odometer& odometer) {
  if (!(odometer.delta.value() > 0)) {
    throw Error(ErrorCode::invalid_argument,
                "the odometer's delta is 0; it must be above 0 (without one, only the sum of pure "
                "epsilons can be stated)");
  }
  if (!(odometer.start > 0 && std::isfinite(odometer.start))) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the odometer's start is {}; it must be finite and above 0", odometer.start));
  }
}

// rho + sqrt(2 (v + g) (ln(1 / delta) + ln((v + g) / g) / 2)) with v = 2 rho and g = 2 start.
double mixture_up(const Odometer& odometer, double rho) {
  const double from = 2 * odometer.start;  // exact, or infinite
  const double reach = add_up(2 * rho, from);
  const double log_growth = log_up(divide_up(reach, from)) / 2;
  const double log_term = add_up(-log_down(odometer.delta.value()), log_growth);
  return add_up(rho, sqrt_up(multiply_up(2, multiply_up(reach, log_term))));
}

}  // namespace

Odometer odometer_for(Rho rho, Delta delta, Delta failures) {
  if (!(rho.value() > 0)) {
    throw Error(ErrorCode::invalid_argument,
                "an odometer for rho 0 has nothing to state; give the rho that is expected");
  }
  const double log_term = -2 * std::log(delta.value());
  const Odometer odometer{delta, failures, rho.value() / (log_term + std::log1p(log_term))};
  validate(odometer);
  return odometer;
}

double epsilon_at(const Odometer& odometer, const Charge& total) {
  validate(odometer);
  const double aside = odometer.failures.value();
  if (total.delta_units > 0 && total.delta_units > decimal_units_down(aside, kDeltaDecimals))
    return kInfinite;
  const double mixture = mixture_up(odometer, from_units_up(total.rho_units, kRhoDecimals));
  if (!total.epsilon_units) return mixture;
  return std::min(from_units_up(*total.epsilon_units, kEpsilonDecimals), mixture);
}

}  // namespace shoal::privacy
