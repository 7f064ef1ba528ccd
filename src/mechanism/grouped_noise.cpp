#include <shoal/base/error.hpp>
#include <shoal/mechanism/grouped_noise.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::mechanism {
namespace {

namespace event = privacy::event;

constexpr std::int64_t kMostGroups = std::int64_t{1} << 31;
constexpr std::int64_t kMostReach = std::int64_t{1} << 53;

privacy::Event repeated(privacy::Event once, std::int64_t count) {
  if (count == 1) return once;
  return event::Repeat{count, std::move(once)};
}

// What moves that are known in sum only cost, law by law: `sum` bounds their absolute values,
// `squares` their squares. A law that is not listed does not compile.
struct EventOfMoves {
  double sum;
  double squares;

  privacy::Event operator()(const DiscreteLaplace& spec) const { return pure(spec.scale); }
  privacy::Event operator()(const RoundedLaplace& spec) const { return pure(spec.scale); }
  privacy::Event operator()(const DiscreteGaussian& spec) const { return zcdp(spec.sigma); }
  privacy::Event operator()(const RoundedGaussian& spec) const { return zcdp(spec.sigma); }

  privacy::Event pure(double scale) const {
    return event::Pure{numeric::decimal_at_least(numeric::divide_up(sum, scale))};
  }
  privacy::Event zcdp(double sigma) const {
    return event::Zcdp{numeric::decimal_at_least(
        numeric::divide_up(squares, numeric::multiply_down(2 * sigma, sigma)))};
  }
};

// An exchange takes a unit out of up to m groups and puts another into up to m. Statistics that
// only grow move by at most `reach` in each of 2 m groups. One that can move both ways moves by up
// to exchange_reach where both units meet, so only the sums of the moves are known: |moves| adds up
// to at most 2 m reach, their squares to at most m max(exchange^2, 2 reach^2).
privacy::Event exchanged(const AnyMechanism& noise, const GroupStatistic& statistic,
                         std::int64_t max_groups) {
  const std::int64_t alone = reach(statistic);
  if (statistic.least == 0) {
    const privacy::Event once = privacy_event(noise, Sensitivity(alone));
    return repeated(privacy::stated_for(once, Neighbors::replace_one), 2 * max_groups);
  }
  const auto groups = static_cast<double>(max_groups);
  const double sum = numeric::multiply_up(2 * groups, static_cast<double>(alone));
  const auto meeting = static_cast<double>(exchange_reach(statistic));
  const double squares =
      std::max(numeric::multiply_up(meeting, meeting),
               2 * numeric::multiply_up(static_cast<double>(alone), static_cast<double>(alone)));
  return std::visit(EventOfMoves{sum, numeric::multiply_up(groups, squares)}, noise);
}

privacy::Event statistic_event(const AnyMechanism& noise, const GroupStatistic& statistic,
                               const GroupedNoise& grouping, Neighbors neighbors) {
  if (neighbors == Neighbors::add_remove) {
    return repeated(privacy_event(noise, Sensitivity(reach(statistic))), grouping.max_groups);
  }
  if (grouping.single) {
    const privacy::Event once = privacy_event(noise, Sensitivity(exchange_reach(statistic)));
    return privacy::stated_for(once, Neighbors::replace_one);
  }
  return exchanged(noise, statistic, grouping.max_groups);
}

void add_quantiles(const GroupQuantiles& quantiles, const GroupedNoise& grouping,
                   Neighbors neighbors, event::Compose& compose) {
  const GroupContribution contribution{grouping.max_groups, quantiles.values_per_unit,
                                       grouping.single};
  if (const auto* choices = std::get_if<std::vector<QuantileChoice>>(&quantiles.method)) {
    for (const QuantileChoice& choice : *choices) {
      compose.events.push_back(privacy_event(choice, contribution, neighbors));
    }
    return;
  }
  compose.events.push_back(privacy_event(std::get<TreeQuantiles>(quantiles.method).tree,
                                         leaf_count(quantiles.range), contribution, neighbors));
}

}  // namespace

std::int64_t reach(const GroupStatistic& statistic) {
  return std::max<std::int64_t>(std::max(-statistic.least, statistic.most), 1);
}

std::int64_t exchange_reach(const GroupStatistic& statistic) {
  return std::max<std::int64_t>(statistic.most - statistic.least, 1);
}

void validate(const GroupedNoise& noise) {
  if (noise.max_groups < 1 || noise.max_groups > kMostGroups ||
      (noise.single && noise.max_groups != 1)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("a unit is in {} groups; it must be 1 to {}, and 1 if there is only one",
                    noise.max_groups, kMostGroups));
  }
  for (const GroupStatistic& statistic : noise.statistics) {
    if (statistic.least > 0 || statistic.most < 0 || statistic.least < -kMostReach / 2 ||
        statistic.most > kMostReach / 2) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("a unit adds {} to {} steps to a statistic; the first must be at most "
                      "0, the second at least 0, and both below 2^52",
                      statistic.least, statistic.most));
    }
    if (statistic.noise) {
      validate(*statistic.noise);
    } else if (!noise.selection || std::holds_alternative<OptimalSelection>(*noise.selection)) {
      throw Error(ErrorCode::invalid_argument,
                  "a statistic has neither noise nor a selection that makes it noisy");
    }
  }
  if (noise.selection) validate(*noise.selection);
}

privacy::Event grouped_event(std::span<const GroupedNoise> noises, Neighbors neighbors) {
  event::Compose compose;
  for (const GroupedNoise& grouping : noises) {
    validate(grouping);
    for (const GroupStatistic& statistic : grouping.statistics) {
      if (!statistic.noise) continue;
      compose.events.push_back(statistic_event(*statistic.noise, statistic, grouping, neighbors));
    }
    for (const GroupQuantiles& quantiles : grouping.quantiles) {
      add_quantiles(quantiles, grouping, neighbors, compose);
    }
    if (grouping.selection) {
      compose.events.push_back(privacy_event(*grouping.selection, grouping.max_groups, neighbors));
    }
  }
  return compose;
}

}  // namespace shoal::mechanism
