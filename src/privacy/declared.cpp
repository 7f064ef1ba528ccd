#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/declared.hpp>

#include <algorithm>

namespace shoal::privacy {
namespace {

// Only amounts: an event that names its noise promises more than its price.
bool is_declared(const Event& event) {
  const auto* compose = std::get_if<event::Compose>(&event.node());
  if (!compose) return false;
  return std::all_of(compose->events.begin(), compose->events.end(), [](const Event& one) {
    if (const auto* failing = std::get_if<event::EpsilonDelta>(&one.node())) {
      return failing->epsilon == 0;
    }
    return std::holds_alternative<event::Pure>(one.node()) ||
           std::holds_alternative<event::Zcdp>(one.node());
  });
}

}  // namespace

Event declared(const Limit& limit) {
  event::Compose compose;
  if (limit.epsilon_units) {
    compose.events.push_back(
        event::Pure{numeric::decimal_from_units(*limit.epsilon_units, kEpsilonDecimals)});
  } else {
    compose.events.push_back(
        event::Zcdp{numeric::decimal_from_units(limit.rho_units, kRhoDecimals)});
  }
  if (limit.delta_units > 0) {
    compose.events.push_back(
        event::EpsilonDelta{0, numeric::decimal_from_units(limit.delta_units, kDeltaDecimals)});
  }
  return compose;
}

bool covers(const Event& reserved, const Event& actual, Neighbors neighbors) {
  if (reserved == actual) return true;
  if (!is_declared(reserved)) return false;
  const Charge most = price(reserved, neighbors);
  const Charge cost = price(actual, neighbors);
  if (cost.delta_units > most.delta_units) return false;
  if (most.epsilon_units) return cost.epsilon_units && *cost.epsilon_units <= *most.epsilon_units;
  return cost.rho_units <= most.rho_units;
}

}  // namespace shoal::privacy
