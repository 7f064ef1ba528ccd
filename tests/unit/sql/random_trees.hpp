// Random expressions for properties of the printers. Call these inside a RapidCheck property.
#pragma once

#include <shoal/sql/syntax.hpp>

#include <rapidcheck.h>

#include <string>
#include <vector>

namespace shoal::sql::testing {

// Uniform from the first case on: by itself RapidCheck starts with the least numbers alone.
inline int between(int low, int high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high));
}

inline bool coin() { return between(0, 2) == 1; }

inline std::string random_name() {
  return *rc::gen::elementOf(std::vector<std::string>{"a", "B", "people", "select", "FROM",
                                                      "two words", "with \"quotes\"", "größe", "--",
                                                      "it's", "1", "a.b", "$", "back`tick", "\\"});
}

inline Literal random_literal() {
  return *rc::gen::elementOf(std::vector<Literal>{
      {LiteralKind::null, "NULL"},
      {LiteralKind::boolean, "TRUE"},
      {LiteralKind::boolean, "FALSE"},
      {LiteralKind::integer, "0"},
      {LiteralKind::integer, "12345678901234567890123"},
      {LiteralKind::decimal, "0.50"},
      {LiteralKind::decimal, ".5"},
      {LiteralKind::decimal, "1.5e-3"},
      {LiteralKind::string, ""},
      {LiteralKind::string, "it's -- /* \\ \" größe\n"},
      {LiteralKind::date, "2024-02-29"},
      {LiteralKind::timestamp, "2024-01-31 12:30:00.25"},
  });
}

inline TypeName random_type() {
  TypeName type{static_cast<ScalarType>(between(0, static_cast<int>(ScalarType::timestamp) + 1))};
  if (type.type == ScalarType::decimal) {
    type.precision = between(1, 39);
    type.scale = between(0, type.precision + 1);
  }
  return type;
}

Expression random_expression(int depth);

inline std::vector<Expression> random_list(int depth, int least) {
  std::vector<Expression> items;
  const int count = between(least, least + 3);
  for (int i = 0; i < count; ++i) items.push_back(random_expression(depth));
  return items;
}

inline Expression random_leaf() {
  if (coin()) return Expression(random_literal());
  ColumnReference reference{std::nullopt, Identifier{random_name()}};
  if (coin()) reference.table = Identifier{random_name()};
  return Expression(reference);
}

// Named arguments are for the language itself and for DuckDB, the filter for every dialect.
inline Expression random_call(int depth) {
  Call call{*rc::gen::elementOf(std::vector<std::string>{"COUNT", "SUM", "MEDIAN", "MIN", "F_1"})};
  call.star = coin() && coin();
  call.distinct = !call.star && coin();
  if (!call.star) call.arguments = random_list(depth, call.distinct ? 1 : 0);
  const int named = between(0, 6) - 3;
  for (int i = 0; i < named; ++i) {
    call.named.push_back({Identifier{random_name()}, random_list(depth, 1)});
  }
  if (between(0, 4) == 0) call.filter = random_expression(depth);
  return Expression(call);
}

inline Expression random_extract(int depth) {
  const std::string field = *rc::gen::elementOf(std::vector<std::string>{"YEAR", "DOW", "MINUTE"});
  return Expression(
      Call{"EXTRACT", {Expression(Literal{LiteralKind::string, field}), random_expression(depth)}});
}

inline Expression random_case(int depth) {
  Case cases;
  if (coin()) cases.operand = random_expression(depth);
  const int count = between(1, 3);
  for (int i = 0; i < count; ++i) {
    Expression when = random_expression(depth);
    cases.branches.push_back({std::move(when), random_expression(depth)});
  }
  if (coin()) cases.otherwise = random_expression(depth);
  return Expression(cases);
}

// Operators are the likeliest, since precedence is what is in question.
inline Expression random_expression(int depth) {
  if (depth <= 0) return random_leaf();
  const int below = depth - 1;
  switch (between(0, 14)) {
    case 0:
      return random_leaf();
    case 1:
    case 2:
      return Expression(Unary{static_cast<UnaryOperator>(between(0, 3)), random_expression(below)});
    case 3:
      return Expression(IsNull{random_expression(below), coin()});
    case 4:
      return Expression(Between{random_expression(below), random_expression(below),
                                random_expression(below), coin()});
    case 5:
      return Expression(InList{random_expression(below), random_list(below, 1), coin()});
    case 6:
      return Expression(Like{random_expression(below), random_expression(below), coin()});
    case 7:
      return between(0, 5) == 0 ? random_extract(below) : random_call(below);
    case 8:
      return Expression(Cast{random_expression(below), random_type(), coin()});
    case 9:
      return random_case(below);
    default: {
      const int last = static_cast<int>(BinaryOperator::modulo);
      return Expression(Binary{static_cast<BinaryOperator>(between(0, last + 1)),
                               random_expression(below), random_expression(below)});
    }
  }
}

}  // namespace shoal::sql::testing
