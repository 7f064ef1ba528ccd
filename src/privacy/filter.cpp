#include <shoal/numeric/units.hpp>
#include <shoal/privacy/conversion.hpp>
#include <shoal/privacy/filter.hpp>

#include <algorithm>

namespace shoal::privacy {
namespace {

std::int64_t budget_units(Epsilon epsilon) {
  return numeric::decimal_units_down(epsilon.value(), kEpsilonDecimals);
}

double epsilon_by_rho(const Charge& total, Delta delta) {
  return epsilon_of_rho_up(Rho(numeric::from_units_up(total.rho_units, kRhoDecimals)), delta);
}

bool pure_fits(const Budget& budget, const Charge& total) {
  return total.epsilon_units && *total.epsilon_units <= budget_units(budget.epsilon);
}

bool zcdp_fits(const Budget& budget, const Charge& total) {
  return budget.delta.value() > 0 && epsilon_by_rho(total, budget.delta) <= budget.epsilon.value();
}

}  // namespace

bool fits(const Budget& budget, const Charge& total) {
  return pure_fits(budget, total) || zcdp_fits(budget, total);
}

double epsilon_spent_up(const Charge& total, Delta delta) {
  const double by_rho = epsilon_by_rho(total, delta);
  if (!total.epsilon_units) return by_rho;
  return std::min(numeric::decimal_from_units(*total.epsilon_units, kEpsilonDecimals), by_rho);
}

double epsilon_left_down(const Budget& budget, const Charge& total) {
  const std::int64_t most = budget_units(budget.epsilon);
  const auto one_more_fits = [&](std::int64_t units) {
    const double epsilon = numeric::decimal_from_units(units, kEpsilonDecimals);
    return fits(budget, add(total, price(event::Pure{epsilon})));
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
