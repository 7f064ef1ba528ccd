// Searches by themselves: their noise and what their histograms say.
#include "plan/noise_share.hpp"
#include "plan/value_bins.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/plan/automatic.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::plan {
namespace {

// Counts of empty bins stay below it, all of them, with kSearchConfidence. Nothing that is promised
// rests on it: a bin that is taken wrongly makes bounds wider than they need be.
double threshold(const Plan& plan, std::size_t bins) {
  const double scale = mechanism::noise_scale(*plan.noises.front().statistics.front().noise);
  return scale * std::log(static_cast<double>(bins) / (2 * (1 - kSearchConfidence)));
}

std::vector<double> counts_of(const Search& search,
                              std::span<const catalog::ReleasedGroup> released) {
  SHOAL_CHECK(released.size() == search.bins.size());
  std::vector<double> counts;
  for (const catalog::ReleasedGroup& group : released) {
    counts.push_back(static_cast<double>(group.values.at(0)));
  }
  return counts;
}

Found read_bounds(const Search& search, const std::vector<double>& counts, double above) {
  std::optional<catalog::Bounds> all;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!(counts[i] > above)) continue;
    const catalog::Bounds values = values_of_bin(search.bins[i], search.whole);
    all = catalog::Bounds{all ? std::min(all->lower, values.lower) : values.lower,
                          all ? std::max(all->upper, values.upper) : values.upper};
  }
  if (!all) return {};
  if (search.within) {
    all->lower = std::max(all->lower, search.within->lower);
    all->upper = std::min(all->upper, search.within->upper);
  }
  // Everybody has the same value, or one at the end of what was declared.
  if (!(all->lower < all->upper)) {
    if (search.within) return {search.within, std::nullopt};
    all->upper = all->lower + 1;
  }
  return {all, std::nullopt};
}

Found read_groups(const Search& search, const std::vector<double>& counts, double above) {
  double total = 0;
  for (const double count : counts) total += std::max(count, 0.0);
  if (!(total > above)) return {};
  double so_far = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    so_far += std::max(counts[i], 0.0);
    if (so_far >= kGroupsQuantile * total) return {std::nullopt, search.bins[i]};
  }
  return {std::nullopt, search.bins.back()};
}

}  // namespace

bool must_search(const Plan& plan) {
  return std::any_of(plan.automatic.begin(), plan.automatic.end(),
                     [](const Automatic& one) { return !one.found; });
}

privacy::Event search_event(const Search& search) {
  return privacy::declared({search.epsilon_units, 0, 0});
}

Plan search_plan(const Search& search, Neighbors neighbors) {
  Plan plan;
  plan.rows = search.rows;
  plan.has_unit = search.has_unit;
  plan.clustered = search.clustered;
  plan.neighbors = neighbors;
  plan.keys.push_back({"bin", catalog::ColumnType::integer});
  plan.statistics.push_back({catalog::StatisticKind::units, 0, "", {}});
  PlannedGrouping& grouping = plan.groupings.emplace_back();
  grouping.keys = {0};
  for (const std::int64_t bin : search.bins) {
    grouping.public_keys.push_back({fmt::format("{}", bin)});
  }
  mechanism::GroupedNoise& noise = plan.noises.emplace_back();
  mechanism::GroupStatistic people;
  const Share share{true, search.epsilon_units, 0};
  const double epsilon =
      numeric::decimal_from_units(search.epsilon_units, privacy::kEpsilonDecimals);
  people.noise = smallest_noise(share, people, noise, neighbors, epsilon);
  noise.statistics.push_back(people);
  plan.epsilon = Epsilon(epsilon);
  plan.event = mechanism::grouped_event(plan.noises, neighbors);
  plan.charge = privacy::price(plan.event, neighbors);
  SHOAL_CHECK(privacy::covers(search_event(search), plan.event, neighbors));
  return plan;
}

Found read_search(const Search& search, const Plan& plan,
                  std::span<const catalog::ReleasedGroup> released) {
  const std::vector<double> counts = counts_of(search, released);
  const double above = threshold(plan, search.bins.size());
  return search.kind == SearchKind::bounds ? read_bounds(search, counts, above)
                                           : read_groups(search, counts, above);
}

}  // namespace shoal::plan
