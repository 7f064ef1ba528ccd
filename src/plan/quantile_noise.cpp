#include "plan/quantile_noise.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/random/scale.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::plan {
namespace {

using mechanism::GroupedNoise;

// From this many on, one tree answers better than one choice each.
constexpr std::size_t kFewestForTree = 3;
// Fewer than a quantile can have, so that rounding outward at both ends still fits.
constexpr double kMostLeafSteps = 64'000;
// A choice with an interval is three: the value and both ends.
constexpr std::int64_t kChoices = 3;

bool is_extreme(const PlannedAggregate& one) {
  return one.kind == AggregateKind::minimum || one.kind == AggregateKind::maximum;
}

std::vector<PlannedAggregate> quantiles_of(const std::vector<PlannedAggregate>& aggregates,
                                           std::size_t statistic) {
  std::vector<PlannedAggregate> found;
  for (const PlannedAggregate& one : aggregates) {
    if (one.statistic == statistic) found.push_back(one);
  }
  return found;
}

bool by_tree(const std::vector<PlannedAggregate>& quantiles) {
  return quantiles.size() >= kFewestForTree &&
         std::none_of(quantiles.begin(), quantiles.end(), is_extreme);
}

// The bounded range that each choice of one group may have. An exchange of units in different
// groups counts twice in its event.
double choice_share(const Share& share, const GroupedNoise& grouping, Neighbors neighbors,
                    double epsilon) {
  const bool twice = neighbors == Neighbors::replace_one && !grouping.single;
  const std::int64_t units = share.units / (kChoices * grouping.max_groups) - 2;
  if (units < 1) too_noisy(epsilon);
  double one = numeric::from_units_down(units, privacy::kEpsilonDecimals);
  if (!share.laplace) {
    const double rho = numeric::from_units_down(units, privacy::kRhoDecimals);
    one = numeric::sqrt_down(numeric::multiply_down(8, rho));
  }
  return twice ? one / 2 : one;
}

mechanism::QuantileChoice make_choice(const PlannedAggregate& quantile, const Share& share,
                                      const mechanism::GroupContribution& contribution,
                                      const GroupedNoise& grouping, std::int64_t leaves,
                                      Confidence confidence, Neighbors neighbors, double epsilon) {
  const Epsilon each(choice_share(share, grouping, neighbors, epsilon));
  mechanism::QuantileChoice choice;
  if (is_extreme(quantile)) {
    mechanism::ExtremeRank extreme{quantile.kind == AggregateKind::minimum
                                       ? mechanism::Extreme::minimum
                                       : mechanism::Extreme::maximum,
                                   1};
    choice.scale = choice_scale(extreme, each, contribution, neighbors);
    extreme.rank = mechanism::extreme_rank(choice.scale, leaves, confidence);
    choice.target = extreme;
  } else {
    choice.target = mechanism::fraction_of(quantile.fraction);
    choice.scale = choice_scale(choice.target, each, contribution, neighbors);
  }
  choice.bound_scale = choice.scale;
  return choice;
}

mechanism::QuantileTree make_tree(const Share& share, const GroupedNoise& grouping,
                                  std::int64_t leaves, std::int64_t values, Neighbors neighbors,
                                  double epsilon) {
  const bool twice = neighbors == Neighbors::replace_one;
  const std::int64_t counts =
      grouping.max_groups * mechanism::tree_levels(leaves) * (twice ? 2 : 1);
  const std::int64_t units = share.units / counts - 2;
  if (units < 1) too_noisy(epsilon);
  const auto moved = static_cast<double>(values);
  if (share.laplace) {
    const double scale =
        numeric::divide_up(numeric::multiply_up(moved, 1e12), static_cast<double>(units));
    if (!(scale <= random::kMaxScale)) too_noisy(epsilon);
    return {mechanism::DiscreteLaplace{std::max(scale, random::kMinScale)}};
  }
  const double rho = numeric::from_units_down(units, privacy::kRhoDecimals);
  const double sigma =
      numeric::divide_up(moved, numeric::sqrt_down(numeric::multiply_down(2, rho)));
  if (!(sigma <= random::kMaxScale)) too_noisy(epsilon);
  return {mechanism::DiscreteGaussian{std::max(sigma, random::kMinScale)}};
}

}  // namespace

std::size_t quantile_parts(const std::vector<PlannedAggregate>& aggregates, std::size_t statistic) {
  const std::vector<PlannedAggregate> quantiles = quantiles_of(aggregates, statistic);
  return by_tree(quantiles) ? 1 : quantiles.size();
}

catalog::GridRange leaf_range(const WantedValue& wanted) {
  const double width = wanted.bounds.upper - wanted.bounds.lower;
  const bool whole = wanted.type.whole && width <= kMostLeafSteps;
  return place_on_grid(wanted.bounds,
                       choose_grid(wanted.bounds, whole ? 1 : 2 * width / kMostLeafSteps, whole));
}

mechanism::GroupQuantiles quantile_noise(const Plan& plan, std::size_t statistic,
                                         const GroupedNoise& grouping,
                                         std::span<const Share> shares, double epsilon) {
  const std::vector<PlannedAggregate> quantiles = quantiles_of(plan.aggregates, statistic);
  const catalog::GridRange& range = plan.statistics[statistic].range;
  mechanism::GroupQuantiles made;
  made.values_per_unit = plan.rows_per_group;
  made.range = {range.lower, range.upper};
  // Its interval is made when it is released, so for the column that needs the surest one.
  std::size_t parts = 1;
  for (const PlannedAggregate& one : quantiles) parts = std::max(parts, one.parts);
  made.confidence = 1 - (1 - plan.confidence.value()) / static_cast<double>(parts);
  const std::int64_t leaves = mechanism::leaf_count(made.range);
  if (by_tree(quantiles)) {
    mechanism::TreeQuantiles tree;
    tree.tree =
        make_tree(shares.front(), grouping, leaves, made.values_per_unit, plan.neighbors, epsilon);
    for (const PlannedAggregate& one : quantiles) {
      tree.fractions.push_back(mechanism::fraction_of(one.fraction));
    }
    made.method = std::move(tree);
    return made;
  }
  const mechanism::GroupContribution contribution{grouping.max_groups, made.values_per_unit,
                                                  grouping.single};
  std::vector<mechanism::QuantileChoice> choices;
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    choices.push_back(make_choice(quantiles[i], shares[i], contribution, grouping, leaves,
                                  plan.confidence, plan.neighbors, epsilon));
  }
  made.method = std::move(choices);
  return made;
}

}  // namespace shoal::plan
