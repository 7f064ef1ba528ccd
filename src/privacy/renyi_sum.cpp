#include "privacy/renyi_sum.hpp"

#include "privacy/components.hpp"
#include "privacy/contour.hpp"
#include "privacy/leaves.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/privacy/bounded_range.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/renyi_conversion.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace shoal::privacy {
namespace {

using namespace numeric;  // directed arithmetic reads better bare

// (order - 1) D(order) is convex in the order and 0 at order 1, so a chord is an upper bound.
double table_up(const event::Rdp& table, double order) {
  double before = 0;
  double before_value = 0;
  for (std::size_t i = 0; i < table.orders.size(); ++i) {
    const double here = table.orders[i] - 1;
    const double value = multiply_up(here, table.epsilons[i]);
    if (order == table.orders[i]) return table.epsilons[i];
    if (order - 1 < here) {
      const double share = std::min(1.0, (order - 1 - before) / (here - before) * (1 + 1e-15));
      return divide_up(before_value + share * (value - before_value), order - 1) * (1 + 1e-15);
    }
    before = here;
    before_value = value;
  }
  return HUGE_VAL;
}

// What the charges say, where there are any: epsilon, order rho.
std::function<double(double)> charged(const Event& event, Neighbors neighbors) {
  try {
    const Charge charge = price(event, neighbors);
    if (charge.delta_units > 0) return [](double) { return HUGE_VAL; };
    const double rho = divide_up(static_cast<double>(charge.rho_units), 1e15);
    const double pure = charge.epsilon_units
                            ? divide_up(static_cast<double>(*charge.epsilon_units), 1e12)
                            : HUGE_VAL;
    return [rho, pure](double order) {
      const double by_pure = pure <= kMaxEpsilon ? pure_renyi_up(Epsilon(pure), order) : HUGE_VAL;
      return std::min(by_pure, rho == 0 ? 0 : multiply_up(order, rho));
    };
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported && error.code() != ErrorCode::invalid_argument)
      throw;
    return [](double) { return HUGE_VAL; };
  }
}

// The laws of one direction of a leaf.
struct Moments {
  std::shared_ptr<Contour> contour;
  double infinite = 0;
  bool known = false;
};

Moments moments_of(const Event& event, Neighbors neighbors, Direction direction) {
  const Components components = take_apart(event, neighbors, direction);
  Moments moments;
  moments.known = components.tables.empty() && components.rho == 0 && components.mass_slack == 0;
  std::vector<CountedLaw> laws;
  double kept = 0;
  for (const Component& part : components.parts) {
    moments.known = moments.known && part.upper->smooth();
    kept += part.count * std::log1p(-std::min(part.upper->infinite(), 1.0));
    laws.push_back({part.upper, part.count});
  }
  moments.infinite = -std::expm1(kept) * (1 + 1e-14);
  if (moments.known) moments.contour = std::make_shared<Contour>(laws, components.variance_up);
  return moments;
}

}  // namespace

RenyiSum::RenyiSum(const Event& event, Neighbors neighbors) {
  double kept = 0;
  for (const Leaf& leaf : leaves_of(event)) {
    Part part = part_of(leaf.event, neighbors);
    part.count = leaf.count;
    kept += part.count * std::log1p(-std::min(1.0, part.infinite));
    parts_.push_back(std::move(part));
  }
  infinite_ = std::min(1.0, -std::expm1(kept) * (1 + 1e-14));
}

RenyiSum::Part RenyiSum::part_of(const Event& event, Neighbors neighbors) {
  const auto both = [](Divergence divergence) { return Part{divergence, divergence}; };
  if (const auto* gaussian = std::get_if<event::Gaussian>(&event.node())) {
    const double shift = divide_up(distance(*gaussian, neighbors), gaussian->sigma);
    return both([shift](double order) { return gaussian_renyi_up(shift, order); });
  }
  if (const auto* zcdp = std::get_if<event::Zcdp>(&event.node())) {
    const double rho = zcdp->rho;
    return both([rho](double order) { return rho == 0 ? 0 : multiply_up(order, rho); });
  }
  if (const auto* table = std::get_if<event::Rdp>(&event.node())) {
    orders_.insert(orders_.end(), table->orders.begin(), table->orders.end());
    return both([table = *table](double order) { return table_up(table, order); });
  }
  if (const auto* range = std::get_if<event::Exponential>(&event.node());
      range != nullptr && range->epsilon <= kMaxEpsilon) {
    const Epsilon epsilon(range->epsilon);
    return both([epsilon](double order) { return bounded_range_renyi_up(epsilon, order); });
  }
  const Moments removed = moments_of(event, neighbors, Direction::removed);
  const Moments added =
      symmetric(event, neighbors) ? removed : moments_of(event, neighbors, Direction::added);
  const Divergence by_charge = charged(event, neighbors);
  if (!removed.known || !added.known) return both(by_charge);
  Divergence finite = [removed, added, by_charge](double order) {
    const double charge = by_charge(order);
    if (!std::isfinite(order)) return charge;
    const double c = subtract_down(order, 1);
    const double moment =
        std::max(removed.contour->log_moment_up(c), added.contour->log_moment_up(c));
    return std::min(std::max(0.0, divide_up(moment, c)), charge);
  };
  const double infinite = std::max(removed.infinite, added.infinite);
  // Discrete noise has its last few outputs at infinity only because they were not summed: its
  // charge knows better.
  return {infinite > 0 ? by_charge : finite, finite, infinite};
}

double RenyiSum::divergence_up(double order) const {
  double sum = 0;
  for (const Part& part : parts_) {
    sum = add_up(sum, multiply_up(part.count, part.whole(order)));
  }
  return std::isnan(sum) ? HUGE_VAL : sum;
}

double RenyiSum::finite_up(double order) const {
  double sum = 0;
  for (const Part& part : parts_) {
    sum = add_up(sum, multiply_up(part.count, part.finite(order)));
  }
  return std::isnan(sum) ? HUGE_VAL : sum;
}

namespace {

// Any order gives a bound; the best is looked for by golden section in ln(order - 1), and at the
// orders that are given.
template <class Bound>
double best_order(const std::vector<double>& given, Bound bound) {
  double best = HUGE_VAL;
  const auto at = [&](double order) {
    const double value = bound(order);
    if (value < best) best = value;
    return std::isnan(value) ? HUGE_VAL : value;
  };
  double limit = 1e5;
  for (const double order : given) at(order);
  if (!given.empty()) limit = std::min(limit, *std::max_element(given.begin(), given.end()) - 1);
  double low = std::log(1e-4);
  double high = std::log(limit);
  constexpr double kRatio = 0.6180339887498949;
  const auto inside = [&](double part) { return low + part * (high - low); };
  double left = inside(1 - kRatio);
  double right = inside(kRatio);
  double at_left = at(1 + std::exp(left));
  double at_right = at(1 + std::exp(right));
  for (int turn = 0; turn < 50; ++turn) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = inside(1 - kRatio);
      at_left = at(1 + std::exp(left));
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = inside(kRatio);
      at_right = at(1 + std::exp(right));
    }
  }
  return best;
}

}  // namespace

double RenyiSum::epsilon_up(double delta) const {
  const double left = subtract_down(delta, infinite_);
  if (!(left > 0)) return HUGE_VAL;
  return best_order(orders_, [&](double order) {
    return epsilon_of_renyi_up(RenyiBound{order, finite_up(order)}, Delta(left));
  });
}

double RenyiSum::delta_up(double epsilon) const {
  const double finite = best_order(orders_, [&](double order) {
    return delta_of_renyi_up(RenyiBound{order, finite_up(order)}, epsilon);
  });
  return std::min(1.0, add_up(finite, infinite_));
}

}  // namespace shoal::privacy
