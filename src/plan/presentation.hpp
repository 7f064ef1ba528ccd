// The columns, the filter and the order of an answer, compiled before anything is read.
#pragma once

#include "plan/answer_expression.hpp"
#include "plan/grouping.hpp"

#include <shoal/plan/plan.hpp>
#include <shoal/plan/present.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace shoal::plan {

// Which end of the interval a column shows: DP_INTERVAL_LOW, DP_INTERVAL_HIGH.
enum class Part { value, low, high };

struct ColumnRule {
  AnswerExpression expression;
  Part part = Part::value;
};

struct OrderRule {
  AnswerExpression expression;
  bool descending = false;
  bool nulls_first = false;
};

// An aggregate call as it is written, and which of the plan's aggregates it is.
struct AggregateCall {
  sql::Expression written;
  std::size_t aggregate;
};

// Inputs of every expression: the plan's keys, then the calls, then for each key whether the row's
// grouping leaves it out: GROUPING(key).
struct Presentation {
  std::vector<ValueType> keys;
  std::vector<AggregateCall> calls;
  std::vector<PresentedColumn> columns;
  std::vector<ColumnRule> rules;  // one a column
  std::optional<AnswerExpression> having;
  std::vector<OrderRule> order;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> limit;
};

// Calls `visit` for each aggregate call of the list, HAVING and ORDER BY, in the order of writing.
void for_each_aggregate(const sql::Query& query,
                        const std::function<void(const sql::Expression&)>& visit);

// Throws unsupported, not_found or invalid_argument, with the position. `rows` is what the query
// reads, so that two spellings of a column are one.
std::shared_ptr<const Presentation> make_presentation(const sql::Query& query,
                                                      const Grouping& grouping, const Scope& rows,
                                                      std::vector<AggregateCall> calls,
                                                      std::string_view text);

// The type that a column of the answer has.
catalog::ColumnType column_type(const ValueType& type);

}  // namespace shoal::plan
