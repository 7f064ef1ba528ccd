// Aggregates that share what is released, once all of a question are known.
#include "plan/aggregates.hpp"

#include <algorithm>

namespace shoal::plan {

using catalog::StatisticKind;

// An average beside a variance of the same values is made of two of its three statistics.
void AggregatePlanner::share_spreads() {
  for (PlannedAggregate& average : wanted_.aggregates) {
    if (average.kind != AggregateKind::average) continue;
    const WantedValue& value = wanted_.values[wanted_.statistics[average.statistic].value];
    for (const PlannedAggregate& spread : wanted_.aggregates) {
      if (!spread.squares) continue;
      const WantedValue& other = wanted_.values[wanted_.statistics[spread.statistic].value];
      if (other.expression == value.expression && other.bounds == value.bounds) {
        average.statistic = spread.statistic;
      }
    }
  }
}

// A sum over counted values is the count times the middle plus what the values differ from it,
// which moves less than the values do.
void AggregatePlanner::share_counts() {
  for (PlannedAggregate& sum : wanted_.aggregates) {
    if (sum.kind != AggregateKind::sum) continue;
    const std::size_t at = wanted_.statistics[sum.statistic].value;
    const WantedValue& value = wanted_.values[at];
    for (const PlannedAggregate& other : wanted_.aggregates) {
      if (other.kind == AggregateKind::average && other.bounds == sum.bounds &&
          wanted_.values[wanted_.statistics[other.statistic].value].expression ==
              value.expression) {
        sum.statistic = other.statistic;
        sum.denominator = other.denominator;
      }
    }
    if (sum.denominator) continue;
    for (std::size_t i = 0; i < wanted_.statistics.size(); ++i) {
      const WantedStatistic& count = wanted_.statistics[i];
      const bool counts_these = value.type.nullable
                                    ? count.kind == StatisticKind::values &&
                                          wanted_.values[count.value].expression == value.expression
                                    : count.kind == StatisticKind::rows;
      if (!counts_these) continue;
      sum.denominator = i;
      sum.statistic = want(StatisticKind::centred_sum, at);
      break;
    }
  }
}

WantedAggregates AggregatePlanner::finish(bool one_row_each) && {
  share_spreads();
  share_counts();
  // The count of values can be taken from whatever is summed of the same expression.
  for (WantedStatistic& statistic : wanted_.statistics) {
    if (statistic.kind != StatisticKind::values) continue;
    for (std::size_t i = 0; i < wanted_.values.size(); ++i) {
      const WantedValue& other = wanted_.values[i];
      if ((other.purpose == ValuePurpose::sum || other.purpose == ValuePurpose::squares) &&
          other.expression == wanted_.values[statistic.value].expression) {
        statistic.value = i;
        break;
      }
    }
  }
  // Only what is used stays, in the order in which it was asked for.
  WantedAggregates kept;
  std::vector<std::optional<std::size_t>> value_at(wanted_.values.size());
  std::vector<std::optional<std::size_t>> statistic_at(wanted_.statistics.size());
  const auto keep = [&](std::size_t index) {
    if (statistic_at[index]) return *statistic_at[index];
    WantedStatistic statistic = wanted_.statistics[index];
    if (statistic.kind == StatisticKind::rows && one_row_each)
      statistic.kind = StatisticKind::units;
    if (statistic.kind != StatisticKind::rows && statistic.kind != StatisticKind::units) {
      auto& at = value_at[statistic.value];
      if (!at) {
        at = kept.values.size();
        kept.values.push_back(wanted_.values[statistic.value]);
      }
      statistic.value = *at;
    }
    const auto same = std::find_if(
        kept.statistics.begin(), kept.statistics.end(), [&](const WantedStatistic& other) {
          return other.kind == statistic.kind && other.value == statistic.value;
        });
    statistic_at[index] = static_cast<std::size_t>(same - kept.statistics.begin());
    if (same == kept.statistics.end()) kept.statistics.push_back(statistic);
    return *statistic_at[index];
  };
  // Histograms come last, so that the integers of a group are numbered as statistics are.
  kept.aggregates = wanted_.aggregates;
  for (const bool histograms : {false, true}) {
    for (std::size_t i = 0; i < kept.aggregates.size(); ++i) {
      PlannedAggregate& one = kept.aggregates[i];
      const WantedStatistic& asked = wanted_.statistics[wanted_.aggregates[i].statistic];
      if ((asked.kind == StatisticKind::leaves) != histograms) continue;
      if (one.denominator) one.denominator = keep(*one.denominator);
      one.statistic = keep(one.statistic);
      if (one.squares) one.squares = keep(*one.squares);
    }
  }
  number_quantiles(kept);
  return kept;
}

// A group's quantiles are released histogram by histogram.
void AggregatePlanner::number_quantiles(WantedAggregates& kept) const {
  std::size_t next = 0;
  for (std::size_t i = 0; i < kept.statistics.size(); ++i) {
    if (kept.statistics[i].kind != StatisticKind::leaves) continue;
    for (PlannedAggregate& one : kept.aggregates) {
      if (one.statistic == i) one.quantile = next++;
    }
  }
}

}  // namespace shoal::plan
