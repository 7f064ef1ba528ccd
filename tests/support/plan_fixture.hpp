// Plans over a small table t with a whole-number column x in [-40, 60] and a real column r in [0,
// 1].
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/plan/plan.hpp>

namespace shoal::test {

inline constexpr const char* kPlanPolicy = R"(
[dataset]
name = "t"
lineage = "t"
[privacy]
unit = "row"
neighbors = "add_remove"
[budget]
epsilon = 10
delta = 1e-5
ledger = "t.ledger"
[table.t]
source = "t.csv"
format = "csv"
[table.t.column.x]
type = "integer"
bounds = [-40, 60]
[table.t.column.r]
type = "real"
bounds = [0, 1]
)";

inline plan::Plan plan_of(const char* sql, const plan::QueryOptions& options) {
  static const catalog::Policy kParsed = catalog::parse_policy(kPlanPolicy, "/");
  return plan::make_plan(sql, kParsed, options);
}

}  // namespace shoal::test
