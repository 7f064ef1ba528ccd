// The shape of a grouped request: what has to be kept of a unit in a group so that every statistic
// can be bounded and added up. Made of public facts alone.
#pragma once

#include "engine/keyed_hash.hpp"

#include <shoal/base/int128.hpp>
#include <shoal/engine/grouped_request.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::engine {

// What is kept of one value column of a unit in a group.
struct ValueSums {
  std::int64_t count = 0;
  Int128 sum = 0;      // of the steps
  Int128 squares = 0;  // of the steps less the middle
};

// Of a statistic that is a sum, per row: what is taken off each value, and its bounds for all rows
// of a unit in a group.
struct SumLimits {
  std::int64_t centre = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;
};

struct GroupShape {
  // Throws invalid_argument or unsupported if the request contradicts itself or asks for too much.
  explicit GroupShape(const GroupedRequest& request);

  // What a unit adds to statistic `index`, which is one integer, within its bounds.
  std::int64_t bounded(std::size_t index, std::int64_t rows,
                       std::span<const ValueSums> values) const;

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
  std::vector<SumLimits> limits;      // one a statistic
  std::vector<bool> squared;          // one a value: whether squares are asked for
  std::vector<bool> listed;           // one a value: whether the values themselves are
  std::vector<bool> summed;           // one a value: whether their sum is
};

// number / divisor, rounded to the nearest, halves away from zero. The divisor is above 0.
constexpr Int128 divide_rounding(Int128 number, Int128 divisor) {
  const Int128 quotient = number / divisor;
  const Int128 rest = number % divisor;
  const Int128 size = rest < 0 ? -rest : rest;
  if (size < divisor - size) return quotient;
  return number < 0 ? quotient - 1 : quotient + 1;
}

}  // namespace shoal::engine
