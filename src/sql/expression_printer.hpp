// Expressions as text; whole queries build on it. Private to the sql layer.
#pragma once

#include "sql/precedence.hpp"
#include "sql/row_work.hpp"

#include <shoal/sql/printer.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::sql {

// Throws invalid_argument, which says that the text is no such thing, unless it is valid.
void require(bool valid, std::string_view what, std::string_view text);

// Not fmt::format in what recurses: its buffer would lie on the stack once for every level.
std::string joined(std::initializer_list<std::string_view> pieces);

class ExpressionPrinter {
 public:
  ExpressionPrinter(Dialect dialect, Parentheses parentheses)
      : dialect_(dialect), parentheses_(parentheses) {}

  // A whole expression, with an engine's own expressions for guarded functions. `longest`, if there
  // is one, becomes at least the most characters that it may have.
  std::string write(const Expression& expression, RowWork& work, double* longest = nullptr) const;

  // A part of one, as it is.
  std::string print(const Expression& expression) const {
    return std::visit(*this, expression.node().value);
  }

  std::string operator()(const Literal& literal) const;
  std::string operator()(const ColumnReference& reference) const;
  std::string operator()(const Unary& unary) const;
  std::string operator()(const Binary& binary) const;
  std::string operator()(const IsNull& is_null) const;
  std::string operator()(const Between& between) const;
  std::string operator()(const InList& in_list) const;
  std::string operator()(const Like& like) const;
  std::string operator()(const Call& call) const;
  std::string operator()(const Cast& cast) const;
  std::string operator()(const Case& cases) const;

  // The expression, in parentheses if it binds less tightly than is needed where it stands.
  std::string operand(const Expression& expression, Precedence needed) const;
  std::string list(const std::vector<Expression>& items) const;
  std::string name(const Identifier& identifier) const;
  std::string names(const std::vector<Identifier>& identifiers) const;
  Dialect dialect() const { return dialect_; }

 private:
  std::string predicate_operand(const Expression& expression) const;
  std::string pattern(const Expression& expression) const;
  std::string extract(const Call& call) const;
  std::string row_of_unit(const Call& call) const;
  std::string named_argument(const NamedArgument& argument) const;
  std::string arguments(const Call& call) const;

  Dialect dialect_;
  Parentheses parentheses_;
};

}  // namespace shoal::sql
