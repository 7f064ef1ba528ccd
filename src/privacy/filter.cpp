#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/conversion.hpp>
#include <shoal/privacy/filter.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace shoal::privacy {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::int64_t budget_units(Epsilon epsilon) {
  return numeric::decimal_units_down(epsilon.value(), kEpsilonDecimals);
}

// Compared in units, so that failures of exactly what was set aside fit.
bool failures_fit(const Budget& budget, const Charge& total) {
  if (total.delta_units == 0) return true;
  const double aside = std::min(budget.failures, budget.delta).value();
  return total.delta_units <= numeric::decimal_units_down(aside, kDeltaDecimals);
}

// What is left of delta for the conversion, whether or not failures used up their part.
Delta conversion_delta(const Budget& budget) {
  if (budget.failures.value() == 0) return budget.delta;
  return Delta(
      std::max(0.0, numeric::subtract_down(budget.delta.value(), budget.failures.value())));
}

bool pure_fits(const Budget& budget, const Charge& total) {
  return total.epsilon_units && *total.epsilon_units <= budget_units(budget.epsilon);
}

double epsilon_by_rho(const Charge& total, Delta delta) {
  return epsilon_of_rho_up(Rho(numeric::from_units_up(total.rho_units, kRhoDecimals)), delta);
}

// Whether the Gaussian of that mu is (epsilon, delta)-private.
bool gaussian_holds(double mu, double epsilon, Delta delta) {
  return numeric::gaussian_delta_up(1, mu, epsilon) <= delta.value();
}

double total_mu_up(const Charge& total) {
  const double half_square = numeric::from_units_up(*total.gaussian_units, kRhoDecimals);
  return numeric::sqrt_up(numeric::multiply_up(2, half_square));
}

double epsilon_by_mu(const Charge& total, Delta delta) {
  if (!total.gaussian_units) return kInfinite;
  if (*total.gaussian_units == 0) return 0;
  if (delta.value() == 0) return kInfinite;
  const double mu = total_mu_up(total);
  double low = 0;
  double high = 1;
  while (!gaussian_holds(mu, high, delta)) {
    low = high;
    high *= 2;
    if (high > 1e9) return kInfinite;
  }
  // To one part in 10^12, from above: `high` always holds.
  while (high - low > 1e-12 * high) {
    const double middle = low + (high - low) / 2;
    (gaussian_holds(mu, middle, delta) ? high : low) = middle;
  }
  return high;
}

bool converted_fits(const Budget& budget, const Charge& total) {
  const Delta delta = conversion_delta(budget);
  if (delta.value() == 0) return false;
  if (budget.rule == Rule::zcdp) return epsilon_by_rho(total, delta) <= budget.epsilon.value();
  return total.gaussian_units && gaussian_holds(total_mu_up(total), budget.epsilon.value(), delta);
}

}  // namespace

std::string_view to_string(Rule rule) { return rule == Rule::zcdp ? "zcdp" : "gaussian"; }

Rule parse_rule(std::string_view text) {
  for (const Rule rule : {Rule::zcdp, Rule::gaussian}) {
    if (text == to_string(rule)) return rule;
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("\"{}\" is no rule of a budget; use zcdp or gaussian", text));
}

Budget smaller(const Budget& held, const Budget& asked) {
  return {std::min(held.epsilon, asked.epsilon), std::min(held.delta, asked.delta), held.failures,
          held.rule};
}

bool fits(const Budget& budget, const Charge& total) {
  return failures_fit(budget, total) && (pure_fits(budget, total) || converted_fits(budget, total));
}

double epsilon_spent_up(const Budget& budget, const Charge& total) {
  if (!failures_fit(budget, total)) return kInfinite;
  const Delta delta = conversion_delta(budget);
  const double converted =
      budget.rule == Rule::zcdp ? epsilon_by_rho(total, delta) : epsilon_by_mu(total, delta);
  if (!total.epsilon_units) return converted;
  return std::min(numeric::decimal_from_units(*total.epsilon_units, kEpsilonDecimals), converted);
}

double epsilon_left_down(const Budget& budget, const Charge& total) {
  const std::int64_t most = budget_units(budget.epsilon);
  const auto one_more_fits = [&](std::int64_t units) {
    const event::Pure one{numeric::decimal_from_units(units, kEpsilonDecimals)};
    return fits(budget, add(total, price(one, Neighbors::add_remove)));
  };
  // Whether one more fits only ever changes from yes to no as it grows: bisect on whole units.
  if (one_more_fits(most)) return numeric::decimal_from_units(most, kEpsilonDecimals);
  std::int64_t low = 0;
  std::int64_t high = most;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (one_more_fits(middle) ? low : high) = middle;
  }
  return numeric::decimal_from_units(low, kEpsilonDecimals);
}

}  // namespace shoal::privacy
