#include "privacy/two_way.hpp"

#include "privacy/curve_law.hpp"
#include "privacy/logarithms.hpp"

#include <shoal/numeric/directed.hpp>
#include <shoal/privacy/bounded_range.hpp>
#include <shoal/privacy/composition.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace shoal::privacy {
namespace {

double log_down(double value) { return value > 0 ? numeric::log_down(value) : -HUGE_VAL; }
double log_up(double value) { return value > 0 ? numeric::log_up(value) : -HUGE_VAL; }

std::vector<CountedLaw> laws_of(const Components& components, bool upper) {
  std::vector<CountedLaw> laws;
  for (const Component& part : components.parts) {
    const LawPointer& law = upper ? part.upper : part.lower;
    if (law) laws.push_back({law, part.count});
  }
  return laws;
}

bool both_alike(const Components& components) {
  return components.rho == 0 && components.tables.empty() &&
         std::all_of(components.parts.begin(), components.parts.end(),
                     [](const Component& part) { return part.upper == part.lower; });
}

// (order - 1) times the Renyi divergence of order 1 + c, from the table: convex in c and 0 at 0, so
// a chord is an upper bound. Infinite beyond the largest order.
double table_log_moment(const RenyiTable& table, double c) {
  double before = 0;
  double before_value = 0;
  for (std::size_t i = 0; i < table.orders.size(); ++i) {
    const double here = table.orders[i] - 1;
    const double value = here * table.epsilons[i];
    if (c <= here) {
      const double share = (c - before) / (here - before);
      return table.count * (before_value + share * (value - before_value)) * (1 + 8 * kRounding);
    }
    before = here;
    before_value = value;
  }
  return HUGE_VAL;
}

}  // namespace

DirectedProfile::DirectedProfile(Components components, const ProfileOptions& options, bool quick)
    : components_(std::move(components)),
      upper_(laws_of(components_, true), components_.variance_up, components_.variance_down,
             options, quick) {
  if (!both_alike(components_)) {
    // Gaussian noise of mu = sqrt(2 rho) is rho-zCDP: what zCDP allows is at least as bad.
    const double extra = 2 * components_.rho * (1 - 1e-15);
    lower_ = std::make_unique<SumProfile>(
        laws_of(components_, false), components_.variance_down + extra,
        (components_.variance_down + extra) * (1 - 1e-15), options, quick);
  }
}

bool DirectedProfile::has_uniform_formula() const {
  if (!components_.uniform || components_.uniform->epsilon > kMaxEpsilon) return false;
  const bool response = components_.uniform->kind == UniformSteps::Kind::randomized_response;
  const std::int64_t most = response ? kMaxCount : kMaxBoundedRangeCount;
  return components_.uniform_count <= static_cast<double>(most);
}

std::optional<LogBounds> DirectedProfile::uniform_log_delta(double epsilon) const {
  if (!has_uniform_formula()) return std::nullopt;
  const auto count = static_cast<std::int64_t>(components_.uniform_count);
  const UniformSteps& steps = *components_.uniform;
  if (steps.kind == UniformSteps::Kind::randomized_response) {
    const Bounds bounds =
        optimal_composition_log_delta({steps.epsilon, steps.delta}, count, epsilon);
    return LogBounds{bounds.lower, bounds.upper};
  }
  const Bounds delta = bounded_range_delta(Epsilon(steps.epsilon), count, epsilon);
  return LogBounds{log_down(delta.lower), log_up(delta.upper)};
}

std::optional<Bounds> DirectedProfile::uniform_epsilon(double log_delta,
                                                       const std::optional<Delta>& delta) const {
  if (!has_uniform_formula()) return std::nullopt;
  const auto count = static_cast<std::int64_t>(components_.uniform_count);
  const UniformSteps& steps = *components_.uniform;
  const bool response = steps.kind == UniformSteps::Kind::randomized_response;
  if (delta) {
    return response ? optimal_composition_epsilon({steps.epsilon, steps.delta}, count, *delta)
                    : bounded_range_epsilon(Epsilon(steps.epsilon), count, *delta);
  }
  if (response && log_delta < 0 && log_delta >= -100000) {
    return optimal_composition_epsilon_at_log_delta({steps.epsilon, steps.delta}, count, log_delta);
  }
  const double less = numeric::exp_down(log_delta);
  const double more = numeric::exp_up(log_delta);
  if (response || less == 0 || more >= 1) return std::nullopt;
  const Epsilon range(steps.epsilon);
  return Bounds{bounded_range_epsilon(range, count, Delta(more)).lower,
                bounded_range_epsilon(range, count, Delta(less)).upper};
}

double DirectedProfile::log_moment_up(double c) {
  double sum = upper_.log_moment_up(c) + components_.rho * c * (c + 1) * (1 + 4 * kRounding);
  for (const RenyiTable& table : components_.tables) sum += table_log_moment(table, c);
  return sum;
}

// Any c gives a bound; the best is looked for by golden section in ln c and at the tables' orders.
template <class Bound>
double DirectedProfile::best_order(Bound bound) {
  double best = HUGE_VAL;
  const auto at = [&](double log_c) {
    const double value = bound(std::exp(log_c));
    if (value < best) best = value;
    return std::isnan(value) ? HUGE_VAL : value;
  };
  double limit = HUGE_VAL;
  for (const RenyiTable& table : components_.tables) {
    for (const double order : table.orders) best = std::min(best, bound(order - 1));
    limit = std::min(limit, table.orders.back() - 1);
  }
  double low = std::log(1e-6);
  double high = std::log(std::min(limit, 1e5));
  constexpr double kRatio = 0.6180339887498949;
  double left = high - kRatio * (high - low);
  double right = low + kRatio * (high - low);
  double at_left = at(left);
  double at_right = at(right);
  for (int turn = 0; turn < 60; ++turn) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - kRatio * (high - low);
      at_left = at(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + kRatio * (high - low);
      at_right = at(right);
    }
  }
  return best;
}

double DirectedProfile::renyi_log_delta_up(double epsilon) {
  const double best = best_order([&](double c) {
    const double moment = log_moment_up(c);
    return moment - c * epsilon + log_stick(c) +
           16 * kRounding * (std::abs(moment) + c * epsilon + c + 1);
  });
  return std::min(0.0, best);
}

double DirectedProfile::renyi_epsilon_up(double log_delta) {
  return sound_upper(best_order([&](double c) {
    const double moment = log_moment_up(c);
    return (moment - log_delta + log_stick(c)) / c +
           16 * kRounding * (std::abs(moment) - log_delta + c + 1) / c;
  }));
}

LogAnswer DirectedProfile::log_delta(double epsilon) {
  if (const auto bounds = uniform_log_delta(epsilon)) return {*bounds, Engine::closed_form};
  LogAnswer answer;
  if (renyi()) {
    // The moments are those of the finite losses.
    answer = {{-HUGE_VAL, log_sum(renyi_log_delta_up(epsilon), log_of(upper_.infinite_up()))},
              Engine::renyi};
  } else {
    const double slack = components_.loss_slack_up;
    answer = upper_.log_delta(std::max(0.0, epsilon - slack));
    // Under 0 delta grows by no more than the distance.
    if (epsilon < slack) {
      answer.bounds.upper = log_sum(answer.bounds.upper, log_of(slack - epsilon));
    }
  }
  answer.bounds.upper = std::min(0.0, log_sum(answer.bounds.upper + components_.mass_slack,
                                              log_of(components_.infinite_slack)));
  if (lower_ || components_.loss_slack_down > 0) {
    SumProfile& profile = lower_ ? *lower_ : upper_;
    const double below = profile.log_delta(epsilon + components_.loss_slack_down).bounds.lower;
    answer.bounds.lower = below - components_.mass_slack;
    if (components_.infinite_slack > 0) {
      answer.bounds.lower =
          log_of(std::exp(answer.bounds.lower) - components_.infinite_slack) - 1e-14;
    }
  }
  return answer;
}

Certified DirectedProfile::epsilon(double log_delta, const std::optional<Delta>& delta) {
  if (const auto bounds = uniform_epsilon(log_delta, delta)) return {*bounds, Engine::closed_form};
  Certified answer;
  // What is lost at infinity for good, and the factor on chances, come off the target.
  const double lost = components_.infinite_slack + (renyi() ? upper_.infinite_up() : 0);
  const double left = lost > 0 ? numeric::exp_down(log_delta) - lost : 1;
  const double target = (lost > 0 ? log_of(left) - 1e-13 : log_delta) - components_.mass_slack;
  if (log_delta == -HUGE_VAL && (renyi() || lost > 0)) {
    answer = {{0, HUGE_VAL}, Engine::renyi};
  } else if (!(left > 0)) {
    answer = {{0, HUGE_VAL}, renyi() ? Engine::renyi : Engine::closed_form};
  } else if (renyi()) {
    answer = {{0, renyi_epsilon_up(target)}, Engine::renyi};
  } else {
    answer = upper_.epsilon(target);
    answer.bounds.upper += components_.loss_slack_up;
  }
  if (lower_ || components_.mass_slack > 0) {
    SumProfile& profile = lower_ ? *lower_ : upper_;
    const double target_up =
        log_of(std::exp(log_delta) + components_.infinite_slack) + components_.mass_slack + 1e-14;
    const Certified below = profile.epsilon(std::min(0.0, target_up));
    answer.bounds.lower = std::max(0.0, below.bounds.lower - components_.loss_slack_down);
  }
  return answer;
}

bool DirectedProfile::surely_within(double epsilon, double log_delta) {
  if (renyi() || components_.mass_slack > 0) return false;
  return upper_.quick_log_delta_up(epsilon) <= log_delta;
}

TwoWay::TwoWay(const Event& event, Neighbors neighbors, const ProfileOptions& options, bool quick)
    : removed_(std::make_unique<DirectedProfile>(take_apart(event, neighbors, Direction::removed),
                                                 options, quick)) {
  if (!symmetric(event, neighbors)) {
    added_ = std::make_unique<DirectedProfile>(take_apart(event, neighbors, Direction::added),
                                               options, quick);
  }
}

Bounds TwoWay::delta(Direction direction, double epsilon) {
  const auto at = [&](Direction side_asked, double point) {
    const LogBounds bounds = side(side_asked).log_delta(point).bounds;
    return Bounds{std::exp(bounds.lower) * (1 - 4 * kRounding),
                  std::min(1.0, std::exp(bounds.upper) * (1 + 4 * kRounding))};
  };
  if (epsilon >= 0) return at(direction, epsilon);
  const Bounds reverse_bounds = at(reverse(direction), -epsilon);
  return {reversed_delta(epsilon, reverse_bounds.lower) * (1 - 4 * kRounding),
          std::min(1.0, reversed_delta(epsilon, reverse_bounds.upper) * (1 + 4 * kRounding))};
}

LogAnswer TwoWay::log_delta(double epsilon) {
  if (epsilon < 0) {
    const Bounds a = delta(Direction::removed, epsilon);
    const Bounds b = added_ ? delta(Direction::added, epsilon) : a;
    return {{log_of(std::max(a.lower, b.lower)), log_of(std::max(a.upper, b.upper))},
            removed_->log_delta(-epsilon).engine};
  }
  LogAnswer answer = removed_->log_delta(epsilon);
  if (added_ && !added_->surely_within(epsilon, answer.bounds.lower)) {
    const LogAnswer other = added_->log_delta(epsilon);
    if (other.bounds.upper > answer.bounds.upper) answer.engine = other.engine;
    answer.bounds.lower = std::max(answer.bounds.lower, other.bounds.lower);
    answer.bounds.upper = std::max(answer.bounds.upper, other.bounds.upper);
  }
  return answer;
}

Certified TwoWay::epsilon(double log_delta, const std::optional<Delta>& delta) {
  Certified answer = removed_->epsilon(log_delta, delta);
  if (!added_) return answer;
  // The other direction is often smaller by far; then it need not be known well.
  if (std::isfinite(answer.bounds.lower) && answer.bounds.lower > 0 &&
      added_->surely_within(answer.bounds.lower, log_delta)) {
    return answer;
  }
  const Certified other = added_->epsilon(log_delta, delta);
  if (other.bounds.upper > answer.bounds.upper) answer.engine = other.engine;
  answer.bounds.lower = std::max(answer.bounds.lower, other.bounds.lower);
  answer.bounds.upper = std::max(answer.bounds.upper, other.bounds.upper);
  return answer;
}

double poisson_removed(double epsilon, double rate, const std::function<double(double)>& inner) {
  const double at = log_unmixed(rate, epsilon);
  if (at == -HUGE_VAL) return std::min(1.0, -std::expm1(epsilon) * (1 + 4 * kRounding));
  // Rounded down a little: delta falls in epsilon.
  return std::min(1.0, rate * inner(at - 8 * kRounding * (1 + std::abs(at))) * (1 + 4 * kRounding));
}

double poisson_added(double epsilon, double rate, const std::function<double(double)>& inner) {
  // 1 - (1 - q) e^epsilon = q e^epsilon e^{-inner epsilon}.
  const double negative = log_unmixed(rate, -epsilon);
  if (negative == -HUGE_VAL) return 0;
  const double at = -negative;
  const double factor = rate * std::exp(epsilon - at) * (1 + 16 * kRounding * (1 + std::abs(at)));
  return std::min(1.0, factor * inner(at - 8 * kRounding * (1 + std::abs(at))));
}

}  // namespace shoal::privacy
