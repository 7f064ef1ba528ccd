#include "privacy/sum_profile.hpp"

#include "privacy/logarithms.hpp"
#include "privacy/mixture_law.hpp"

#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/gaussian_delta.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace shoal::privacy {
namespace {

// The finest gap that a loss distribution is asked for unless the caller wants more: finer ones
// cost too much for what they tell.
constexpr double kLatticeTolerance = 5e-5;
// Rotations of a node: the first attempt must be cheap; the last one may cost what a loss
// distribution would.
constexpr double kQuickWork = 4e5;
constexpr double kWork = 3e7;
constexpr double kFewBounded = 4;
// Below this a Gaussian delta is left to the contour, which works in logarithms.
constexpr double kSmallestFormula = 1e-280;

LogBounds logarithms(const Bounds& delta) {
  return {delta.lower > 0 ? numeric::log_down(delta.lower) : -HUGE_VAL,
          delta.upper > 0 ? std::min(0.0, numeric::log_up(delta.upper)) : -HUGE_VAL};
}

// The smallest epsilon at which a falling function of logarithms reaches the target, for an upper
// bound (value at most the target) and a lower bound (value at least it), to a part in 1e13.
template <class Upper, class Lower>
Bounds invert(double log_delta, double start, Upper upper, Lower lower) {
  const auto bisect = [&](auto function, bool up) {
    const double target = up ? log_delta : raised_target(log_delta);
    if (function(0.0) <= target) return 0.0;
    double low = 0;
    double high = std::max(start, 1e-9);
    while (function(high) > target) {
      low = high;
      high *= 2;
      if (high > 1e9) return up ? HUGE_VAL : low;
    }
    double at = high;
    double previous = low;
    double value = function(high) - target;
    double previous_value = function(low) - target;
    for (int turn = 0; turn < 80 && high - low > 1e-13 * high; ++turn) {
      double next = at - value * (at - previous) / (value - previous_value);
      if (!(next > low && next < high) || turn % 5 == 4) next = (low + high) / 2;
      previous = at;
      previous_value = value;
      at = next;
      value = function(at) - target;
      (value > 0 ? low : high) = at;
    }
    return up ? high : low;
  };
  return {bisect(lower, false), bisect(upper, true)};
}

}  // namespace

SumProfile::SumProfile(std::vector<CountedLaw> laws, double variance_up, double variance_down,
                       const ProfileOptions& options, bool quick)
    : laws_(std::move(laws)),
      variance_up_(variance_up),
      variance_down_(variance_down),
      options_(options) {
  double kept_up = 0;
  double kept_down = 0;
  for (const CountedLaw& part : laws_) {
    kept_up += part.count * std::log1p(-std::min(part.law->infinite_down(), 1 - 0x1p-53));
    kept_down += part.count * std::log1p(-std::min(part.law->infinite(), 1 - 0x1p-53));
    smooth_ = smooth_ && part.law->smooth();
  }
  infinite_up_ = std::min(1.0, -std::expm1(kept_down) * (1 + 1e-14));
  infinite_down_ = std::max(0.0, -std::expm1(kept_up) * (1 - 1e-14));
  if (variance_up_ > 0) variance_error_ = 1 - variance_down_ / variance_up_ + 4 * kRounding;
  contour_ = std::make_unique<Contour>(laws_, variance_up_, variance_error_);
  contour_failed_ = !smooth_;
  if (quick && variance_up_ > 0) {
    gaussian_ = std::make_shared<MixtureLaw>(std::sqrt(variance_up_), std::vector<double>{0, 1},
                                             std::vector<double>{1});
  }
  // A few bounded losses with jumps in their law decay so slowly along a contour that trying costs
  // more than the loss distribution, which is small then.
  double count = 0;
  for (const CountedLaw& part : laws_) count += part.count;
  if (variance_up_ == 0 && count <= kFewBounded && std::isfinite(largest_loss())) {
    contour_failed_ = true;
  }
  cut_failed_ = contour_failed_;
}

// Bounds always, though they may be wide.
std::optional<LogBounds> SumProfile::formula(double epsilon) const {
  if (empty()) return LogBounds{-HUGE_VAL, -HUGE_VAL};
  if (laws_.empty()) {
    if (gaussian_) {
      const std::optional<Bounds> delta = gaussian_->delta(epsilon);
      if (delta && delta->upper - delta->lower < 1e-9 * delta->upper) {
        const double slack = 1e-12 + 8 * variance_error_ * (1 + epsilon * epsilon / variance_up_);
        return LogBounds{log_of(delta->lower) - slack, std::min(0.0, log_of(delta->upper) + slack)};
      }
    }
    const double down = std::sqrt(variance_down_) * (1 - 0x1p-52);
    const double up = std::sqrt(variance_up_) * (1 + 0x1p-51);
    return logarithms({numeric::gaussian_delta_down(1, down, epsilon),
                       numeric::gaussian_delta_up(1, up, epsilon)});
  }
  if (laws_.size() == 1 && laws_[0].count == 1 && variance_up_ == 0) {
    if (const std::optional<Bounds> delta = laws_[0].law->delta(epsilon)) return logarithms(*delta);
  }
  return std::nullopt;
}

std::optional<LogBounds> SumProfile::by_formula(double epsilon) const {
  const std::optional<LogBounds> bounds = formula(epsilon);
  if (!bounds || empty() || !smooth_) return bounds;
  // At the largest loss there is next to nothing left, and nothing to gain from the engines.
  if (variance_up_ == 0 && epsilon >= largest_loss() * (1 - 1e-13)) return bounds;
  // A formula that has lost its digits, or the range of doubles, is left to the engines.
  if (!(bounds->upper - bounds->lower <= 1e-7)) return std::nullopt;
  return bounds;
}

std::optional<LogBounds> SumProfile::through(Contour& contour, double epsilon, double infinite_up) {
  const double work = cut_failed_ || &contour == cut_.get() ? kWork : kQuickWork;
  const std::optional<LogBounds> finite = contour.log_delta(epsilon, work);
  if (!finite) return std::nullopt;
  slope_ = contour.slope();
  return LogBounds{log_sum(finite->lower, log_of(infinite_down_)),
                   std::min(0.0, log_sum(finite->upper, log_of(infinite_up)))};
}

Contour* SumProfile::cut_contour(double log_delta) {
  double count = 0;
  for (const CountedLaw& part : laws_) count += part.count;
  const double tail = std::exp(std::max(log_delta, -650.0)) * 1e-8 / count;
  // Asked again for a delta that is not much smaller, the same cut will do.
  if (cut_ && tail >= cut_tail_ * 1e-3 && tail <= cut_tail_ * 1e3) return cut_.get();
  std::vector<CountedLaw> cut = without_tails(laws_, tail);
  double kept = 0;
  for (const CountedLaw& part : cut) kept += part.count * std::log1p(-part.law->infinite());
  cut_tail_ = tail;
  cut_infinite_ = -std::expm1(kept) * (1 + 1e-12);
  cut_ = std::make_unique<Contour>(std::move(cut), variance_up_, variance_error_);
  return cut_.get();
}

std::optional<LogAnswer> SumProfile::by_contour(double epsilon) {
  if (!contour_failed_) {
    if (const auto bounds = through(*contour_, epsilon, infinite_up_)) {
      return LogAnswer{*bounds, Engine::contour};
    }
  }
  if (cut_failed_) return std::nullopt;
  // The size of delta, roughly, to know what may be cut.
  const std::optional<double> tilt = contour_->saddle(epsilon);
  if (!tilt) return std::nullopt;
  const double estimate = std::min(0.0, contour_->log_moment_up(*tilt) - *tilt * epsilon - 4);
  Contour* cut = cut_contour(estimate);
  if (const auto bounds = through(*cut, epsilon, cut_infinite_)) {
    return LogAnswer{*bounds, Engine::contour};
  }
  return std::nullopt;
}

LatticeProfile& SumProfile::lattice() {
  if (!lattice_) {
    const double tolerance = options_.engine || options_.tolerance > kLatticeTolerance
                                 ? options_.tolerance
                                 : kLatticeTolerance;
    lattice_ = std::make_unique<LatticeProfile>(laws_, variance_up_, variance_error_,
                                                infinite_down_, infinite_up_, *contour_, tolerance);
  }
  return *lattice_;
}

LogAnswer SumProfile::log_delta(double epsilon) {
  // Over the largest possible loss only infinity is left.
  if (variance_up_ == 0 && epsilon > largest_loss() * (1 + 1e-12) + 1e-300) {
    return {{log_of(infinite_down_), log_of(infinite_up_)}, Engine::closed_form};
  }
  if (!options_.engine) {
    if (const auto bounds = by_formula(epsilon)) return {*bounds, Engine::closed_form};
  } else if (empty()) {
    return {*by_formula(epsilon), Engine::closed_form};
  }
  if (asked_for(Engine::contour)) {
    if (const auto answer = by_contour(epsilon)) return *answer;
  }
  return {lattice().log_delta(epsilon), Engine::loss_distribution};
}

double SumProfile::largest_loss() const {
  double sum = 0;
  for (const CountedLaw& part : laws_) sum += part.count * part.law->largest_loss();
  return std::max(0.0, sum);
}

double SumProfile::log_moment_up(double c) {
  if (!smooth_) return HUGE_VAL;
  return empty() ? 0 : contour_->log_moment_up(c);
}

double SumProfile::quick_log_delta_up(double epsilon) {
  if (empty()) return -HUGE_VAL;
  if (variance_up_ == 0 && epsilon > largest_loss() * (1 + 1e-12) + 1e-300) {
    return log_of(infinite_up_);
  }
  if (!smooth_) return 0;
  return std::min(0.0, log_sum(contour_->chernoff_log_delta_up(epsilon), log_of(infinite_up_)));
}

double SumProfile::rough_epsilon(double log_delta) {
  if (empty()) return 0;
  return contour_->chernoff_epsilon(log_delta);
}

std::optional<Bounds> SumProfile::solve_formula(double log_delta) const {
  if (!formula(1) || (!empty() && log_delta < std::log(kSmallestFormula))) return std::nullopt;
  const double start =
      laws_.empty() ? variance_up_ / 2 + std::sqrt(-2 * variance_up_ * log_delta) : 1;
  const Bounds result = invert(
      log_delta, start, [&](double at) { return formula(at)->upper; },
      [&](double at) { return formula(at)->lower; });
  // Where the formula has lost its digits the engines do better.
  const bool close = result.upper - result.lower <= 1e-7 * result.upper;
  return close || !smooth_ ? std::optional(result) : std::nullopt;
}

std::optional<Bounds> SumProfile::solve_contour(double log_delta) {
  // Newton's method on ln delta, whose slope the contour gives; then both sides are proven by one
  // evaluation each.
  double at = contour_->chernoff_epsilon(log_delta);
  // Rare enormous losses make for a start far too high, which would be hard to leave.
  if (!cut_failed_) at = std::min(at, cut_contour(log_delta)->chernoff_epsilon(log_delta));
  if (!(at > 0) || !std::isfinite(at)) return std::nullopt;
  double half = 0;
  for (int turn = 0; turn < 12; ++turn) {
    const auto answer = by_contour(at);
    if (!answer) return std::nullopt;
    const double middle =
        (std::max(answer->bounds.lower, answer->bounds.upper - 1) + answer->bounds.upper) / 2;
    half = answer->bounds.upper - middle;
    const double next = std::max(at / 4, at - (middle - log_delta) / slope_);
    const bool done = std::abs(next - at) < 1e-3 * options_.tolerance * at;
    at = next;
    if (done) break;
  }
  Bounds result{0, HUGE_VAL};
  double margin = 2 * half / std::abs(slope_) + 1e-13 * at;
  for (int turn = 0; turn < 6; ++turn, margin *= 4) {
    if (!std::isfinite(result.upper)) {
      const auto answer = by_contour(at + margin);
      if (answer && answer->bounds.upper <= log_delta) result.upper = at + margin;
    }
    if (result.lower == 0 && at > margin) {
      const auto answer = by_contour(at - margin);
      if (answer && answer->bounds.lower >= raised_target(log_delta)) result.lower = at - margin;
    }
    if (std::isfinite(result.upper) && result.lower > 0) break;
  }
  if (!std::isfinite(result.upper)) return std::nullopt;
  return result;
}

Certified SumProfile::epsilon(double log_delta) {
  if (empty()) return {};
  // With no delta at all only bounded losses have an epsilon: the largest one.
  if (log_delta == -HUGE_VAL) {
    const double largest = largest_loss();
    if (infinite_down_ > 0 || variance_up_ > 0 || !std::isfinite(largest)) {
      return {{HUGE_VAL, HUGE_VAL}, Engine::closed_form};
    }
    return {{std::max(0.0, largest * (1 - 1e-12)),
             infinite_up_ > 0 ? HUGE_VAL : std::max(0.0, largest * (1 + 1e-12))},
            Engine::closed_form};
  }
  if (log_of(infinite_down_) > log_delta) return {{HUGE_VAL, HUGE_VAL}, Engine::closed_form};
  if (!options_.engine) {
    if (const auto bounds = solve_formula(log_delta)) return {*bounds, Engine::closed_form};
  }
  const LogAnswer at_zero = log_delta > -3 ? this->log_delta(0) : LogAnswer{{0, 0}};
  if (at_zero.bounds.upper <= log_delta) return {{0, 0}, at_zero.engine};
  if (asked_for(Engine::contour) && !(contour_failed_ && cut_failed_)) {
    if (const auto bounds = solve_contour(log_delta)) return {*bounds, Engine::contour};
  }
  return {lattice().epsilon(log_delta), Engine::loss_distribution};
}

}  // namespace shoal::privacy
