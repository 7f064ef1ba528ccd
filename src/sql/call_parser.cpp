// Calls of functions, and what may stand inside and behind them: named arguments, FILTER, WITHIN
// GROUP, and the functions whose arguments have words between them.
#include "sql/expression_parser.hpp"
#include "sql/refusals.hpp"
#include "sql/words.hpp"

#include <shoal/base/text.hpp>

#include <fmt/format.h>

namespace shoal::sql {

Expression ExpressionParser::parse_call() {
  if (tokens_.at_word("EXTRACT")) return parse_extract();
  const Token name = tokens_.take();
  Call call{to_upper(name.text)};
  if (!is_function_name(call.name)) {
    tokens_.refuse(name.position,
                   fmt::format("{}(...) is no ordinary function and is not supported; write CAST(x "
                               "AS type) for a conversion, or a function with plain arguments",
                               printable(call.name, 40)));
  }
  tokens_.expect_symbol("(");
  parse_arguments(call);
  if (tokens_.at_word("WITHIN") && tokens_.at_word("GROUP", 1)) {
    parse_within_group(call, name.position);
  }
  if (tokens_.at_word("FILTER") && tokens_.at_symbol("(", 1)) parse_filter(call);
  tokens_.refuse_if(call_refusal(keyword(tokens_.peek())));
  return make(std::move(call), name.position);
}

// Up to the closing parenthesis, which is taken.
void ExpressionParser::parse_arguments(Call& call) {
  if (tokens_.take_symbol(")")) return;
  if (tokens_.take_symbol("*")) {
    call.star = true;
  } else {
    call.distinct = tokens_.take_word("DISTINCT");
    if (!call.distinct && at_named_argument()) {
      call.named.push_back(parse_named_argument());
    } else {
      call.arguments.push_back(parse_operand(Precedence::none));
    }
  }
  if (call.name == "SUBSTRING" && tokens_.at_word("FROM")) return parse_substring(call);
  parse_further_arguments(call);
}

void ExpressionParser::parse_further_arguments(Call& call) {
  while (tokens_.take_symbol(",")) {
    if (at_named_argument()) {
      call.named.push_back(parse_named_argument());
    } else if (call.star) {
      tokens_.fail("a named argument", "write for example COUNT(*)");
    } else if (!call.named.empty()) {
      tokens_.fail("a named argument", "write the arguments without a name first");
    } else {
      call.arguments.push_back(parse_operand(Precedence::none));
    }
    check_list_size(call.arguments.size() + call.named.size());
  }
  if (tokens_.at_word("ORDER")) {
    tokens_.refuse(tokens_.peek().position,
                   "ORDER BY inside a function is not supported; leave it out");
  }
  if (!tokens_.take_symbol(")")) tokens_.fail(call.star ? ")" : ", or )");
}

// SUBSTRING(x FROM 2 FOR 3) is SUBSTRING(x, 2, 3).
void ExpressionParser::parse_substring(Call& call) {
  tokens_.expect_word("FROM");
  call.arguments.push_back(parse_operand(Precedence::none));
  if (tokens_.take_word("FOR")) call.arguments.push_back(parse_operand(Precedence::none));
  tokens_.expect_symbol(")");
}

bool ExpressionParser::at_named_argument() const {
  return tokens_.at_name() && tokens_.at_symbol("=>", 1);
}

NamedArgument ExpressionParser::parse_named_argument() {
  NamedArgument argument{tokens_.take_name("a name")};
  tokens_.expect_symbol("=>");
  if (tokens_.take_symbol("(")) {
    argument.values = parse_list();
  } else {
    argument.values.push_back(parse_operand(Precedence::none));
  }
  return argument;
}

// The field is kept as a string, so that a call's arguments are expressions like any others.
Expression ExpressionParser::parse_extract() {
  const Position position = tokens_.take().position;
  tokens_.expect_symbol("(");
  const Token field = tokens_.peek();
  const std::string name = keyword(field);
  if (!is_date_field(name)) {
    tokens_.fail(fmt::format("one of {}", kDateFields), "write for example EXTRACT(YEAR FROM day)");
  }
  tokens_.take();
  tokens_.expect_word("FROM");
  Call call{"EXTRACT", {make(Literal{LiteralKind::string, name}, field.position)}};
  call.arguments.push_back(parse_operand(Precedence::none));
  tokens_.expect_symbol(")");
  return make(std::move(call), position);
}

// PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x) is PERCENTILE_CONT(x, p).
void ExpressionParser::parse_within_group(Call& call, Position position) {
  const bool quantile = call.name == "PERCENTILE_CONT" || call.name == "QUANTILE_CONT";
  if (!quantile || call.arguments.size() != 1 || call.distinct) {
    tokens_.refuse(tokens_.peek().position,
                   "WITHIN GROUP is supported for PERCENTILE_CONT alone; write for example "
                   "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x), or PERCENTILE_CONT(x, 0.5)");
  }
  tokens_.take();
  tokens_.take();
  tokens_.expect_symbol("(");
  tokens_.expect_word("ORDER");
  tokens_.expect_word("BY");
  call.arguments.insert(call.arguments.begin(), parse_operand(Precedence::none));
  if (tokens_.at_word("DESC")) {
    tokens_.refuse(position,
                   "PERCENTILE_CONT in descending order is not supported; write one minus the "
                   "fraction, for example 0.1 for 0.9");
  }
  tokens_.take_word("ASC");
  tokens_.expect_symbol(")");
}

void ExpressionParser::parse_filter(Call& call) {
  tokens_.expect_word("FILTER");
  tokens_.expect_symbol("(");
  tokens_.expect_word("WHERE");
  call.filter = parse_operand(Precedence::none);
  tokens_.expect_symbol(")");
}

}  // namespace shoal::sql
