#include "privacy/renyi_sum.hpp"
#include "privacy/two_way.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/profile.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

namespace shoal::privacy {

std::string_view to_string(Engine engine) {
  switch (engine) {
    case Engine::closed_form:
      return "closed_form";
    case Engine::contour:
      return "contour";
    case Engine::loss_distribution:
      return "loss_distribution";
    case Engine::renyi:
      return "renyi";
  }
  return "unknown";
}

namespace {

// One point that the profile is known to lie under.
struct Stated {
  double epsilon = HUGE_VAL;
  std::int64_t delta_units = 0;

  double log_delta_up() const {
    if (delta_units == 0) return -HUGE_VAL;
    return numeric::log_up(std::min(1.0, numeric::from_units_up(delta_units, kDeltaDecimals)));
  }
};

// What the event costs as a charge holds of the whole of it. The engines know some events by a
// curve only, of which they do not know where it ends: at very small deltas, and at 0, the charge
// is the better bound.
Stated stated_by_charge(const Event& event, Neighbors neighbors) {
  try {
    const Charge charge = price(event, neighbors);
    if (!charge.epsilon_units) return {};
    return {numeric::from_units_up(*charge.epsilon_units, kEpsilonDecimals), charge.delta_units};
  } catch (const Error& error) {
    // Without a charge there is nothing to go by.
    if (error.code() != ErrorCode::unsupported && error.code() != ErrorCode::invalid_argument)
      throw;
  }
  return {};
}

}  // namespace

// The engines keep tables between questions: one question at a time.
struct Profile::Parts {
  Parts(const Event& asked, Neighbors relation, const ProfileOptions& options)
      : event(asked), neighbors(relation), sides(asked, relation, options) {
    // Who asks for one engine wants to know what that engine says.
    if (!options.engine) stated = stated_by_charge(asked, relation);
  }

  // Where moments are all that is known (zcdp, rdp), those of the other events may be known better
  // leaf by leaf than from a pair that dominates them: both bounds hold.
  const RenyiSum& moments() const {
    if (!sum) sum.emplace(event, neighbors);
    return *sum;
  }

  // The answer at a delta for which the charge holds too.
  Certified with_charge(const Certified& answer) const {
    if (!(stated.epsilon < answer.bounds.upper)) return answer;
    // A charge reads 0.1 as a tenth and the engines as the double beside it.
    return {{answer.bounds.lower, std::max(answer.bounds.lower, stated.epsilon)},
            Engine::closed_form};
  }

  Event event;
  Neighbors neighbors;
  Stated stated;
  mutable std::mutex mutex;
  mutable TwoWay sides;
  mutable std::optional<RenyiSum> sum;
};

Profile::Profile(const Event& event, Neighbors neighbors, ProfileOptions options) {
  if (!(options.tolerance >= 1e-9 && options.tolerance <= 0.1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the tolerance is {}; it must be from 1e-9 to 0.1", options.tolerance));
  }
  parts_ = std::make_unique<const Parts>(event, neighbors, options);
}

Profile::~Profile() = default;
Profile::Profile(Profile&&) noexcept = default;
Profile& Profile::operator=(Profile&&) noexcept = default;

namespace {

// Bounds that contradict each other, or are no numbers, prove nothing.
Certified checked(const Certified& answer) {
  if (answer.bounds.lower <= answer.bounds.upper) return answer;
  return {{0, HUGE_VAL}, answer.engine};
}

void require_finite(double epsilon) {
  if (!std::isfinite(epsilon)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("epsilon is {}; it must be finite", epsilon));
  }
}

}  // namespace

Certified Profile::delta(double epsilon) const {
  const Certified logarithm = log_delta(epsilon);
  const Bounds& bounds = logarithm.bounds;
  return {{std::exp(bounds.lower) * (1 - 0x1p-51),
           std::min(1.0, std::exp(bounds.upper) * (1 + 0x1p-51))},
          logarithm.engine};
}

Certified Profile::log_delta(double epsilon) const {
  require_finite(epsilon);
  const std::lock_guard lock(parts_->mutex);
  LogAnswer answer = parts_->sides.log_delta(epsilon);
  LogBounds& bounds = answer.bounds;
  if (answer.engine == Engine::renyi && epsilon >= 0) {
    const double delta = parts_->moments().delta_up(epsilon);
    if (delta > 0) bounds.upper = std::min(bounds.upper, numeric::log_up(delta));
  }
  if (epsilon >= parts_->stated.epsilon) {
    bounds.upper = std::max(bounds.lower, std::min(bounds.upper, parts_->stated.log_delta_up()));
  }
  // Bounds that contradict each other, or are no numbers, prove nothing.
  if (!(bounds.lower <= bounds.upper)) return {{-HUGE_VAL, 0}, answer.engine};
  return {{bounds.lower, std::min(0.0, bounds.upper)}, answer.engine};
}

Certified Profile::epsilon(Delta delta) const {
  const double log_delta = delta.value() > 0 ? numeric::log_down(delta.value()) : -HUGE_VAL;
  const std::lock_guard lock(parts_->mutex);
  Certified answer = parts_->sides.epsilon(log_delta, delta);
  if (answer.engine == Engine::renyi && delta.value() > 0) {
    answer.bounds.upper =
        std::min(answer.bounds.upper, parts_->moments().epsilon_up(delta.value()));
  }
  const bool charged =
      numeric::decimal_units_down(delta.value(), kDeltaDecimals) >= parts_->stated.delta_units;
  return charged ? parts_->with_charge(checked(answer)) : checked(answer);
}

Certified Profile::epsilon_at_log_delta(double log_delta) const {
  if (!(log_delta <= 0)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the logarithm of delta is {}; it must not be above 0", log_delta));
  }
  const std::lock_guard lock(parts_->mutex);
  const Certified answer = checked(parts_->sides.epsilon(log_delta));
  return parts_->stated.log_delta_up() <= log_delta ? parts_->with_charge(answer) : answer;
}

}  // namespace shoal::privacy
