// The exact composition of (epsilon, delta)-private steps. Each is dominated by a coin that fails
// recognisably with chance delta and answers by randomized response otherwise, so k steps have the
// losses (k - 2 m) epsilon with m binomial: a binomial_loss. composition.proof.md has the argument.
#include "privacy/binomial_loss.hpp"
#include "privacy/composition_checks.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/privacy/composition.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::privacy {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLowestLogDelta = -100000;

BinomialLoss response_law(double epsilon, std::int64_t count) {
  const PositiveRange one = exactly(epsilon);
  const PositiveRange two = exactly(2 * static_cast<long double>(epsilon));
  return {count, exp_minus(one), exp_minus(two), one_minus_exp_minus(two)};
}

// The largest m whose loss (k - 2 m) step exceeds `epsilon`, for 0 <= epsilon < k step.
std::int64_t last_index_above(double step, std::int64_t count, double epsilon) {
  const long double near = (static_cast<long double>(count) - epsilon / step) / 2;
  auto index = static_cast<std::int64_t>(std::floor(near));
  index = std::clamp<std::int64_t>(index, 0, count / 2);
  while (index > 0 && product_minus(count - 2 * index, step, epsilon).high == 0) --index;
  while (2 * (index + 1) <= count &&
         product_minus(count - 2 * (index + 1), step, epsilon).high > 0) {
    ++index;
  }
  return index;
}

// Steps without delta, at epsilon >= 0.
ScaledRange pure_delta(double step, std::int64_t count, double epsilon) {
  if (count == 0 || step == 0 || product_minus(count, step, epsilon).high == 0) return {};
  const std::int64_t index = last_index_above(step, count, epsilon);
  const PositiveRange over = product_minus(count - 2 * index, step, epsilon);
  ScaledRange delta =
      binomial_loss_divergence(response_law(step, count), index, one_minus_exp_minus(over));
  if (delta.exponent == 0) delta.value.high = std::min(delta.value.high, 1.0L);
  return delta;
}

PositiveRange unscaled(const ScaledRange& x) {
  const auto places = static_cast<int>(std::clamp<std::int64_t>(x.exponent, -40000, 0));
  const PositiveRange value{std::ldexp(x.value.low, places), std::ldexp(x.value.high, places)};
  if (x.value.high == 0) return {};
  return {value.low < range_detail::kTiny ? 0 : value.low,
          std::max(value.high, range_detail::kTiny)};
}

ScaledRange total_delta(const Guarantee& step, std::int64_t count, double epsilon) {
  check_step(step);
  check_count(count, 0);
  check_finite("epsilon", epsilon);
  ScaledRange pure = pure_delta(step.epsilon, count, std::fabs(epsilon));
  if (epsilon < 0) {
    // Randomized response is symmetric: delta(-e) = 1 - e^-e + e^-e delta(e).
    const PositiveRange size = exactly(-epsilon);
    pure = scaled(one_minus_exp_minus(size) + exp_minus(size) * unscaled(pure));
  }
  if (step.delta == 0 || count == 0) return pure;
  if (step.delta == 1) return scaled(exactly(1));
  const PositiveRange leak = exactly(step.delta);
  const Failures leaks = repeated({leak, subtract(exactly(1), leak)}, count);
  return scaled(leaks.some + leaks.none * unscaled(pure));
}

// The loss of a place, rounded up or down, no further than the next index.
double loss_up(double step, std::int64_t count, const LossPlace& place) {
  const auto loss = [&](std::int64_t index) {
    return numeric::multiply_up(static_cast<double>(count - 2 * index), step);
  };
  const double inside = numeric::add_up(loss(place.index), numeric::log1p_up(-place.fraction));
  return std::max({0.0, inside, loss(place.index + 1)});
}

double loss_down(double step, std::int64_t count, const LossPlace& place) {
  const auto loss = [&](std::int64_t index) {
    return numeric::multiply_down(static_cast<double>(count - 2 * index), step);
  };
  const double inside = numeric::add_down(loss(place.index), numeric::log1p_down(-place.fraction));
  return std::max({0.0, inside, loss(place.index + 1)});
}

// Steps without delta: the epsilon at which the pure part of delta is `target`.
Bounds pure_epsilon(double step, std::int64_t count, const ScaledRange& target) {
  if (step == 0) return {0, 0};
  const auto k = static_cast<double>(count);
  const Bounds everything{numeric::multiply_down(k, step), numeric::multiply_up(k, step)};
  if (target.value.high == 0) return everything;
  const BinomialLoss law = response_law(step, count);
  if (target.value.low == 0) {
    const ScaledRange most{exactly(target.value.high), target.exponent};
    const LossInverse inverse = binomial_loss_inverse(law, count / 2, most);
    return {loss_down(step, count, inverse.below), everything.upper};
  }
  const LossInverse inverse = binomial_loss_inverse(law, count / 2, target);
  return {loss_down(step, count, inverse.below),
          std::min(everything.upper, loss_up(step, count, inverse.above))};
}

Bounds total_epsilon(const Guarantee& step, std::int64_t count, const ScaledRange& delta) {
  if (count == 0) return {0, 0};
  if (step.delta == 0) return pure_epsilon(step.epsilon, count, delta);
  if (step.delta == 1) return {kInfinity, kInfinity};
  const PositiveRange leak = exactly(step.delta);
  const Failures leaks = repeated({leak, subtract(exactly(1), leak)}, count);
  const PositiveRange wanted = unscaled(delta);
  if (wanted.high < leaks.some.low || leaks.none.high == 0) return {kInfinity, kInfinity};
  const PositiveRange target = subtract(wanted, leaks.some) / leaks.none;
  // Near 1 the quotient may round to 1 and more, where the smallest epsilon is 0.
  if (target.low >= 1) return {0, 0};
  Bounds bounds =
      pure_epsilon(step.epsilon, count, scaled({target.low, std::min(target.high, 1 - 0x1p-60L)}));
  if (target.high >= 1 - 0x1p-60L) bounds.lower = 0;
  if (wanted.low < leaks.some.high) bounds.upper = kInfinity;
  return bounds;
}

}  // namespace

Bounds optimal_composition_delta(const Guarantee& step, std::int64_t count, double epsilon) {
  const Bounds bounds = to_bounds(total_delta(step, count, epsilon));
  return {std::min(bounds.lower, 1.0), std::min(bounds.upper, 1.0)};
}

Bounds optimal_composition_log_delta(const Guarantee& step, std::int64_t count, double epsilon) {
  const Bounds bounds = log_bounds(total_delta(step, count, epsilon));
  return {std::min(bounds.lower, 0.0), std::min(bounds.upper, 0.0)};
}

Bounds optimal_composition_epsilon(const Guarantee& step, std::int64_t count, Delta delta) {
  check_step(step);
  check_count(count, 0);
  return total_epsilon(step, count, scaled(exactly(delta.value())));
}

Bounds optimal_composition_epsilon_at_log_delta(const Guarantee& step, std::int64_t count,
                                                double log_delta) {
  check_step(step);
  check_count(count, 0);
  if (!(log_delta >= kLowestLogDelta && log_delta < 0)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the logarithm of delta is {}; it must be from -100000 to below 0", log_delta));
  }
  return total_epsilon(step, count, scaled_exp(log_delta));
}

}  // namespace shoal::privacy
