// GROUP BY of a question: its keys and the sets of them, and which keys are public.
#pragma once

#include "plan/options.hpp"
#include "plan/relation.hpp"
#include "plan/row_expression.hpp"

#include <shoal/plan/plan.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace shoal::plan {

struct GroupKey {
  sql::Expression written;
  TypedExpression typed;
};

struct Grouping {
  std::vector<GroupKey> keys;
  std::vector<std::vector<std::size_t>> sets;  // without GROUP BY one of no key
};

// Throws unsupported, not_found, invalid_argument or refused_by_policy, with the position.
Grouping read_grouping(const sql::Query& query, const PlannedRelation& from,
                       const RowExpressions& rows, std::string_view text);

// Fills groupings, noises (their max_groups and single), rows_per_group, distinct_per_group and
// min_units. With totals of a person in a group, one row of each counts. Throws refused_by_policy
// if it is not known how much of a person may count, or if public groups are asked for where there
// are none.
void bound_groups(const Grouping& grouping, const PlannedRelation& from,
                  const ResolvedOptions& options, const catalog::Policy& policy,
                  std::string_view text, Plan& plan);

// The condition that a row's keys are public ones, if all are listed and there is one set of keys,
// or several that are to agree.
std::optional<sql::Expression> listed_keys(const Grouping& grouping, const Plan& plan);

}  // namespace shoal::plan
