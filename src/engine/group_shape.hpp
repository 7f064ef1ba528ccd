// The shape of a grouped request: what has to be kept of a unit in a group so that every statistic
// can be bounded and added up. Made of public facts alone.
#pragma once

#include "engine/keyed_hash.hpp"

#include <shoal/base/int128.hpp>
#include <shoal/engine/grouped_request.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::engine {

// What is kept of one value column of a unit in a group.
struct ValueSums {
  std::int64_t count = 0;
  Int128 sum = 0;      // of the steps
  Int128 squares = 0;  // of the steps less the middle
};

// number / divisor, rounded to the nearest, halves away from zero. The divisor is above 0.
constexpr Int128 divide_rounding(Int128 number, Int128 divisor) {
  const Int128 quotient = number / divisor;
  const Int128 rest = number % divisor;
  const Int128 size = rest < 0 ? -rest : rest;
  if (size < divisor - size) return quotient;
  return number < 0 ? quotient - 1 : quotient + 1;
}

// How a unit in a group is bounded in one integer statistic.
struct IntegerPlan {
  catalog::StatisticKind kind = catalog::StatisticKind::rows;
  std::size_t value = 0;
  std::int64_t centre = 0;  // is taken off each value or square
  std::int64_t least = 0;   // of all rows of the unit in the group
  std::int64_t most = 0;

  // What a unit with so many rows there adds.
  std::int64_t bounded(std::int64_t rows, const ValueSums* values,
                       std::int64_t rows_per_group) const;
};

struct GroupShape {
  // Throws invalid_argument or unsupported if the request contradicts itself or asks for too much.
  explicit GroupShape(const GroupedRequest& request);

  std::vector<KeyType> keys;
  std::vector<ValueColumn> values;
  std::vector<GroupingSet> sets;
  std::vector<catalog::Statistic> statistics;
  std::int64_t rows_per_group;
  std::int64_t distinct_per_group;
  std::int64_t min_units;
  HashKey hash_key;

  std::vector<std::size_t> integers;  // the statistics that are one integer, in order
  std::vector<std::size_t> leaves;    // the others
  std::vector<std::size_t> distinct;  // of the integers, those that need the values themselves
  std::vector<IntegerPlan> plans;     // one each of `integers`
  std::vector<bool> squared;          // one a value: whether squares are asked for
  std::vector<bool> listed;           // one a value: whether the values themselves are
};

inline std::int64_t IntegerPlan::bounded(std::int64_t rows, const ValueSums* values,
                                         std::int64_t rows_per_group) const {
  using catalog::StatisticKind;
  if (kind == StatisticKind::units) return 1;
  if (kind == StatisticKind::rows) return std::min(rows, rows_per_group);
  if (kind == StatisticKind::distinct) return 0;  // counted from the values themselves
  const ValueSums& own = values[value];
  if (kind == StatisticKind::values) return std::min(own.count, rows_per_group);
  Int128 sum = (kind == StatisticKind::centred_squares ? own.squares : own.sum) -
               static_cast<Int128>(own.count) * centre;
  // More values than may count are scaled down: what so many drawn at random would give on average.
  if (own.count > rows_per_group)
    sum = divide_rounding(saturating_multiply(sum, rows_per_group), own.count);
  // Whatever the arithmetic gave, it is this clamp that the bound rests on.
  return static_cast<std::int64_t>(std::clamp<Int128>(sum, least, most));
}

}  // namespace shoal::engine
