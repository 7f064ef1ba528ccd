#include "privacy/composition_checks.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/privacy/composition.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shoal::privacy {
namespace {

using namespace numeric;  // directed arithmetic reads better bare

// e lies strictly between this double and the next.
constexpr double kEulerUp = 0x1.5bf0a8b14576ap+1;
static_assert(kEulerUp > std::numbers::e);

double clamped(double delta) { return std::min(delta, 1.0); }

// k delta_0 + slack.
double added_delta_up(double delta, double count, double slack) {
  return clamped(add_up(multiply_up(count, delta), slack));
}

// epsilon sqrt(2 k log_term).
double deviation_up(double epsilon, double count, double log_term_up) {
  return multiply_up(epsilon, sqrt_up(multiply_up(2 * count, log_term_up)));
}

// k epsilon tanh(epsilon / 2): the mean loss of k randomized responses.
double mean_up(double epsilon, double count) {
  return multiply_up(count, multiply_up(epsilon, tanh_up(epsilon / 2)));
}

void check(const Guarantee& step, std::int64_t count, double slack) {
  check_step(step);
  check_count(count, 0);
  check_chance("slack", slack);
}

// (e^(k x) - 1) / (e^x - 1), which is k at 0.
double geometric_sum_up(double x, double count) {
  if (x == 0) return count;
  return divide_up(expm1_up(multiply_up(count, x)), expm1_down(x));
}

}  // namespace

void check_finite(std::string_view name, double value) {
  if (!std::isfinite(value)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {}; it must be a finite number", name, value));
  }
}

void check_not_negative(std::string_view name, double value) {
  if (!(value >= 0 && std::isfinite(value))) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {}; it must be finite and not negative", name, value));
  }
}

void check_chance(std::string_view name, double value) {
  if (!(value > 0 && value < 1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {}; it must be above 0 and below 1", name, value));
  }
}

void check_epsilon(std::string_view name, double value) {
  if (!(value >= 0 && value <= kMaxEpsilon)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {}; it must be from 0 to {}", name, value, kMaxEpsilon));
  }
}

void check_step(const Guarantee& step) {
  check_epsilon("epsilon of one step", step.epsilon);
  if (!(step.delta >= 0 && step.delta <= 1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("delta of one step is {}; it must be from 0 to 1", step.delta));
  }
}

void check_count(std::int64_t count, std::int64_t least) {
  if (count < least || count > kMaxCount) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the count is {}; it must be from {} to {}", count, least, kMaxCount));
  }
}

Guarantee basic_composition_up(const Guarantee& step, std::int64_t count) {
  check_step(step);
  check_count(count, 0);
  const auto k = static_cast<double>(count);
  return {multiply_up(k, step.epsilon), clamped(multiply_up(k, step.delta))};
}

Guarantee basic_composition_up(std::span<const Guarantee> steps) {
  Guarantee total;
  for (const Guarantee& step : steps) {
    check_step(step);
    total.epsilon = add_up(total.epsilon, step.epsilon);
    total.delta = clamped(add_up(total.delta, step.delta));
  }
  return total;
}

Guarantee dwork_rothblum_vadhan_up(const Guarantee& step, std::int64_t count, double slack) {
  check(step, count, slack);
  const auto k = static_cast<double>(count);
  const double second = multiply_up(k, multiply_up(step.epsilon, expm1_up(step.epsilon)));
  const double first = deviation_up(step.epsilon, k, -log_down(slack));
  return {step.epsilon == 0 ? 0 : add_up(first, second), added_delta_up(step.delta, k, slack)};
}

Guarantee advanced_composition_up(const Guarantee& step, std::int64_t count, double slack) {
  check(step, count, slack);
  const auto k = static_cast<double>(count);
  const double first = deviation_up(step.epsilon, k, -log_down(slack));
  return {add_up(first, mean_up(step.epsilon, k)), added_delta_up(step.delta, k, slack)};
}

Guarantee simplified_optimal_composition_up(const Guarantee& step, std::int64_t count,
                                            double slack) {
  check(step, count, slack);
  const auto k = static_cast<double>(count);
  const double mean = mean_up(step.epsilon, k);
  const double plain = deviation_up(step.epsilon, k, -log_down(slack));
  const double spread = multiply_up(step.epsilon, sqrt_up(k));
  const double shifted_log = log_up(add_up(kEulerUp, divide_up(spread, slack)));
  const double shifted = deviation_up(step.epsilon, k, shifted_log);
  const double epsilon =
      std::min({multiply_up(k, step.epsilon), add_up(mean, plain), add_up(mean, shifted)});
  // 1 - (1 - delta_0)^k (1 - s) = s + (1 - s) (1 - (1 - delta_0)^k).
  const double none_leak = multiply_down(k, log1p_down(-step.delta));
  const double leak = count == 0 ? 0 : -expm1_down(none_leak);
  const double delta = add_up(slack, multiply_up(subtract_up(1, slack), leak));
  return {epsilon, std::min(clamped(delta), added_delta_up(step.delta, k, slack))};
}

Guarantee group_privacy_up(const Guarantee& individual, std::int64_t size) {
  check_step(individual);
  check_count(size, 1);
  const auto k = static_cast<double>(size);
  const double epsilon = multiply_up(k, individual.epsilon);
  if (individual.delta == 0) return {epsilon, 0};
  if (size == 1) return individual;
  const double factor = geometric_sum_up(individual.epsilon, k);
  return {epsilon, clamped(multiply_up(individual.delta, factor))};
}

double group_delta_up(const std::function<double(double)>& delta_up, double epsilon,
                      std::int64_t size) {
  check_not_negative("epsilon", epsilon);
  check_count(size, 1);
  const auto k = static_cast<double>(size);
  // The share is rounded down; the formula at k times the rounded share is no smaller.
  const double share = divide_down(epsilon, k);
  const double delta = delta_up(share);
  if (!(delta >= 0)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the profile gives delta {} at epsilon {}; it must not be negative",
                            delta, share));
  }
  if (delta == 0) return 0;
  if (size == 1) return clamped(delta);
  return clamped(multiply_up(delta, geometric_sum_up(share, k)));
}

Rho group_zcdp_up(Rho rho, std::int64_t size) {
  check_count(size, 1);
  const auto k = static_cast<double>(size);
  return Rho(multiply_up(k, multiply_up(k, rho.value())));
}

double group_gdp_up(double mu, std::int64_t size) {
  check_not_negative("mu", mu);
  check_count(size, 1);
  return multiply_up(static_cast<double>(size), mu);
}

}  // namespace shoal::privacy
