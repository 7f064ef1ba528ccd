// Expressions by recursive descent with precedence climbing. Private to the sql layer.
//
// Invariants: grouping parentheses nest at most kMaxNesting deep, and so does the tree; each
// recursion opens a parenthesis or goes down the tree, so the stack is bounded. The two are counted
// apart so that a printed tree, which has at most one pair of parentheses for each level, always
// parses again.
#pragma once

#include "sql/precedence.hpp"
#include "sql/token_stream.hpp"

#include <shoal/sql/syntax.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace shoal::sql {

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  Expression parse() { return parse_from(Precedence::none); }

  // A whole expression whose operators all bind at least that tightly.
  Expression parse_from(Precedence minimum);

  // Items up to the closing parenthesis, which is taken; at least one.
  std::vector<Expression> parse_list();

 private:
  struct Infix;

  // The same, one level down the tree.
  Expression parse_operand(Precedence minimum);
  Expression parse_prefix(Precedence minimum);

  Infix peek_infix() const;
  Expression parse_infix(Expression left, const Infix& infix);
  Expression parse_is(Expression left, Position position);
  Expression parse_truth(Expression left, bool wanted, bool negated, Position position);
  Expression parse_between(Expression left, bool negated, Position position);
  Expression parse_in(Expression left, bool negated, Position position);
  Expression parse_like(Expression left, bool negated, Position position);

  Expression parse_primary();
  Expression parse_word();
  Expression parse_group();
  Expression parse_literal(LiteralKind kind);
  Expression parse_dated_literal();
  Expression parse_column();
  Expression parse_call();
  Expression parse_extract();
  void parse_arguments(Call& call);
  void parse_further_arguments(Call& call);
  void parse_substring(Call& call);
  NamedArgument parse_named_argument();
  bool at_named_argument() const;
  void parse_within_group(Call& call, Position position);
  void parse_filter(Call& call);
  Expression parse_cast();
  Expression parse_case();
  TypeName parse_type();
  TypeName parse_decimal_type(Position position);

  void check_list_size(std::size_t size) const;

  // Makes a node, if the tree does not become too deep.
  template <typename Kind>
  Expression make(Kind kind, Position position) const {
    Expression expression(std::move(kind), position);
    check_nesting(expression.depth(), position);
    return expression;
  }
  void check_nesting(std::size_t depth, Position position) const;

  TokenStream& tokens_;
  std::size_t groups_ = 0;
  std::size_t levels_ = 0;
};

}  // namespace shoal::sql
