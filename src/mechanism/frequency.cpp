#include "mechanism/mean_chance.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/frequency.hpp>
#include <shoal/numeric/directed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::mechanism {
namespace {

using numeric::add_down;
using numeric::add_up;
using numeric::divide_down;
using numeric::divide_up;
using numeric::multiply_down;
using numeric::multiply_up;
using numeric::subtract_down;
using numeric::subtract_up;

void check(const RandomizedResponse& spec) {
  validate(spec);
  if (spec.epsilon == 0) {
    throw Error(ErrorCode::invalid_argument,
                "epsilon is 0: such reports are the same for every truth, so no frequency can be "
                "estimated from them; collect reports with an epsilon above 0");
  }
}

void check(std::int64_t count, std::int64_t reports) {
  if (reports < 1 || count < 0 || count > reports) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} of {} reports; give 0 to all of at least 1 report", count, reports));
  }
}

std::int64_t sum_of(const RandomizedResponse& spec, std::span<const std::int64_t> counts) {
  if (counts.size() != spec.categories) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} counts for {} categories; give one a category", counts.size(),
                            spec.categories));
  }
  std::int64_t sum = 0;
  for (const std::int64_t count : counts) {
    if (count < 0 || __builtin_add_overflow(sum, count, &sum)) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("a count of {}; counts must not be negative, and sum to less than 2^63",
                      count));
    }
  }
  return sum;
}

// With a = e^-epsilon, p = 1 / (1 + (k - 1) a) and q = a p, (x - q) / (p - q) is
// (x (1 + (k - 1) a) - a) / (1 - a). Here a and 1 - a are enclosed, each from its own function.
struct AffineMap {
  explicit AffineMap(const RandomizedResponse& spec)
      : others(static_cast<double>(spec.categories - 1)),
        shrink_down(numeric::exp_down(-spec.epsilon)),
        shrink_up(std::min(1.0, numeric::exp_up(-spec.epsilon))),
        gap_down(-numeric::expm1_up(-spec.epsilon)),
        gap_up(-numeric::expm1_down(-spec.epsilon)) {}

  double down(double x) const {
    const double scaled = multiply_down(x, add_down(1, multiply_down(others, shrink_down)));
    const double numerator = subtract_down(scaled, shrink_up);
    return divide_down(numerator, numerator >= 0 ? gap_up : gap_down);
  }
  double up(double x) const {
    const double scaled = multiply_up(x, add_up(1, multiply_up(others, shrink_up)));
    const double numerator = subtract_up(scaled, shrink_down);
    return divide_up(numerator, numerator >= 0 ? gap_down : gap_up);
  }

  double others;
  double shrink_down;
  double shrink_up;
  double gap_down;
  double gap_up;
};

}  // namespace

double unbiased_frequency(const RandomizedResponse& spec, std::int64_t count,
                          std::int64_t reports) {
  check(spec);
  check(count, reports);
  const double a = std::exp(-spec.epsilon);
  const double share = static_cast<double>(count) / static_cast<double>(reports);
  return (share * (1 + static_cast<double>(spec.categories - 1) * a) - a) /
         -std::expm1(-spec.epsilon);
}

double frequency_variance(const RandomizedResponse& spec, double frequency, std::int64_t reports) {
  check(spec);
  check(0, reports);
  if (!(frequency >= 0 && frequency <= 1)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the frequency is {}; it must be from 0 to 1", format_number(frequency)));
  }
  const double a = std::exp(-spec.epsilon);
  const auto others = static_cast<double>(spec.categories - 1);
  const double p = 1 / (1 + others * a);
  const double q = a * p;
  const double gap = p * -std::expm1(-spec.epsilon);
  // 1 - p = others q, without cancellation.
  const double one_report = (1 - frequency) * q * (1 - q) + frequency * p * others * q;
  return one_report / gap / gap / static_cast<double>(reports);
}

Estimate frequency_interval(const RandomizedResponse& spec, std::int64_t count,
                            std::int64_t reports, Confidence confidence) {
  check(spec);
  check(count, reports);
  constexpr double kLeastConfidence = 0.5;
  if (confidence.value() < kLeastConfidence) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the confidence is {}; intervals for frequencies need at least {}",
                            format_number(confidence.value()), format_number(kLeastConfidence)));
  }
  const double miss = subtract_down(1, confidence.value()) / 2;
  const AffineMap map(spec);
  const double lower = map.down(mean_chance_down(count, reports, miss));
  const double upper = map.up(mean_chance_up(count, reports, miss));
  // A frequency lies in [0, 1], so an interval beyond it is moved to the edge: it never is empty.
  return {unbiased_frequency(spec, count, reports), std::clamp(lower, 0.0, 1.0),
          std::clamp(upper, 0.0, 1.0)};
}

std::vector<Estimate> frequency_intervals(const RandomizedResponse& spec,
                                          std::span<const std::int64_t> counts,
                                          Confidence confidence) {
  check(spec);
  const std::int64_t reports = sum_of(spec, counts);
  const Confidence each = simultaneous(confidence, static_cast<std::int64_t>(spec.categories));
  std::vector<Estimate> estimates;
  for (const std::int64_t count : counts) {
    estimates.push_back(frequency_interval(spec, count, reports, each));
  }
  return estimates;
}

std::vector<double> consistent_frequencies(const RandomizedResponse& spec,
                                           std::span<const std::int64_t> counts) {
  check(spec);
  const std::int64_t reports = sum_of(spec, counts);
  std::vector<double> frequencies;
  for (const std::int64_t count : counts) {
    frequencies.push_back(unbiased_frequency(spec, count, reports));
  }
  return project_to_total(frequencies, 1);
}

}  // namespace shoal::mechanism
