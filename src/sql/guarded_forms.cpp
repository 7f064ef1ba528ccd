// Guarded functions whose form depends on their arguments: a constant among them, or how many there
// are.
#include "sql/guard.hpp"
#include "sql/words.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/guarded_functions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace shoal::sql {
namespace {

constexpr std::size_t kMaxArguments = 100;
constexpr int kMaxDigits = 15;

constexpr auto kForms = std::to_array<std::string_view>(
    {"ROUND", "GREATEST", "LEAST", "CONCAT", "EXTRACT", "DATE_TRUNC", "DATE_DIFF", "REGEXP_MATCHES",
     "ORDERED_SUM", "ORDERED_AVG"});

// A whole number from -kMaxDigits to kMaxDigits.
int constant_digits(const Call& call) {
  const Expression* at = &call.arguments.at(1);
  const Unary* sign = at->get_if<Unary>();
  const bool negative = sign != nullptr && sign->operation == UnaryOperator::minus;
  if (negative) at = &sign->operand;
  const Literal* literal = at->get_if<Literal>();
  const bool whole = literal != nullptr && literal->kind == LiteralKind::integer &&
                     is_integer_text(literal->text) && literal->text.size() <= 2;
  const int digits = whole ? std::stoi(literal->text) : kMaxDigits + 1;
  if (digits > kMaxDigits) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the digits of ROUND are no constant from {} to {}; write for example "
                            "ROUND(x, 2)",
                            -kMaxDigits, kMaxDigits));
  }
  return negative ? -digits : digits;
}

}  // namespace

std::string constant_text(const Call& call, std::size_t index, std::string_view example) {
  const Literal* literal = call.arguments.at(index).get_if<Literal>();
  if (literal == nullptr || literal->kind != LiteralKind::string) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("argument {} of {} is no constant text; write for example {}",
                            index + 1, printable(call.name, 40), example));
  }
  return literal->text;
}

bool is_form(std::string_view name) {
  return std::find(kForms.begin(), kForms.end(), name) != kForms.end();
}

std::optional<Expression> Guard::expand_form(const Call& call, Position position) {
  if (call.name == "ROUND" && call.arguments.size() == 1) return std::nullopt;
  if (call.name == "ROUND") return round_to(call, position);
  if (call.name == "GREATEST" || call.name == "LEAST") return extreme(call, position);
  if (call.name == "CONCAT") return concatenation(call, position);
  if (call.name == "EXTRACT") return extract(call, position);
  if (call.name == "DATE_TRUNC") return truncate(call, position);
  if (call.name == "DATE_DIFF") return date_difference(call, position);
  if (call.name == "ORDERED_SUM" || call.name == "ORDERED_AVG") return ordered_total(call);
  return regular_expression(call, position);
}

// Doubles are scaled, rounded and scaled back in every engine: engines that round decimals would
// see another number, 2.675 where the double is a little less. The bounds keep the scaling from
// overflow and underflow; beyond them there is nothing to round, or nothing left.
Expression Guard::round_to(const Call& call, Position) {
  check_arguments(call, 2, 2);
  const int digits = constant_digits(call);
  const bool exact = dialect_ == Dialect::postgresql;
  const auto rounded = [exact](const std::string& value) {
    return exact ? fmt::format("CAST(ROUND(EXACT({})) AS DOUBLE)", value)
                 : fmt::format("ROUND({})", value);
  };
  const std::string scale = fmt::format("CAST(1e{} AS DOUBLE)", std::abs(digits));
  const std::string value = digits >= 0 ? fmt::format("{} / {}", rounded("a * " + scale), scale)
                                        : fmt::format("{} * {}", rounded("a / " + scale), scale);
  return from_text(fmt::format("CASE WHEN ABS(a) > {} THEN NULL WHEN ABS(a) >= {} THEN a WHEN "
                               "ABS(a) < 1e-200 THEN CAST(0 AS DOUBLE) ELSE {} END",
                               kLargest, digits >= 0 ? "1e16" : "1e300", value),
                   {number(call.arguments[0])});
}

// NULL if any is: engines' own skip them.
Expression Guard::extreme(const Call& call, Position position) {
  check_arguments(call, 2, kMaxArguments);
  Call own{call.name};
  std::optional<Expression> condition;
  for (const Expression& argument : call.arguments) {
    own.arguments.push_back(expand(argument));
    Expression there(IsNull{own.arguments.back(), true});
    condition = condition ? Expression(Binary{BinaryOperator::logical_and, *condition, there})
                          : std::move(there);
  }
  return Expression(Case{std::nullopt, {{*condition, Expression(std::move(own), position)}}});
}

// Each part is short, so what is put together from parts, and that again, stays short.
Expression Guard::concatenation(const Call& call, Position position) {
  check_arguments(call, 1, kMaxArguments);
  std::optional<Expression> condition;
  std::optional<Expression> text;
  for (const Expression& argument : call.arguments) {
    const Expression part = expand(argument);
    const Expression is_short = from_text("LENGTH(a) <= 10000", {part});
    condition = condition ? Expression(Binary{BinaryOperator::logical_and, *condition, is_short})
                          : is_short;
    text = text ? Expression(Binary{BinaryOperator::concatenate, *text, part}, position) : part;
  }
  return Expression(Case{std::nullopt, {{*condition, *text}}});
}

// Spark counts days of the week from Sunday as 1; the others, and the language, from 0.
Expression Guard::extract(const Call& call, Position) {
  check_arguments(call, 2, 2);
  const std::string field = constant_text(call, 0, "EXTRACT(YEAR FROM day)");
  if (!is_date_field(field)) {
    throw Error(ErrorCode::invalid_argument, fmt::format("EXTRACT has no field {}; write one of {}",
                                                         printable(field, 40), kDateFields));
  }
  std::string value = fmt::format("EXTRACT({} FROM CAST(a AS TIMESTAMP))", field);
  if (dialect_ != Dialect::duckdb) value = fmt::format("FLOOR({})", value);
  if (dialect_ == Dialect::spark && field == "DOW") value += " - 1";
  return from_text(fmt::format("CASE WHEN {} THEN CAST({} AS BIGINT) END", kDateRange, value),
                   {expand(call.arguments[1])});
}

// A day or more gives a DATE, less a TIMESTAMP. Spark's own DATE_TRUNC goes through the session's
// time zone, so other functions take its place.
Expression Guard::truncate(const Call& call, Position) {
  check_arguments(call, 2, 2);
  const std::string field = to_upper(constant_text(call, 0, "DATE_TRUNC('month', day)"));
  constexpr auto kDays = std::to_array<std::string_view>({"YEAR", "QUARTER", "MONTH", "WEEK"});
  const bool longer = std::find(kDays.begin(), kDays.end(), field) != kDays.end();
  const bool day = longer || field == "DAY";
  if (!day && field != "HOUR" && field != "MINUTE") {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("DATE_TRUNC has no field {}; write one of year, quarter, month, week, "
                            "day, hour or minute",
                            printable(field, 40)));
  }
  std::string value = fmt::format("DATE_TRUNC('{}', CAST(a AS TIMESTAMP))", to_lower(field));
  if (day) value = fmt::format("CAST({} AS DATE)", value);
  if (dialect_ == Dialect::spark) {
    value = longer ? fmt::format("TRUNC(CAST(a AS DATE), '{}')", field)
            : day  ? std::string("CAST(a AS DATE)")
                   : fmt::format("MAKE_TIMESTAMP_NTZ(YEAR(a), MONTH(a), DAY(a), HOUR(a), {}, 0)",
                                field == "MINUTE" ? "MINUTE(a)" : "0");
  }
  return from_text(fmt::format("CASE WHEN {} THEN {} END", kDateRange, value),
                   {expand(call.arguments[1])});
}

Expression Guard::date_difference(const Call& call, Position) {
  check_arguments(call, 3, 3);
  const std::string field = to_upper(constant_text(call, 0, "DATE_DIFF('day', a, b)"));
  if (field != "DAY") {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("DATE_DIFF counts days alone, not {}; write DATE_DIFF('day', a, b)",
                            printable(field, 40)));
  }
  constexpr std::string_view kBothInRange =
      "a >= DATE '0001-01-01' AND a < DATE '9999-12-31' AND b >= DATE '0001-01-01' AND b < DATE "
      "'9999-12-31'";
  const std::string_view days =
      dialect_ == Dialect::postgresql ? "CAST(b AS DATE) - CAST(a AS DATE)"
      : dialect_ == Dialect::spark    ? "DATEDIFF(CAST(b AS DATE), CAST(a AS DATE))"
                                      : "DATE_DIFF('day', CAST(a AS DATE), CAST(b AS DATE))";
  return from_text(fmt::format("CASE WHEN {} THEN CAST({} AS BIGINT) END", kBothInRange, days),
                   {expand(call.arguments[1]), expand(call.arguments[2])});
}

// A sum of doubles depends on the order in which they are added, and an engine's order on rows that
// are not even summed here. Sorted first, or exact, it is a function of the summed values alone.
Expression Guard::ordered_total(const Call& call) {
  check_arguments(call, 1, 1);
  if (dialect_ == Dialect::spark) {
    throw Error(ErrorCode::unsupported,
                "SUM and AVG of a subquery are not supported on Spark, which adds numbers up in "
                "whatever order they come; put them into the outermost query");
  }
  const std::string name = call.name == "ORDERED_SUM" ? "SUM" : "AVG";
  return from_text(dialect_ == Dialect::postgresql
                       ? fmt::format("CAST({}(EXACT(a)) AS DOUBLE)", name)
                       : fmt::format("LIST_{}(LIST_SORT(LIST(a)))", name),
                   {expand(call.arguments[0])});
}

}  // namespace shoal::sql
