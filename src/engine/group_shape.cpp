#include "engine/group_shape.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::engine {
namespace {

using catalog::StatisticKind;

// The bits of RowBlock::present.
constexpr std::size_t kMaxValues = 32;
// A bit a key column.
constexpr std::size_t kMaxKeys = 32;

bool needs_value(StatisticKind kind) {
  return kind != StatisticKind::units && kind != StatisticKind::rows;
}

bool needs_steps(StatisticKind kind) {
  return kind == StatisticKind::plain_sum || kind == StatisticKind::centred_sum ||
         kind == StatisticKind::centred_squares || kind == StatisticKind::leaves;
}

void check(const GroupedRequest& request) {
  SHOAL_CHECK(!request.sets.empty());
  SHOAL_CHECK(request.rows_per_group >= 1 && request.distinct_per_group >= 1);
  if (request.values.size() > kMaxValues || request.keys.size() > kMaxKeys) {
    throw Error(ErrorCode::unsupported,
                fmt::format("the question has {} grouping columns and {} values; at most {} and {} "
                            "can be answered at once: ask in parts",
                            request.keys.size(), request.values.size(), kMaxKeys, kMaxValues));
  }
  for (const GroupingSet& set : request.sets) {
    SHOAL_CHECK(set.max_groups >= 1);
    for (const std::size_t key : set.keys) SHOAL_CHECK(key < request.keys.size());
  }
  for (const catalog::Statistic& statistic : request.statistics) {
    if (!needs_value(statistic.kind)) continue;
    SHOAL_CHECK(statistic.value < request.values.size());
    const ValueColumn& value = request.values[statistic.value];
    if (needs_steps(statistic.kind))
      SHOAL_CHECK(value.use == ValueUse::steps && value.range == statistic.range);
    if (statistic.kind == StatisticKind::centred_squares)
      SHOAL_CHECK(statistic.range.radius() <= catalog::kMaxSquaredRadius);
  }
}

IntegerPlan plan_of(const catalog::Statistic& statistic, std::int64_t rows) {
  IntegerPlan plan;
  plan.kind = statistic.kind;
  plan.value = statistic.value;
  if (statistic.kind == StatisticKind::centred_sum) plan.centre = statistic.range.middle();
  if (statistic.kind == StatisticKind::centred_squares)
    plan.centre = square_offset(statistic.range);
  SHOAL_CHECK(!__builtin_mul_overflow(rows, statistic.least_per_row(), &plan.least));
  SHOAL_CHECK(!__builtin_mul_overflow(rows, statistic.most_per_row(), &plan.most));
  return plan;
}

}  // namespace

GroupShape::GroupShape(const GroupedRequest& request)
    : keys(request.keys),
      values(request.values),
      sets(request.sets),
      statistics(request.statistics),
      rows_per_group(request.rows_per_group),
      distinct_per_group(request.distinct_per_group),
      min_units(request.min_units),
      hash_key(request.hash_key),
      squared(request.values.size()),
      listed(request.values.size()) {
  check(request);
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    const catalog::Statistic& statistic = statistics[i];
    if (statistic.kind == StatisticKind::leaves) {
      leaves.push_back(i);
    } else {
      integers.push_back(i);
      plans.push_back(plan_of(statistic, rows_per_group));
    }
    switch (statistic.kind) {
      case StatisticKind::distinct:
        distinct.push_back(i);
        listed[statistic.value] = true;
        break;
      case StatisticKind::leaves:
        listed[statistic.value] = true;
        break;
      case StatisticKind::centred_squares:
        squared[statistic.value] = true;
        break;
      case StatisticKind::plain_sum:
      case StatisticKind::centred_sum:
      case StatisticKind::units:
      case StatisticKind::rows:
      case StatisticKind::values:
        break;
    }
  }
}

}  // namespace shoal::engine
