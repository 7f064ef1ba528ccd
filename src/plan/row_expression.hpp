// Expressions over private rows: what a query may compute of each row, checked and rewritten so
// that no value can make it fail.
//
// Division is that of real numbers (7 / 2 is 3.5), arithmetic is in DOUBLE and NULL where it has no
// finite result, a plain CAST is NULL where it does not convert. Whole numbers beyond 2^53 are
// rounded by arithmetic and by comparison with a number that is not whole; comparing them with
// whole numbers is exact. The reasons are in row_expression.proof.md.
#pragma once

#include "plan/row_type.hpp"

#include <shoal/sql/syntax.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::plan {

struct ScopeColumn {
  std::optional<std::string> relation = std::nullopt;  // by what it may be qualified
  std::string name;
  ValueType type = {};
  sql::Expression reference;  // how the engine names it
  bool queryable = true;
  // Its value is NULL or the unit whose the row is: a person column, also after joins.
  bool is_unit = false;
};

struct Scope {
  std::vector<ScopeColumn> columns = {};
};

// Which of the scope's columns a reference means. Throws not_found for none, invalid_argument for
// several, refused_by_policy for one that no query may use.
std::size_t resolve(const sql::ColumnReference& reference, sql::Position position,
                    const Scope& scope, std::string_view text);

// The column if a reference means one of a unit, which may also be one that no query may use: to
// join and to group by the person needs no value of it. Null for everything else.
const ScopeColumn* find_unit(const sql::Expression& expression, const Scope& scope,
                             std::string_view text);

struct TypedExpression {
  sql::Expression expression;
  ValueType type;
};

class RowExpressions {
 public:
  // `text` is the query, for positions in errors. Both must outlive this.
  RowExpressions(const Scope& scope, std::string_view text) : scope_(scope), text_(text) {}

  // Both throw unsupported, not_found, refused_by_policy, invalid_argument, with a position.
  // A value without decimals is made BIGINT, and is NULL beyond 64 bits.
  TypedExpression value(const sql::Expression& expression) const;
  // True, false or NULL.
  sql::Expression condition(const sql::Expression& expression) const;

 private:
  const Scope& scope_;
  std::string_view text_;
};

}  // namespace shoal::plan
