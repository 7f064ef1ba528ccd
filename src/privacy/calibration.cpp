#include "privacy/parameter_search.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/privacy/calibration.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace shoal::privacy {
namespace {

// The range that the samplers of discrete noise take.
constexpr double kLeastDiscrete = 0x1p-10;
constexpr double kMostDiscrete = 0x1p+50;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

// A decimal of ten digits at or beyond x, nearly the nearest: numbers that people can copy. That
// costs less than one part in 10^9.
double short_decimal(double x, bool up) {
  double wish = x;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const std::string text = fmt::format("{:.9e}", wish);
    double value = x;
    std::from_chars(text.data(), text.data() + text.size(), value);
    if (up ? value >= x : value <= x) return value;
    wish += (up ? 0.6e-9 : -0.6e-9) * x;
  }
  return x;
}

[[noreturn]] void refuse_target(double most, const Target& target) {
  refuse(
      fmt::format("no parameter up to {} meets epsilon {} at delta {}; take a larger epsilon or "
                  "delta, or fewer uses",
                  format_number(most), format_number(target.epsilon.value()),
                  format_number(target.delta.value())));
}

void require_options(const CalibrationOptions& options) {
  if (!(options.tolerance >= 1e-8 && options.tolerance <= 0.1)) {
    refuse(fmt::format("the tolerance is {}; it must be from 1e-8 to 0.1", options.tolerance));
  }
  if (!(options.least > 0 && options.least <= options.most && std::isfinite(options.most))) {
    refuse(
        fmt::format("the parameter's range is {} to {}; it must be positive, finite and not "
                    "empty",
                    options.least, options.most));
  }
  if (!(options.start > 0 && std::isfinite(options.start))) {
    refuse(fmt::format("the start is {}; it must be positive and finite", options.start));
  }
}

}  // namespace

Calibrated calibrate(const std::function<Event(double)>& family, const Target& target,
                     const CalibrationOptions& options) {
  require_options(options);
  const Judge judge(target, options.tolerance);
  SearchSpace space;
  space.judge = [&](double key) { return judge(family(key)); };
  space.place = [](double key) { return std::log(key); };
  space.at_or_above = [](double place) { return short_decimal(std::exp(place), true); };
  space.at_or_below = [](double place) { return short_decimal(std::exp(place), false); };
  space.close = [&](double enough, double less) {
    return enough <= less * (1 + options.tolerance);
  };
  space.least = options.least;
  space.most = options.most;
  space.height = judge.height();
  space.slope = judge.slope();
  space.tolerance = options.tolerance;
  const Crossing found = find_crossing(space, std::log(options.start));
  if (!found.sufficient) refuse_target(options.most, target);
  Event event = family(*found.sufficient);
  const Certified epsilon = judge.epsilon_of_sufficient(event);
  return {*found.sufficient, found.insufficient.value_or(0), epsilon, std::move(event)};
}

std::string_view to_string(NoiseLaw law) {
  switch (law) {
    case NoiseLaw::gaussian:
      return "gaussian";
    case NoiseLaw::laplace:
      return "laplace";
    case NoiseLaw::discrete_gaussian:
      return "discrete_gaussian";
    case NoiseLaw::discrete_laplace:
      return "discrete_laplace";
  }
  return "unknown";
}

namespace {

bool is_discrete(NoiseLaw law) {
  return law == NoiseLaw::discrete_gaussian || law == NoiseLaw::discrete_laplace;
}

void require_use(const NoiseUse& use) {
  if (!(use.sensitivity > 0 && std::isfinite(use.sensitivity))) {
    refuse(fmt::format("the sensitivity is {}; it must be finite and above 0", use.sensitivity));
  }
  if (is_discrete(use.law) && std::floor(use.sensitivity) != use.sensitivity) {
    refuse(
        fmt::format("the sensitivity is {}; discrete noise is added to integers, which move by "
                    "whole steps: give it in steps of the grid",
                    format_number(use.sensitivity)));
  }
  if (use.count < 1 || use.count > kMaxCalibratedCount) {
    refuse(fmt::format("the count is {}; it must be from 1 to {}", use.count, kMaxCalibratedCount));
  }
  if (use.rate && !(*use.rate > 0 && *use.rate <= 1)) {
    refuse(fmt::format("the rate is {}; it must be above 0 and at most 1", *use.rate));
  }
}

Event noise_event(const NoiseUse& use, double parameter) {
  const double moves = use.sensitivity;
  switch (use.law) {
    case NoiseLaw::gaussian:
      return event::Gaussian{parameter, moves, use.replace_sensitivity};
    case NoiseLaw::laplace:
      return event::Laplace{parameter, moves, use.replace_sensitivity};
    case NoiseLaw::discrete_gaussian:
      return event::DiscreteGaussian{parameter, moves, use.replace_sensitivity};
    case NoiseLaw::discrete_laplace:
      break;
  }
  return event::DiscreteLaplace{parameter, moves, use.replace_sensitivity};
}

double moves_by(const NoiseUse& use, Neighbors neighbors) {
  if (neighbors == Neighbors::add_remove) return use.sensitivity;
  return use.replace_sensitivity.value_or(2 * use.sensitivity);
}

// How far apart normal laws may be for the target, roughly: mu with mu^2 / 2 + mu sqrt(2 ln(1 /
// delta)) = epsilon.
double rough_mu(const Target& target) {
  const double depth = -std::log(std::max(target.delta.value(), 1e-300));
  const double epsilon = target.epsilon.value();
  return 2 * epsilon / (std::sqrt(2 * (depth + epsilon)) + std::sqrt(2 * depth));
}

// A guess, by the central limit theorem: `count` samples of rate q are about as far apart as normal
// laws with mu = q sqrt(count chi^2), where chi^2 of one unsampled step is e^(1 / sigma^2) - 1 and
// about e^(1 / scale) for larger ones.
double rough_parameter(const NoiseUse& use, const Target& target) {
  const double rate = use.rate.value_or(1);
  const auto count = static_cast<double>(use.count);
  const double mu = rough_mu(target);
  const double chi_square = mu * mu / (rate * rate * count);
  const double moves = moves_by(use, target.neighbors);
  if (is_gaussian(use.law)) {
    return use.rate ? moves / std::sqrt(std::log1p(chi_square)) : moves * std::sqrt(count) / mu;
  }
  const double by_chi_square = std::min(std::sqrt(chi_square), std::log1p(1.5 * chi_square));
  const double pure = std::log1p(std::expm1(target.epsilon.value() / count) / rate);
  return moves / (target.delta.value() > 0 ? std::max(by_chi_square, pure) : pure);
}

// The count for which rough_parameter would give this one.
double rough_count(const NoiseUse& one, double parameter, const Target& target) {
  const double rate = one.rate.value_or(1);
  const double each = moves_by(one, target.neighbors) / parameter;
  const double pure = target.epsilon.value() / std::log1p(rate * std::expm1(std::min(each, 700.0)));
  const double chi_square =
      is_gaussian(one.law) ? std::expm1(each * each) : std::expm1(each) * std::tanh(each);
  const double mu = rough_mu(target) / rate;
  const double by_chi_square = one.rate ? mu * mu / chi_square : mu * mu / (each * each);
  if (is_gaussian(one.law)) return by_chi_square;
  return target.delta.value() > 0 ? std::max(by_chi_square, pure) : pure;
}

// Laplace noise without sampling at a delta of 0: epsilon is count * moves / parameter and nothing
// needs to be searched. It matters to people that a sensitivity of 1 at epsilon 1 is a scale of 1.
bool is_plain_pure(const NoiseUse& use, const Target& target) {
  return !is_gaussian(use.law) && !use.rate && target.delta.value() == 0;
}

double plain_pure_up(const NoiseUse& use, const Target& target) {
  const double moves = moves_by(use, target.neighbors);
  return numeric::divide_up(numeric::multiply_up(static_cast<double>(use.count), moves),
                            target.epsilon.value());
}

Calibrated calibrate_plain_pure(const NoiseUse& use, const Target& target,
                                const CalibrationOptions& range) {
  const Judge judge(target);
  const double enough = std::max(range.least, plain_pure_up(use, target));
  if (!(enough <= range.most)) refuse_target(range.most, target);
  const double sum_down =
      numeric::multiply_down(static_cast<double>(use.count), moves_by(use, target.neighbors));
  const double less = numeric::step_down(numeric::divide_down(sum_down, target.epsilon.value()));
  Event event = event_of(use, enough);
  const Certified found = judge.epsilon_of_sufficient(event);
  return {enough, less >= range.least ? less : 0, found, std::move(event)};
}

LargestCount largest_plain_pure(const NoiseUse& one, double parameter, const Target& target) {
  const Judge judge(target);
  const double moves = moves_by(one, target.neighbors);
  const double epsilon = target.epsilon.value();
  const auto most = static_cast<double>(kMaxCalibratedCount);
  const double room = numeric::divide_down(numeric::multiply_down(epsilon, parameter), moves);
  const double count = std::min(std::floor(room), most);
  LargestCount result;
  result.count = static_cast<std::int64_t>(count);
  if (count > 0) {
    NoiseUse several = one;
    several.count = result.count;
    result.epsilon = judge.epsilon_of_sufficient(event_of(several, parameter));
  }
  const bool proven =
      numeric::multiply_down(count + 1, moves) > numeric::multiply_up(epsilon, parameter);
  if (count < most && proven) result.too_many = result.count + 1;
  return result;
}

}  // namespace

Event event_of(const NoiseUse& use, double parameter) {
  require_use(use);
  Event event = noise_event(use, parameter);
  if (use.rate) event = event::PoissonSampled{*use.rate, std::move(event)};
  if (use.count != 1) event = event::Repeat{use.count, std::move(event)};
  return event;
}

Calibrated calibrate_noise(const NoiseUse& use, const Target& target, double tolerance) {
  require_use(use);
  require_reachable(use.law, target);
  CalibrationOptions options;
  options.tolerance = tolerance;
  if (is_discrete(use.law)) {
    options.least = kLeastDiscrete;
    options.most = kMostDiscrete;
  }
  if (is_plain_pure(use, target)) return calibrate_plain_pure(use, target, options);
  // A little to the side: at the very edge of a pure guarantee accountants work hardest.
  const double guess = 1.001 * rough_parameter(use, target);
  options.start = std::isfinite(guess) ? std::clamp(guess, options.least, options.most) : 1;
  Calibrated found =
      calibrate([&use](double parameter) { return event_of(use, parameter); }, target, options);
  if (is_gaussian(use.law) || use.rate) return found;
  // What suffices without a delta suffices with one, and may be nearer than the tolerance.
  const double pure = std::max(options.least, plain_pure_up(use, target));
  if (!(pure < found.parameter)) return found;
  Event event = event_of(use, pure);
  const Certified epsilon = Judge(target, tolerance).epsilon_of_sufficient(event);
  return {pure, found.insufficient, epsilon, std::move(event)};
}

LargestCount largest_count(const NoiseUse& use, double parameter, const Target& target) {
  NoiseUse one = use;
  one.count = 1;
  require_use(one);
  require_reachable(one.law, target);
  event_of(one, parameter);  // refuses what is out of range
  if (is_plain_pure(one, target)) return largest_plain_pure(one, parameter, target);
  const auto uses = [&](double count) {
    NoiseUse several = one;
    several.count = static_cast<std::int64_t>(count);
    return event_of(several, parameter);
  };
  const auto most = static_cast<double>(kMaxCalibratedCount);
  const auto whole = [most](double count) { return std::clamp(count, 1.0, most); };
  const Judge judge(target);
  SearchSpace space;
  space.judge = [&](double key) { return judge(uses(key)); };
  space.place = [](double key) { return -std::log(key); };
  // The logarithm is off by some units in the last place, and a whole number must not be missed.
  space.at_or_above = [&](double place) {
    return whole(std::floor(std::exp(-place) * (1 + 1e-14)));
  };
  space.at_or_below = [&](double place) {
    return whole(std::ceil(std::exp(-place) * (1 - 1e-14)));
  };
  space.close = [](double enough, double more) { return more - enough <= 1; };
  space.least = most;
  space.most = 1;
  space.height = judge.height();
  space.slope = 1;
  const double guess = rough_count(one, parameter, target);
  const Crossing found = find_crossing(space, guess >= 1 ? -std::log(std::min(guess, most)) : 0);
  LargestCount result;
  if (found.sufficient) {
    result.count = static_cast<std::int64_t>(*found.sufficient);
    result.epsilon = judge.epsilon_of_sufficient(uses(*found.sufficient));
  }
  if (found.insufficient) result.too_many = static_cast<std::int64_t>(*found.insufficient);
  return result;
}

}  // namespace shoal::privacy
