// What key selection costs, and the parameters that a price needs.
#include "mechanism/key_law.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/calibration.hpp>
#include <shoal/privacy/charge.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::mechanism {
namespace {

void check_groups(std::int64_t max_groups) {
  if (max_groups >= 1 && max_groups <= kMaxGroupsOfUnit) return;
  throw Error(ErrorCode::invalid_argument, fmt::format("max_groups is {}; it must be from 1 to {}",
                                                       max_groups, kMaxGroupsOfUnit));
}

void check_positive(Delta delta) {
  if (delta.value() > 0) return;
  throw Error(ErrorCode::invalid_argument,
              "delta is 0; groups that are in the data only cannot be shown without a delta above "
              "0: give one, or list the groups");
}

// 1 - (1 - once)^groups for the chance that a group of one unit is shown, rounded up, and one step
// more: an event's delta is read as a decimal, which may lie half a step below the double.
double failure_up(const NoiseTails& tails, std::int64_t threshold, std::int64_t max_groups) {
  const double once = tails.at_least_up(threshold - 1);
  if (once >= 1) return 1;
  const double log_none =
      numeric::multiply_down(static_cast<double>(max_groups), numeric::log1p_down(-once));
  return std::min(numeric::step_up(-numeric::expm1_down(log_none)), 1.0);
}

std::int64_t changed_groups(std::int64_t max_groups, Neighbors neighbors) {
  return neighbors == Neighbors::replace_one ? 2 * max_groups : max_groups;
}

privacy::Event noise_event(const LaplaceThreshold& spec, Neighbors neighbors) {
  return privacy::stated_for(privacy::event::DiscreteLaplace{spec.scale, 1}, neighbors);
}
privacy::Event noise_event(const GaussianThreshold& spec, Neighbors neighbors) {
  return privacy::stated_for(privacy::event::DiscreteGaussian{spec.sigma, 1}, neighbors);
}

template <class Spec>
privacy::Event event_of(const Spec& spec, std::int64_t max_groups, Neighbors neighbors) {
  const double failure = failure_up(NoiseTails(noise_of(spec)), spec.threshold, max_groups);
  return privacy::event::Compose{
      {privacy::event::Repeat{changed_groups(max_groups, neighbors), noise_event(spec, neighbors)},
       privacy::event::EpsilonDelta{0, failure}}};
}

privacy::Event event_of(const OptimalSelection& spec, std::int64_t max_groups,
                        Neighbors neighbors) {
  return privacy::event::Repeat{changed_groups(max_groups, neighbors),
                                privacy::event::EpsilonDelta{spec.epsilon, spec.delta}};
}

// The chance falls in the threshold, and its bound with it but for rounding; whatever the search
// passes by, what it returns was itself looked at.
std::int64_t smallest_threshold(const NoiseTails& tails, Delta delta, std::int64_t max_groups) {
  check_positive(delta);
  check_groups(max_groups);
  const auto meets = [&](std::int64_t threshold) {
    return failure_up(tails, threshold, max_groups) <= delta.value();
  };
  if (!meets(kMaxThreshold)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("no threshold up to 2^53 has a delta of {}; use less noise",
                            format_number(delta.value())));
  }
  std::int64_t above = 0;  // does not meet it, or is out of range
  std::int64_t found = kMaxThreshold;
  for (std::int64_t step = 1; step < kMaxThreshold; step *= 2) {
    if (meets(step)) {
      found = step;
      break;
    }
    above = step;
  }
  while (found - above > 1) {
    const std::int64_t middle = above + (found - above) / 2;
    (meets(middle) ? found : above) = middle;
  }
  return found;
}

// A share of a total that is a whole number of units of 10^-decimals, if it has that many.
double share_down(double total, std::int64_t shares, int decimals) {
  const double share = numeric::divide_down(total, static_cast<double>(shares));
  const std::int64_t units = numeric::decimal_units_down(share, decimals);
  // Above 15 digits a double does not tell units apart, below 1 there are none.
  if (units < 1 || units >= 1'000'000'000'000'000) return share;
  return std::min(numeric::decimal_from_units(units, decimals), share);
}

}  // namespace

privacy::Event privacy_event(const KeySelection& selection, std::int64_t max_groups,
                             Neighbors neighbors) {
  validate(selection);
  check_groups(max_groups);
  return std::visit([&](const auto& spec) { return event_of(spec, max_groups, neighbors); },
                    selection);
}

LaplaceThreshold laplace_threshold(double scale, Delta delta, std::int64_t max_groups,
                                   std::int64_t min_units) {
  const NoiseTails tails(DiscreteLaplace{scale});
  const LaplaceThreshold spec{scale, smallest_threshold(tails, delta, max_groups), min_units};
  validate(spec);
  return spec;
}

GaussianThreshold gaussian_threshold(double sigma, Delta delta, std::int64_t max_groups,
                                     std::int64_t min_units) {
  const NoiseTails tails(DiscreteGaussian{sigma});
  const GaussianThreshold spec{sigma, smallest_threshold(tails, delta, max_groups), min_units};
  validate(spec);
  return spec;
}

LaplaceThreshold laplace_selection(Epsilon epsilon, Delta delta, std::int64_t max_groups,
                                   Neighbors neighbors, std::int64_t min_units) {
  check_groups(max_groups);
  const double share =
      share_down(epsilon.value(), changed_groups(max_groups, neighbors), privacy::kEpsilonDecimals);
  // Just below the share: its double may lie above the decimal that it stands for.
  const double scale = numeric::divide_up(1, numeric::step_down(share));
  return laplace_threshold(scale, delta, max_groups, min_units);
}

// Which share is best was found by trying all: 0.54 for one group, 0.6 for thirty, and flat around.
GaussianThreshold gaussian_selection(Epsilon epsilon, Delta delta, std::int64_t max_groups,
                                     Neighbors neighbors, std::int64_t min_units) {
  check_positive(delta);
  check_groups(max_groups);
  const double share = std::min(0.54 + 0.018 * std::log(static_cast<double>(max_groups)), 0.7);
  const Delta for_counts(share * delta.value());
  privacy::NoiseUse use;
  use.law = privacy::NoiseLaw::discrete_gaussian;
  use.replace_sensitivity = 1;
  use.count = changed_groups(max_groups, neighbors);
  const double sigma =
      privacy::calibrate_noise(use, {epsilon, for_counts, neighbors}, 1e-4).parameter;
  const Delta for_threshold(numeric::subtract_down(delta.value(), for_counts.value()));
  return gaussian_threshold(sigma, for_threshold, max_groups, min_units);
}

OptimalSelection optimal_selection(Epsilon epsilon, Delta delta, std::int64_t max_groups,
                                   Neighbors neighbors, std::int64_t min_units) {
  check_positive(delta);
  check_groups(max_groups);
  const std::int64_t shares = changed_groups(max_groups, neighbors);
  const OptimalSelection spec{share_down(epsilon.value(), shares, privacy::kEpsilonDecimals),
                              share_down(delta.value(), shares, privacy::kDeltaDecimals),
                              min_units};
  validate(spec);
  return spec;
}

std::int64_t even_chance_size(const KeySelection& selection) {
  validate(selection);
  const std::int64_t uncounted = min_units(selection) - 1;
  if (const auto* spec = std::get_if<OptimalSelection>(&selection)) {
    const OptimalChance chance = chance_of(*spec);
    std::int64_t below = 0;
    std::int64_t found = chance.certain_from();
    while (found - below > 1) {
      const std::int64_t middle = below + (found - below) / 2;
      (low_down(chance.at(middle, 64)) >= 0.5 ? found : below) = middle;
    }
    return found + uncounted;
  }
  // The noise is symmetric and an integer: P(X >= 0) > 1/2 > P(X >= 1).
  const auto* laplace = std::get_if<LaplaceThreshold>(&selection);
  const std::int64_t threshold =
      laplace ? laplace->threshold : std::get<GaussianThreshold>(selection).threshold;
  return threshold + uncounted;
}

}  // namespace shoal::mechanism
