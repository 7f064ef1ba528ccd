// The parts of an expression that are no operators: literals, columns, CAST, CASE and types.
#include "sql/expression_parser.hpp"
#include "sql/refusals.hpp"
#include "sql/words.hpp"

#include <shoal/base/text.hpp>
#include <shoal/sql/calendar.hpp>
#include <shoal/sql/parser.hpp>

#include <fmt/format.h>

namespace shoal::sql {
namespace {

constexpr std::string_view kKnownTypes =
    "BOOLEAN, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE, DECIMAL(18, 3), VARCHAR, DATE or TIMESTAMP";
constexpr int kMaxPrecision = 38;

}  // namespace

Expression ExpressionParser::parse_primary() {
  const Token& token = tokens_.peek();
  switch (token.kind) {
    case TokenKind::integer:
      return parse_literal(LiteralKind::integer);
    case TokenKind::decimal:
      return parse_literal(LiteralKind::decimal);
    case TokenKind::string:
      return parse_literal(LiteralKind::string);
    case TokenKind::quoted_name:
      return parse_column();
    case TokenKind::word:
      return parse_word();
    case TokenKind::parameter:
      tokens_.refuse(
          token.position,
          "parameters are not supported; write the value itself, for example 18 or 'Paris'");
    case TokenKind::symbol:
      if (token.text == "(") return parse_group();
      tokens_.refuse_if(value_refusal(token.text));
      break;
    case TokenKind::end:
      break;
  }
  tokens_.fail("an expression");
}

Expression ExpressionParser::parse_word() {
  const std::string word = keyword(tokens_.peek());
  const Token& next = tokens_.peek(1);
  if (word == "NULL") return parse_literal(LiteralKind::null);
  if (word == "TRUE" || word == "FALSE") return parse_literal(LiteralKind::boolean);
  if (word == "CAST" || word == "TRY_CAST") return parse_cast();
  if (word == "SAFE_CAST" && tokens_.at_symbol("(", 1)) return parse_cast();
  if (word == "CASE") return parse_case();
  if ((word == "DATE" || word == "TIMESTAMP") && next.kind == TokenKind::string) {
    return parse_dated_literal();
  }
  tokens_.refuse_if(value_refusal(word));
  const bool callable = is_function_name(word) || !is_reserved(word);
  if (callable && tokens_.at_symbol("(", 1)) return parse_call();
  if (word == "FROM") {
    tokens_.fail("an expression", "write for example SELECT COUNT(*) FROM people");
  }
  if (is_reserved(word)) tokens_.fail("an expression");
  return parse_column();
}

Expression ExpressionParser::parse_literal(LiteralKind kind) {
  const Token token = tokens_.take();
  const bool is_word = kind == LiteralKind::null || kind == LiteralKind::boolean;
  return make(Literal{kind, is_word ? to_upper(token.text) : token.text}, token.position);
}

Expression ExpressionParser::parse_dated_literal() {
  const Token type = tokens_.take();
  const bool is_day = equals_ignoring_case(type.text, "DATE");
  if (is_day && !is_date(tokens_.peek().text)) {
    tokens_.fail("a date", "write for example DATE '2024-01-31'");
  }
  if (!is_day && !is_timestamp(tokens_.peek().text)) {
    tokens_.fail("a timestamp", "write for example TIMESTAMP '2024-01-31 12:30:00'");
  }
  const LiteralKind kind = is_day ? LiteralKind::date : LiteralKind::timestamp;
  return make(Literal{kind, tokens_.take().text}, type.position);
}

Expression ExpressionParser::parse_column() {
  Identifier name = tokens_.take_name("a column");
  const Position position = name.position;
  if (tokens_.at_symbol("(")) {
    tokens_.refuse(position,
                   "function names in quotes are not supported; write the name without them");
  }
  if (!tokens_.take_symbol(".")) {
    return make(ColumnReference{std::nullopt, std::move(name)}, position);
  }
  if (tokens_.at_symbol("*")) {
    tokens_.refuse(position,
                   "all columns of a table stand only in the list of SELECT; write an aggregate of "
                   "one column, or COUNT(*)");
  }
  Identifier column = tokens_.take_name("a column");
  if (tokens_.at_symbol(".")) {
    tokens_.refuse(
        position,
        "a column is named by at most a table and a column; write for example people.age");
  }
  if (tokens_.at_symbol("(")) {
    tokens_.refuse(position,
                   "functions in a schema are not supported; write the function's name alone");
  }
  return make(ColumnReference{std::move(name), std::move(column)}, position);
}

Expression ExpressionParser::parse_cast() {
  const Token word = tokens_.take();
  tokens_.expect_symbol("(");
  Expression operand = parse_operand(Precedence::none);
  tokens_.expect_word("AS");
  const TypeName type = parse_type();
  tokens_.expect_symbol(")");
  return make(Cast{std::move(operand), type, !equals_ignoring_case(word.text, "CAST")},
              word.position);
}

Expression ExpressionParser::parse_case() {
  const Position position = tokens_.take().position;
  Case cases;
  if (!tokens_.at_word("WHEN")) cases.operand = parse_operand(Precedence::none);
  if (!tokens_.at_word("WHEN"))
    tokens_.fail("WHEN", "write for example CASE WHEN x > 0 THEN 1 ELSE 0 END");
  while (tokens_.take_word("WHEN")) {
    Expression when = parse_operand(Precedence::none);
    tokens_.expect_word("THEN");
    cases.branches.push_back({std::move(when), parse_operand(Precedence::none)});
    check_list_size(cases.branches.size());
  }
  if (tokens_.take_word("ELSE")) cases.otherwise = parse_operand(Precedence::none);
  tokens_.expect_word("END");
  return make(std::move(cases), position);
}

TypeName ExpressionParser::parse_type() {
  const Token token = tokens_.peek();
  if (token.kind != TokenKind::word) tokens_.fail("a type", fmt::format("write {}", kKnownTypes));
  const std::string word = to_upper(token.text);
  const std::optional<ScalarType> type = scalar_type(word);
  if (!type) {
    tokens_.refuse(token.position, fmt::format("the type {} is not supported; write {}",
                                               printable(word, 40), kKnownTypes));
  }
  tokens_.take();
  if (*type == ScalarType::decimal) return parse_decimal_type(token.position);
  if (word == "DOUBLE") tokens_.take_word("PRECISION");
  if (tokens_.at_symbol("(")) {
    tokens_.refuse(
        tokens_.peek().position,
        fmt::format(
            "{} with a length is not supported, since engines disagree on what it does; write {}",
            word, word));
  }
  if (*type == ScalarType::timestamp && (tokens_.at_word("WITH") || tokens_.at_word("WITHOUT"))) {
    tokens_.refuse(tokens_.peek().position, "time zones are not supported; write TIMESTAMP");
  }
  return {*type};
}

// Without a precision every engine means another type, so it is required.
TypeName ExpressionParser::parse_decimal_type(Position position) {
  if (!tokens_.take_symbol("(")) {
    tokens_.refuse(position,
                   "DECIMAL without a precision is not supported, since engines disagree on what "
                   "it is; write for example DECIMAL(18, 3)");
  }
  const auto number = [this](int low, int high) {
    const Token& token = tokens_.peek();
    const int value =
        token.kind == TokenKind::integer && token.text.size() <= 2 ? std::stoi(token.text) : -1;
    if (value < low || value > high) tokens_.fail(fmt::format("a number from {} to {}", low, high));
    tokens_.take();
    return value;
  };
  TypeName type{ScalarType::decimal, number(1, kMaxPrecision), 0};
  if (tokens_.take_symbol(",")) type.scale = number(0, type.precision);
  tokens_.expect_symbol(")");
  return type;
}

}  // namespace shoal::sql
