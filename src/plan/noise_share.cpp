#include "plan/noise_share.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::plan {
namespace {

using mechanism::GroupedNoise;
using mechanism::GroupStatistic;

// Units kept back where an event is stated as one rounded number instead of a noise and a distance.
constexpr std::int64_t kRoundingUnits = 8;

std::int64_t move_count(const GroupedNoise& grouping, Neighbors neighbors) {
  if (grouping.single) return 1;
  return neighbors == Neighbors::add_remove ? grouping.max_groups : 2 * grouping.max_groups;
}

// A distance that one group's statistic moves, and the part of the share that this group gets.
struct GroupShare {
  double distance;
  std::int64_t units;
};

double laplace_scale(const GroupShare& one) {
  // Rounded up, so the exact ratio, and with it the charge, is at most the share.
  return numeric::divide_up(numeric::multiply_up(one.distance, 1e12),
                            static_cast<double>(one.units));
}

double gaussian_sigma(const GroupShare& one) {
  const double rho = numeric::from_units_down(one.units, privacy::kRhoDecimals);
  return numeric::divide_up(one.distance, numeric::sqrt_down(numeric::multiply_down(2, rho)));
}

}  // namespace

double Share::unit_scale() const {
  const auto amount = static_cast<double>(units);
  return laplace ? 1e12 / amount : std::sqrt(1e15 / (2 * amount));
}

void too_noisy(double epsilon) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("epsilon {} is so small that the noise cannot be represented; use a "
                          "larger epsilon, fewer columns, or let a person count in fewer groups "
                          "and rows",
                          format_number(epsilon)));
}

double groups_moved(const GroupedNoise& grouping, Neighbors neighbors) {
  return static_cast<double>(move_count(grouping, neighbors));
}

double widening(const Share& share, const GroupedNoise& grouping, Neighbors neighbors) {
  const double groups = groups_moved(grouping, neighbors);
  return share.laplace ? groups : std::sqrt(groups);
}

mechanism::AnyMechanism smallest_noise(const Share& share, const GroupStatistic& statistic,
                                       const GroupedNoise& grouping, Neighbors neighbors,
                                       double epsilon) {
  const bool exchange = neighbors == Neighbors::replace_one;
  GroupShare one{static_cast<double>(reach(statistic)),
                 share.units / move_count(grouping, neighbors)};
  if (exchange && grouping.single) one.distance = static_cast<double>(exchange_reach(statistic));
  if (exchange && !grouping.single && statistic.least < 0) {
    // See grouped_noise.cpp: only the sum of the moves, or of their squares, is known.
    const auto groups = static_cast<double>(grouping.max_groups);
    const double meeting = static_cast<double>(exchange_reach(statistic));
    one.units = share.units - kRoundingUnits;
    one.distance =
        share.laplace
            ? numeric::multiply_up(2 * groups, one.distance)
            : numeric::sqrt_up(numeric::multiply_up(
                  groups, std::max(numeric::multiply_up(meeting, meeting),
                                   2 * numeric::multiply_up(one.distance, one.distance))));
  }
  if (one.units < 1) too_noisy(epsilon);
  double scale = share.laplace ? laplace_scale(one) : gaussian_sigma(one);
  if (!(scale <= random::kMaxScale)) too_noisy(epsilon);
  scale = std::max(scale, random::kMinScale);
  if (share.laplace) return mechanism::DiscreteLaplace{scale};
  return mechanism::DiscreteGaussian{scale};
}

}  // namespace shoal::plan
