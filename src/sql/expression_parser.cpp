#include "sql/expression_parser.hpp"

#include "sql/refusals.hpp"

#include <shoal/sql/parser.hpp>

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>

namespace shoal::sql {

// What stands behind an operand. Precedence `none` means that no operator does.
struct ExpressionParser::Infix {
  Precedence precedence = Precedence::none;
  std::string_view word;
  std::optional<BinaryOperator> operation = std::nullopt;
};

namespace {

struct BinarySymbol {
  std::string_view word;
  Precedence precedence;
  BinaryOperator operation;
};

constexpr std::array kBinarySymbols = {
    BinarySymbol{"OR", Precedence::logical_or, BinaryOperator::logical_or},
    BinarySymbol{"AND", Precedence::logical_and, BinaryOperator::logical_and},
    BinarySymbol{"=", Precedence::comparison, BinaryOperator::equal},
    BinarySymbol{"<>", Precedence::comparison, BinaryOperator::not_equal},
    BinarySymbol{"!=", Precedence::comparison, BinaryOperator::not_equal},
    BinarySymbol{"<", Precedence::comparison, BinaryOperator::less},
    BinarySymbol{"<=", Precedence::comparison, BinaryOperator::less_equal},
    BinarySymbol{">", Precedence::comparison, BinaryOperator::greater},
    BinarySymbol{">=", Precedence::comparison, BinaryOperator::greater_equal},
    BinarySymbol{"||", Precedence::concatenate, BinaryOperator::concatenate},
    BinarySymbol{"+", Precedence::additive, BinaryOperator::add},
    BinarySymbol{"-", Precedence::additive, BinaryOperator::subtract},
    BinarySymbol{"*", Precedence::multiplicative, BinaryOperator::multiply},
    BinarySymbol{"/", Precedence::multiplicative, BinaryOperator::divide},
    BinarySymbol{"%", Precedence::multiplicative, BinaryOperator::modulo},
};

// a < b < c has no meaning that everybody agrees on; DuckDB and PostgreSQL refuse it too.
bool chains(Precedence precedence) {
  return precedence != Precedence::comparison && precedence != Precedence::predicate;
}

class Count {
 public:
  explicit Count(std::size_t& count) : count_(count) { ++count_; }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;
  ~Count() { --count_; }

 private:
  std::size_t& count_;
};

}  // namespace

Expression ExpressionParser::parse_from(Precedence minimum) {
  Expression left = parse_prefix(minimum);
  Precedence previous = Precedence::none;
  for (;;) {
    const Infix infix = peek_infix();
    if (infix.precedence == Precedence::none || infix.precedence < minimum) return left;
    if (infix.precedence == previous && !chains(previous)) {
      tokens_.fail("AND, OR or the end of the expression",
                   "put parentheses around one of the two comparisons");
    }
    left = parse_infix(std::move(left), infix);
    previous = infix.precedence;
  }
}

Expression ExpressionParser::parse_operand(Precedence minimum) {
  const Count level(levels_);
  check_nesting(levels_ + 1, tokens_.peek().position);
  return parse_from(minimum);
}

Expression ExpressionParser::parse_prefix(Precedence minimum) {
  const Position position = tokens_.peek().position;
  if (tokens_.at_word("NOT")) {
    if (minimum > Precedence::logical_not) {
      tokens_.fail("an expression", "put parentheses around NOT and what follows it");
    }
    tokens_.take();
    return make(Unary{UnaryOperator::logical_not, parse_operand(Precedence::logical_not)},
                position);
  }
  if (tokens_.at_symbol("-") || tokens_.at_symbol("+")) {
    const bool minus = tokens_.take().text == "-";
    return make(
        Unary{minus ? UnaryOperator::minus : UnaryOperator::plus, parse_operand(Precedence::unary)},
        position);
  }
  return parse_primary();
}

ExpressionParser::Infix ExpressionParser::peek_infix() const {
  const std::string word = keyword(tokens_.peek());
  for (const BinarySymbol& symbol : kBinarySymbols) {
    if (symbol.word == word) return {symbol.precedence, symbol.word, symbol.operation};
  }
  if (word == "::") return {Precedence::cast, "::"};
  if (word == "IS") return {Precedence::is, "IS"};
  const std::string predicate = word == "NOT" ? keyword(tokens_.peek(1)) : word;
  if (predicate == "BETWEEN") return {Precedence::predicate, "BETWEEN"};
  if (predicate == "IN") return {Precedence::predicate, "IN"};
  if (predicate == "LIKE") return {Precedence::predicate, "LIKE"};
  tokens_.refuse_if(operator_refusal(predicate));
  return {};
}

Expression ExpressionParser::parse_infix(Expression left, const Infix& infix) {
  const Position position = tokens_.peek().position;
  if (infix.operation) {
    tokens_.take();
    Expression right = parse_operand(tighter(infix.precedence));
    return make(Binary{*infix.operation, std::move(left), std::move(right)}, position);
  }
  if (infix.precedence == Precedence::cast) {
    tokens_.take();
    return make(Cast{std::move(left), parse_type()}, position);
  }
  if (infix.precedence == Precedence::is) {
    tokens_.take();
    return parse_is(std::move(left), position);
  }
  const bool negated = tokens_.take_word("NOT");
  tokens_.take();
  if (infix.word == "BETWEEN") return parse_between(std::move(left), negated, position);
  if (infix.word == "IN") return parse_in(std::move(left), negated, position);
  return parse_like(std::move(left), negated, position);
}

Expression ExpressionParser::parse_is(Expression left, Position position) {
  const bool negated = tokens_.take_word("NOT");
  if (tokens_.take_word("NULL")) return make(IsNull{std::move(left), negated}, position);
  const std::string word = keyword(tokens_.peek());
  if (tokens_.take_word("UNKNOWN")) return make(IsNull{std::move(left), negated}, position);
  if (word == "TRUE" || word == "FALSE") {
    tokens_.take();
    return parse_truth(std::move(left), word == "TRUE", negated, position);
  }
  if (word == "DISTINCT") {
    tokens_.refuse(position,
                   "IS DISTINCT FROM is not supported; write for example a <> b OR a IS NULL");
  }
  tokens_.fail(negated ? "NULL" : "NULL or NOT NULL", "write for example x IS NOT NULL");
}

// x IS TRUE is COALESCE(x, FALSE), and x IS FALSE the same of NOT x: never NULL.
Expression ExpressionParser::parse_truth(Expression left, bool wanted, bool negated,
                                         Position position) {
  Expression same =
      wanted ? std::move(left) : make(Unary{UnaryOperator::logical_not, std::move(left)}, position);
  Expression otherwise = make(Literal{LiteralKind::boolean, "FALSE"}, position);
  Call call{"COALESCE", {std::move(same), std::move(otherwise)}};
  Expression known = make(std::move(call), position);
  if (!negated) return known;
  return make(Unary{UnaryOperator::logical_not, std::move(known)}, position);
}

// The bounds bind tighter than AND, which therefore ends the first of them.
Expression ExpressionParser::parse_between(Expression left, bool negated, Position position) {
  if (tokens_.at_word("SYMMETRIC") || tokens_.at_word("ASYMMETRIC")) {
    tokens_.refuse(tokens_.peek().position,
                   "BETWEEN SYMMETRIC is not supported; write BETWEEN with the lower bound first");
  }
  Expression low = parse_operand(Precedence::concatenate);
  tokens_.expect_word("AND");
  Expression high = parse_operand(Precedence::concatenate);
  return make(Between{std::move(left), std::move(low), std::move(high), negated}, position);
}

Expression ExpressionParser::parse_in(Expression left, bool negated, Position position) {
  if (!tokens_.take_symbol("(")) tokens_.fail("(", "write for example x IN (1, 2, 3)");
  return make(InList{std::move(left), parse_list(), negated}, position);
}

Expression ExpressionParser::parse_like(Expression left, bool negated, Position position) {
  Expression pattern = parse_operand(Precedence::concatenate);
  if (tokens_.at_word("ESCAPE")) {
    tokens_.refuse(tokens_.peek().position,
                   "ESCAPE is not supported; write a pattern with % and _ alone, without escapes");
  }
  return make(Like{std::move(left), std::move(pattern), negated}, position);
}

Expression ExpressionParser::parse_group() {
  const Position position = tokens_.take().position;
  const Count group(groups_);
  check_nesting(groups_, position);
  Expression inner = parse_from(Precedence::none);
  if (tokens_.at_symbol(",")) {
    tokens_.refuse(position,
                   "rows of several values are not supported; compare each value, for example a = "
                   "1 AND b = 2");
  }
  tokens_.expect_symbol(")");
  return inner;
}

std::vector<Expression> ExpressionParser::parse_list() {
  std::vector<Expression> items;
  do {
    items.push_back(parse_operand(Precedence::none));
    check_list_size(items.size());
  } while (tokens_.take_symbol(","));
  if (tokens_.at_word("ORDER")) {
    tokens_.refuse(tokens_.peek().position,
                   "ORDER BY inside a function is not supported; leave it out");
  }
  if (!tokens_.take_symbol(")")) tokens_.fail(", or )");
  return items;
}

void ExpressionParser::check_list_size(std::size_t size) const {
  if (size > kMaxListItems) {
    tokens_.fail_at(
        tokens_.peek().position,
        fmt::format("a list has more than {} items; shorten it, for example with BETWEEN",
                    kMaxListItems));
  }
}

void ExpressionParser::check_nesting(std::size_t depth, Position position) const {
  if (depth > kMaxNesting) {
    tokens_.fail_at(position,
                    fmt::format("the expression is nested more than {} deep; write it with fewer "
                                "levels, for example with IN instead of many OR",
                                kMaxNesting));
  }
}

}  // namespace shoal::sql
