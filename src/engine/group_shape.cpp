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

// More than `most` values count as `most` of them: what so many drawn at random would give on
// average.
Int128 scaled(Int128 sum, std::int64_t count, std::int64_t most) {
  return count > most ? divide_rounding(saturating_multiply(sum, most), count) : sum;
}

SumLimits limits_of(const catalog::Statistic& statistic, std::int64_t rows) {
  SumLimits limits;
  if (statistic.kind == StatisticKind::centred_sum) limits.centre = statistic.range.middle();
  if (statistic.kind == StatisticKind::centred_squares)
    limits.centre = square_offset(statistic.range);
  SHOAL_CHECK(!__builtin_mul_overflow(rows, statistic.least_per_row(), &limits.least));
  SHOAL_CHECK(!__builtin_mul_overflow(rows, statistic.most_per_row(), &limits.most));
  return limits;
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
      listed(request.values.size()),
      summed(request.values.size()) {
  check(request);
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    const catalog::Statistic& statistic = statistics[i];
    limits.push_back(limits_of(statistic, rows_per_group));
    (statistic.kind == StatisticKind::leaves ? leaves : integers).push_back(i);
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
        summed[statistic.value] = true;
        break;
      case StatisticKind::units:
      case StatisticKind::rows:
      case StatisticKind::values:
        break;
    }
  }
}

std::int64_t GroupShape::bounded(std::size_t index, std::int64_t rows,
                                 std::span<const ValueSums> sums) const {
  const catalog::Statistic& statistic = statistics[index];
  if (statistic.kind == StatisticKind::units) return 1;
  if (statistic.kind == StatisticKind::rows) return std::min(rows, rows_per_group);
  if (statistic.kind == StatisticKind::distinct) return 0;  // counted from the values themselves
  const ValueSums& value = sums[statistic.value];
  if (statistic.kind == StatisticKind::values) return std::min(value.count, rows_per_group);
  const SumLimits& limit = limits[index];
  const bool squares = statistic.kind == StatisticKind::centred_squares;
  const Int128 sum =
      (squares ? value.squares : value.sum) - static_cast<Int128>(value.count) * limit.centre;
  // Whatever the arithmetic gave, it is the clamp that the bound rests on.
  return static_cast<std::int64_t>(
      std::clamp<Int128>(scaled(sum, value.count, rows_per_group), limit.least, limit.most));
}

}  // namespace shoal::engine
