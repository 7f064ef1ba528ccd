// From syntax to checked expression: names become inputs, types are checked, conversions made
// explicit. Everything that could fail on some value is refused, or has become an operation that
// gives NULL instead.
#pragma once

#include "plan/row_functions.hpp"
#include "plan/row_node.hpp"

#include <shoal/base/error.hpp>
#include <shoal/sql/syntax.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace shoal::plan {

// What the names in an expression mean.
class RowNames {
 public:
  RowNames() = default;
  RowNames(const RowNames&) = delete;
  RowNames& operator=(const RowNames&) = delete;
  virtual ~RowNames() = default;

  // The input that the expression means as a whole; null if it is to be taken apart. Throws for a
  // column that is none.
  virtual RowNodePointer find(const sql::Expression& expression) const = 0;
  // Why an aggregate that is no input cannot stand here.
  virtual std::string aggregate_refusal(const sql::Call& call) const = 0;
  // Whether an engine evaluates the expression, which then can match regular expressions.
  virtual bool has_engine() const = 0;
};

class RowChecker {
 public:
  // `text` is the query, for positions in errors. Both must outlive the checker.
  RowChecker(const RowNames& names, std::string_view text) : names_(names), text_(text) {}

  // Throws unsupported, not_found, refused_by_policy, invalid_argument, with a position.
  // A value has a kind, a condition is true or false.
  RowNodePointer value(const sql::Expression& expression) const;
  RowNodePointer condition(const sql::Expression& expression) const;

 private:
  using Nodes = std::vector<RowNodePointer>;

  [[noreturn]] void refuse(sql::Position at, ErrorCode code, const std::string& why) const;
  RowNodePointer node(const sql::Expression& expression) const;
  Nodes nodes(const std::vector<sql::Expression>& expressions) const;

  RowNodePointer of(const sql::Literal& literal, sql::Position at) const;
  RowNodePointer of(const sql::ColumnReference& reference, sql::Position at) const;
  RowNodePointer of(const sql::Unary& unary, sql::Position at) const;
  RowNodePointer of(const sql::Binary& binary, sql::Position at) const;
  RowNodePointer of(const sql::IsNull& is_null, sql::Position at) const;
  RowNodePointer of(const sql::Between& between, sql::Position at) const;
  RowNodePointer of(const sql::InList& in_list, sql::Position at) const;
  RowNodePointer of(const sql::Like& like, sql::Position at) const;
  RowNodePointer of(const sql::Call& call, sql::Position at) const;
  RowNodePointer of(const sql::Cast& cast, sql::Position at) const;
  RowNodePointer of(const sql::Case& cases, sql::Position at) const;

  RowNodePointer number_literal(const std::string& digits, bool integer, sql::Position at) const;
  RowNodePointer dated(const std::string& written, ValueKind kind, sql::Position at) const;
  RowNodePointer cast_number(RowNodePointer operand, const sql::TypeName& type,
                             sql::Position at) const;

  // The same nodes with one type.
  Nodes unify(Nodes nodes, std::string_view purpose) const;
  ValueKind common_kind(const Nodes& nodes) const;
  RowNodePointer bent(RowNodePointer node, ValueKind wanted, std::string_view purpose) const;
  // unify, and none of them NULL for every row.
  Nodes comparable(Nodes nodes) const;
  // Throws invalid_argument if the literal is none of the values that are publicly listed for
  // `tested`, which was `written` so. It names public values and the literal alone.
  void require_listed(const RowNode& tested, const RowNode& literal,
                      const sql::Expression& written) const;

  RowNodePointer truth(RowNodePointer node) const;
  RowNodePointer number(RowNodePointer node, std::string_view where) const;
  RowNodePointer text_value(RowNodePointer node, std::string_view where) const;
  RowNodePointer dated_value(RowNodePointer node, std::string_view where) const;
  // A constant whole number in [least, most].
  double whole_constant(const RowNodePointer& node, double least, double most,
                        std::string_view where) const;
  const std::string& text_constant(const RowNodePointer& node, std::string_view where) const;

  RowNodePointer shaped(const ScalarFunction& function, const sql::Call& call,
                        sql::Position at) const;
  RowNodePointer substring(const ScalarFunction& function, const Nodes& arguments,
                           sql::Position at) const;
  RowNodePointer replace(const Nodes& arguments, sql::Position at) const;
  RowNodePointer matches(const Nodes& arguments, sql::Position at) const;
  RowNodePointer choice(const Nodes& arguments, sql::Position at) const;
  RowNodePointer extract(const sql::Call& call, sql::Position at) const;
  RowNodePointer truncate_date(const sql::Call& call, sql::Position at) const;
  RowNodePointer days_between(const sql::Call& call, sql::Position at) const;
  RowNodePointer concatenated(const Nodes& parts, sql::Position at) const;
  // The field that an argument names: 'month', or the bare word MONTH.
  std::string field_name(const sql::Expression& argument) const;

  const RowNames& names_;
  std::string_view text_;
};

}  // namespace shoal::plan
