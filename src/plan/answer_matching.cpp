// Whether two expressions of a query are the same one.
#include "plan/answer_expression.hpp"

#include <shoal/base/text.hpp>

#include <optional>

namespace shoal::plan {
namespace {

using sql::Expression;

// The only column that a reference can mean.
std::optional<std::size_t> column_of(const sql::ColumnReference& reference, const Scope& rows) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < rows.columns.size(); ++i) {
    const ScopeColumn& column = rows.columns[i];
    const bool here =
        !reference.table || (column.relation && sql::matches(*reference.table, *column.relation));
    if (!here || !sql::matches(reference.column, column.name)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

// The kinds without the expressions inside them.
struct SameOutside {
  const Scope* rows;

  template <typename A, typename B>
  bool operator()(const A&, const B&) const {
    return false;
  }
  bool operator()(const sql::Literal& a, const sql::Literal& b) const { return a == b; }
  bool operator()(const sql::ColumnReference& a, const sql::ColumnReference& b) const {
    if (rows != nullptr) {
      const auto first = column_of(a, *rows);
      return first && first == column_of(b, *rows);
    }
    const bool tables = a.table.has_value() == b.table.has_value() &&
                        (!a.table || equals_ignoring_case(a.table->name, b.table->name));
    return tables && equals_ignoring_case(a.column.name, b.column.name);
  }
  bool operator()(const sql::Unary& a, const sql::Unary& b) const {
    return a.operation == b.operation;
  }
  bool operator()(const sql::Binary& a, const sql::Binary& b) const {
    return a.operation == b.operation;
  }
  bool operator()(const sql::IsNull& a, const sql::IsNull& b) const {
    return a.negated == b.negated;
  }
  bool operator()(const sql::Between& a, const sql::Between& b) const {
    return a.negated == b.negated;
  }
  bool operator()(const sql::InList& a, const sql::InList& b) const {
    return a.negated == b.negated;
  }
  bool operator()(const sql::Like& a, const sql::Like& b) const { return a.negated == b.negated; }
  bool operator()(const sql::Call& a, const sql::Call& b) const {
    return a.name == b.name && a.star == b.star && a.distinct == b.distinct &&
           a.named == b.named;  // their values are literals
  }
  bool operator()(const sql::Cast& a, const sql::Cast& b) const {
    return a.type == b.type && a.try_ == b.try_;
  }
  bool operator()(const sql::Case& a, const sql::Case& b) const {
    return a.operand.has_value() == b.operand.has_value() &&
           a.otherwise.has_value() == b.otherwise.has_value();
  }
};

}  // namespace

bool same_expression(const Expression& a, const Expression& b, const Scope* rows) {
  if (&a.node() == &b.node()) return true;
  if (!std::visit(SameOutside{rows}, a.node().value, b.node().value)) return false;
  const std::vector<Expression> inside = sql::children(a);
  const std::vector<Expression> other = sql::children(b);
  if (inside.size() != other.size()) return false;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (!same_expression(inside[i], other[i], rows)) return false;
  }
  return true;
}

}  // namespace shoal::plan
