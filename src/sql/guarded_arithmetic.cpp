// Arithmetic that cannot fail: sums, differences, products, quotients and amounts of doubles.
//
// DuckDB and Spark calculate as IEEE 754 does, without errors: what overflows becomes infinite or
// NaN, and stays so through +, -, *, ABS and the numerator of /. PostgreSQL raises errors for
// overflow and for underflow of doubles, so there a region is calculated in its decimal numbers of
// any length, which hold whatever kMaxRegionLeaves doubles can give.
#include "sql/guard.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

namespace shoal::sql {
namespace {

// A double has at most 309 digits before the point, and a denominator is at least 1e-300: so many
// factors and divisors stay well below 131,072 digits, beyond which PostgreSQL's numbers overflow.
constexpr std::size_t kMaxRegionLeaves = 200;

constexpr auto kOperations = std::to_array<std::pair<std::string_view, BinaryOperator>>({
    {"SAFE_ADD", BinaryOperator::add},
    {"SAFE_SUBTRACT", BinaryOperator::subtract},
    {"SAFE_MULTIPLY", BinaryOperator::multiply},
    {"SAFE_DIVIDE", BinaryOperator::divide},
});

constexpr std::string_view kChecked = "CASE WHEN ABS(a) <= 1.7976931348623157e308 THEN a END";
static_assert(kChecked.find(kLargest) != std::string_view::npos);

const BinaryOperator* find_operation(std::string_view name) {
  for (const auto& [known, operation] : kOperations) {
    if (known == name) return &operation;
  }
  return nullptr;
}

bool is_number(const Expression& expression) {
  const Literal* literal = expression.get_if<Literal>();
  return literal != nullptr &&
         (literal->kind == LiteralKind::integer || literal->kind == LiteralKind::decimal);
}

bool is_zero(const Expression& expression) {
  return expression.get_if<Literal>()->text.find_first_of("123456789") == std::string::npos;
}

bool is_region(const Expression& expression) {
  const Call* call = expression.get_if<Call>();
  return call != nullptr && is_region_function(call->name);
}

// How many numbers a region calculates with, as far as it matters: a denominator is one of them,
// whatever it is made of.
std::size_t region_leaves(const Expression& expression) {
  if (!is_region(expression)) return 1;
  const Call& call = *expression.get_if<Call>();
  std::size_t leaves = 0;
  for (const Expression& argument : call.arguments) {
    const bool divides = call.name == "SAFE_DIVIDE" && leaves > 0;
    leaves += divides ? 1 : region_leaves(argument);
    if (leaves > kMaxRegionLeaves) return leaves;
  }
  return leaves;
}

bool gives_number(const Expression& expression) {
  const Call* call = expression.get_if<Call>();
  if (call == nullptr) return false;
  if (is_region_function(call->name)) return true;
  const GuardedFunction* function = find_template(call->name, call->arguments.size());
  return function != nullptr && function->number;
}

}  // namespace

bool is_region_function(std::string_view name) {
  return name == "SAFE_NEGATE" || name == "ABS" || find_operation(name) != nullptr;
}

Expression Guard::checked_region(const Expression& expression) {
  if (dialect_ != Dialect::postgresql) return from_text(kChecked, {raw(expression)});
  return from_text(fmt::format("CASE WHEN ABS(ROUND(a, 300)) <= {} THEN CAST(ROUND(a, 300) AS "
                               "DOUBLE) END",
                               kLargest),
                   {raw(expression)});
}

// The operation at the root of a region, on what is still to be checked; regions inside become
// regions of their own where there are too many numbers for one.
Expression Guard::raw(const Expression& expression) {
  const bool small = region_leaves(expression) <= kMaxRegionLeaves;
  const auto inside = [&](const Expression& argument) {
    return small && is_region(argument) ? raw(argument) : raw_leaf(argument);
  };
  const Call& call = *expression.get_if<Call>();
  const BinaryOperator* operation = find_operation(call.name);
  const std::size_t count = operation == nullptr ? 1 : 2;
  check_arguments(call, count, count);
  Expression left = inside(call.arguments[0]);
  if (call.name == "ABS") return from_text("ABS(a)", {left});
  if (operation == nullptr) {
    return Expression(Unary{UnaryOperator::minus, std::move(left)}, expression.position());
  }
  Expression right = *operation == BinaryOperator::divide ? denominator(call.arguments[1])
                                                          : inside(call.arguments[1]);
  return Expression(Binary{*operation, std::move(left), std::move(right)}, expression.position());
}

Expression Guard::raw_leaf(const Expression& expression) {
  const TypeName number{dialect_ == Dialect::postgresql ? ScalarType::decimal
                                                        : ScalarType::double_precision};
  if (is_number(expression)) return Expression(Cast{expression, number});
  const Expression inner = expand(expression);
  if (dialect_ == Dialect::postgresql) return from_text("EXACT(a)", {inner});
  return gives_number(expression) ? inner : Expression(Cast{inner, number});
}

// Never zero, and never infinite: what is divided by infinity would be finite again.
Expression Guard::denominator(const Expression& expression) {
  const Expression value = number(expression);
  if (dialect_ != Dialect::postgresql) {
    if (is_number(expression) && !is_zero(expression)) return value;
    return from_text(fmt::format("CASE WHEN a <> 0 AND ABS(a) <= {} THEN a END", kLargest),
                     {value});
  }
  const bool known = is_number(expression) || gives_number(expression);
  const Expression checked = known ? value : from_text(kChecked, {value});
  return from_text("NULLIF(ROUND(EXACT(a), 300), 0)", {checked});
}

Expression Guard::number(const Expression& expression) {
  const TypeName type{ScalarType::double_precision};
  if (is_number(expression)) return Expression(Cast{expression, type});
  if (is_region(expression) && dialect_ != Dialect::postgresql) return raw(expression);
  const Expression inner = expand(expression);
  return gives_number(expression) ? inner : Expression(Cast{inner, type});
}

}  // namespace shoal::sql
