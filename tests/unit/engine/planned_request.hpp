// A planned question as a request to an engine, with bounds so wide that no hash decides.
#pragma once

#include <shoal/engine/engine.hpp>
#include <shoal/plan/plan.hpp>

namespace shoal::test {

inline engine::KeyType key_type_of(catalog::ColumnType type) {
  using engine::KeyType;
  switch (type) {
    case catalog::ColumnType::integer:
      return KeyType::integer;
    case catalog::ColumnType::real:
      return KeyType::real;
    case catalog::ColumnType::boolean:
      return KeyType::boolean;
    case catalog::ColumnType::date:
      return KeyType::date;
    case catalog::ColumnType::timestamp:
      return KeyType::timestamp;
    case catalog::ColumnType::text:
    case catalog::ColumnType::other:
      break;
  }
  return KeyType::text;
}

inline engine::GroupedRequest roomy_request(const plan::Plan& plan) {
  constexpr std::int64_t kMany = 100'000;
  engine::GroupedRequest request;
  request.rows = plan.rows;
  request.has_unit = plan.has_unit;
  for (const plan::PlannedKey& key : plan.keys) request.keys.push_back(key_type_of(key.type));
  for (const plan::PlannedValue& value : plan.values) {
    request.values.push_back({value.identity ? engine::ValueUse::identity : engine::ValueUse::steps,
                              value.whole, value.range, value.nulls, key_type_of(value.type)});
  }
  for (const plan::PlannedGrouping& grouping : plan.groupings)
    request.sets.push_back({grouping.keys, kMany});
  request.statistics = plan.statistics;
  request.rows_per_group = plan.has_unit ? 1000 : 1;
  request.distinct_per_group = kMany;
  return request;
}

}  // namespace shoal::test
