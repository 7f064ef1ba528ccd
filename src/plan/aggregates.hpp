// Aggregates of a question, taken apart into the statistics that are released: a count that serves
// two of them is released once.
#pragma once

#include "plan/automatic.hpp"
#include "plan/relation.hpp"
#include "plan/row_expression.hpp"

#include <shoal/plan/plan.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::plan {

// What a value is for decides its grid: squares need a coarser one than sums, and where only NULL
// or not matters there is none.
enum class ValuePurpose { presence, sum, squares, identity, leaves };

struct WantedValue {
  sql::Expression expression;
  ValueType type;
  ValuePurpose purpose = ValuePurpose::sum;
  catalog::Bounds bounds = {0, 1};
  std::string of;  // in words
};

struct WantedStatistic {
  catalog::StatisticKind kind = catalog::StatisticKind::rows;
  std::size_t value = 0;
};

struct WantedAggregates {
  std::vector<WantedValue> values;
  std::vector<WantedStatistic> statistics;
  std::vector<PlannedAggregate> aggregates;
};

// Whether an aggregate has contribution_bounds_per_group: bounds of a person's total in a group.
bool bounds_total(const sql::Expression& call);

class AggregatePlanner {
 public:
  // All must outlive it. With rows_per_person, values are totals of a person in a group; a count
  // without bounds of its own is bounded to so many.
  AggregatePlanner(const PlannedRelation& from, const RowExpressions& rows,
                   AutomaticPlanner& automatic, std::optional<std::int64_t> rows_per_person,
                   std::string_view text)
      : from_(from),
        rows_(rows),
        automatic_(automatic),
        rows_per_person_(rows_per_person),
        text_(text) {}

  // The index of the aggregate that a call means. Throws unsupported, invalid_argument,
  // refused_by_policy or parse_error, with the position.
  std::size_t add(const sql::Expression& call);

  // A sum beside a count of the same values costs no noise of its own for where the values lie.
  // With one_row_each, of a unit one row counts in a group: rows are units.
  WantedAggregates finish(bool one_row_each) &&;

 private:
  struct Argument {
    TypedExpression typed;
    std::string of;
  };

  PlannedAggregate planned(const sql::Call& call, sql::Position position);
  PlannedAggregate count(const sql::Call& call, sql::Position position);
  PlannedAggregate clipped(const sql::Call& call, sql::Position position);
  PlannedAggregate people_with(const sql::Call& call, sql::Position position);
  PlannedAggregate total(const sql::Call& call, sql::Position position);
  PlannedAggregate quantile(const sql::Call& call, sql::Position position);
  Argument argument(const sql::Call& call, sql::Position position) const;
  Argument counted_rows(const sql::Call& call) const;
  void set_bounds(const Argument& argument, const sql::Call& call, sql::Position position,
                  PlannedAggregate& made);
  catalog::Bounds written_bounds(const sql::NamedArgument& named) const;
  std::size_t want_count(const Argument& argument);
  std::size_t want_value(const Argument& argument, ValuePurpose purpose, catalog::Bounds bounds);
  std::size_t want(catalog::StatisticKind kind, std::size_t value = 0);
  void share_spreads();
  void share_counts();
  void number_quantiles(WantedAggregates& kept) const;

  const PlannedRelation& from_;
  const RowExpressions& rows_;
  AutomaticPlanner& automatic_;
  std::optional<std::int64_t> rows_per_person_;
  std::string_view text_;
  WantedAggregates wanted_;
};

}  // namespace shoal::plan
