// Expressions over released values: HAVING, ORDER BY and what a select list computes of aggregates.
// They are post-processing, so they cost nothing, and they are evaluated here, without an engine.
//
// A number carries an interval. The interval of a result holds the true result whenever the
// interval of each input holds its truth; conditions are decided by the values, and where the
// intervals leave a condition open, the interval of CASE holds every branch that may be the true
// one. Where the true result may be missing, the interval is the whole line. No value throws:
// division by zero, and whatever else has no finite result, is NULL.
#pragma once

#include "plan/row_expression.hpp"
#include "plan/row_type.hpp"

#include <shoal/sql/syntax.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::plan {

struct RowNode;

// One value that an expression may use: a key of the group or a released aggregate.
struct AnswerInput {
  sql::Expression expression;  // as the query writes it: city, FLOOR(age / 10), SUM(income)
  ValueType type = {};
};

// A name that the select list gives to an expression over inputs; implicit where a column stands
// there by itself, which ORDER BY alone can mean so.
struct AnswerAlias {
  std::string name;
  sql::Expression expression;
  bool implicit = false;
};

// With `rows`, two names of one column are the same: city, City and people.city.
struct AnswerScope {
  std::vector<AnswerInput> inputs = {};
  std::vector<AnswerAlias> aliases = {};
  const Scope* rows = nullptr;
};

// Dates and timestamps are texts. The ends equal the value unless it is a number with an interval,
// and are 0 for what is no number.
struct AnswerValue {
  Value value = {};
  double lower = 0;
  double upper = 0;
  bool operator==(const AnswerValue&) const = default;
};

class AnswerExpression {
 public:
  // Where an expression stands decides what a bare name means, as in DuckDB and PostgreSQL:
  // - select: a key, then an alias unless a column of the rows has the name;
  // - having: a key, then an alias. The expression must be true or false;
  // - order_by: alone an alias, then a key; inside an expression as in select.
  // A name with its table before it is never an alias.
  enum class Clause { select, having, order_by };

  // `text` is the query, for positions in errors. Throws unsupported, not_found, invalid_argument,
  // with a position.
  static AnswerExpression compile(const sql::Expression& expression, const AnswerScope& scope,
                                  Clause clause, std::string_view text);

  ValueType type() const;
  // Which of the scope's inputs it uses, in ascending order.
  const std::vector<std::size_t>& inputs() const { return inputs_; }
  // One value an input of the scope, in its order; those it does not use may be missing at the end.
  AnswerValue evaluate(std::span<const AnswerValue> inputs) const;

 private:
  explicit AnswerExpression(std::shared_ptr<const RowNode> root);

  std::shared_ptr<const RowNode> root_;
  std::vector<std::size_t> inputs_;
};

// Whether two expressions are written alike, positions apart; columns are compared as `rows`
// resolves them, or without it by their names in any case.
bool same_expression(const sql::Expression& a, const sql::Expression& b, const Scope* rows);

}  // namespace shoal::plan
