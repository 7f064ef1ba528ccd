#include "plan/row_lower.hpp"

#include "plan/row_text.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace shoal::plan {
namespace {

using sql::BinaryOperator;
using sql::Expression;
using sql::Literal;
using sql::LiteralKind;
using sql::ScalarType;

// Operations that are a call of one name with the arguments as they are.
constexpr auto kCalls = std::to_array<std::pair<Operation, const char*>>({
    {Operation::add, "SAFE_ADD"},
    {Operation::subtract, "SAFE_SUBTRACT"},
    {Operation::multiply, "SAFE_MULTIPLY"},
    {Operation::divide, "SAFE_DIVIDE"},
    {Operation::modulo, "SAFE_MOD"},
    {Operation::negate, "SAFE_NEGATE"},
    {Operation::absolute, "ABS"},
    {Operation::floor, "FLOOR"},
    {Operation::ceiling, "CEIL"},
    {Operation::truncate, "TRUNC"},
    {Operation::round, "ROUND"},
    {Operation::natural_log, "SAFE_LN"},
    {Operation::log_10, "SAFE_LOG10"},
    {Operation::exponential, "SAFE_EXP"},
    {Operation::square_root, "SAFE_SQRT"},
    {Operation::power, "SAFE_POWER"},
    {Operation::greatest, "GREATEST"},
    {Operation::least, "LEAST"},
    {Operation::coalesce, "COALESCE"},
    {Operation::null_if, "NULLIF"},
    {Operation::lower, "LOWER"},
    {Operation::upper, "UPPER"},
    {Operation::trim, "TRIM"},
    {Operation::trim_left, "LTRIM"},
    {Operation::trim_right, "RTRIM"},
    {Operation::substring, "SUBSTR"},
    {Operation::right, "RIGHT"},
    {Operation::starts_with, "STARTS_WITH"},
    {Operation::ends_with, "ENDS_WITH"},
    {Operation::contains, "CONTAINS"},
    {Operation::length, "LENGTH"},
    {Operation::replace, "REPLACE"},
    {Operation::concatenate, "CONCAT"},
    {Operation::matches, "REGEXP_MATCHES"},
});

constexpr auto kOperators = std::to_array<std::pair<Operation, BinaryOperator>>({
    {Operation::logical_or, BinaryOperator::logical_or},
    {Operation::logical_and, BinaryOperator::logical_and},
    {Operation::equal, BinaryOperator::equal},
    {Operation::not_equal, BinaryOperator::not_equal},
    {Operation::less, BinaryOperator::less},
    {Operation::less_equal, BinaryOperator::less_equal},
    {Operation::greater, BinaryOperator::greater},
    {Operation::greater_equal, BinaryOperator::greater_equal},
});

template <typename Target, std::size_t Size>
const Target* look_up(const std::array<std::pair<Operation, Target>, Size>& table,
                      Operation operation) {
  for (const auto& [one, target] : table) {
    if (one == operation) return &target;
  }
  return nullptr;
}

ScalarType engine_type(const RowNode& node) {
  switch (node.kind) {
    case ValueKind::number:
      return node.whole ? ScalarType::bigint : ScalarType::double_precision;
    case ValueKind::boolean:
      return ScalarType::boolean;
    case ValueKind::date:
      return ScalarType::date;
    case ValueKind::timestamp:
      return ScalarType::timestamp;
    case ValueKind::text:
      break;
  }
  return ScalarType::varchar;
}

// As the names of conversions have it.
std::string_view type_word(const RowNode& node) {
  switch (node.kind) {
    case ValueKind::number:
      return node.whole ? "BIGINT" : "DOUBLE";
    case ValueKind::text:
      return "TEXT";
    case ValueKind::boolean:
      return "BOOLEAN";
    case ValueKind::date:
      return "DATE";
    case ValueKind::timestamp:
      break;
  }
  return "TIMESTAMP";
}

std::string upper_case(std::string_view text) { return change_case(text, true); }

// With an exponent, so that an engine reads it as a double and not as a decimal.
std::string double_digits(double positive) {
  std::string digits = format_number(positive);
  if (digits.find('e') == std::string::npos) digits += "e0";
  return digits;
}

class Lowering {
 public:
  explicit Lowering(const std::vector<Expression>& inputs) : inputs_(inputs) {}

  Expression lower(const RowNode& node) const {
    if (node.constant) return constant(node, false);
    switch (node.operation) {
      case Operation::input:
        return inputs_.at(node.input);
      case Operation::convert:
        return converted(node);
      case Operation::sign:
        return cast(make(sql::Call{"SIGN", {argument(node, 0)}}, node), ScalarType::bigint, node);
      case Operation::log_2:
        return make(sql::Call{"SAFE_DIVIDE",
                              {make(sql::Call{"SAFE_LN", {argument(node, 0)}}, node),
                               real(std::log(2.0), node)}},
                    node);
      case Operation::extract:
      case Operation::truncate_date:
      case Operation::days_between:
        return dated(node);
      case Operation::choose:
      case Operation::choose_by:
        return chosen(node);
      default:
        break;
    }
    if (const auto* name = look_up(kCalls, node.operation)) {
      return make(sql::Call{*name, call_arguments(node)}, node);
    }
    return predicate(node);
  }

 private:
  template <typename Kind>
  static Expression make(Kind kind, const RowNode& node) {
    return Expression(std::move(kind), node.position);
  }

  // Of a conversion that every value survives.
  static Expression cast(Expression operand, ScalarType type, const RowNode& node) {
    return make(sql::Cast{std::move(operand), {type}, false}, node);
  }

  static Expression whole(std::int64_t value, const RowNode& node) {
    const bool negative = value < 0;
    Expression digits =
        make(Literal{LiteralKind::integer, std::to_string(negative ? -value : value)}, node);
    if (!negative) return digits;
    return make(sql::Unary{sql::UnaryOperator::minus, std::move(digits)}, node);
  }

  static Expression real(double value, const RowNode& node) {
    Expression digits = make(Literal{LiteralKind::decimal, double_digits(std::fabs(value))}, node);
    if (std::signbit(value)) {
      digits = make(sql::Unary{sql::UnaryOperator::minus, std::move(digits)}, node);
    }
    return cast(std::move(digits), ScalarType::double_precision, node);
  }

  // Bare: beside a value of its own type, where a whole number needs no type of its own.
  Expression constant(const RowNode& node, bool bare) const {
    const Value& value = *node.constant;
    if (is_null(value)) return cast(make(Literal{}, node), engine_type(node), node);
    if (const bool* truth = std::get_if<bool>(&value)) {
      return make(Literal{LiteralKind::boolean, *truth ? "TRUE" : "FALSE"}, node);
    }
    if (const double* number = std::get_if<double>(&value)) {
      if (!node.whole) return real(*number, node);
      Expression digits = whole(node.exact.value_or(static_cast<std::int64_t>(*number)), node);
      return bare ? digits : cast(std::move(digits), ScalarType::bigint, node);
    }
    const LiteralKind kind = node.kind == ValueKind::date        ? LiteralKind::date
                             : node.kind == ValueKind::timestamp ? LiteralKind::timestamp
                                                                 : LiteralKind::string;
    return make(Literal{kind, std::get<std::string>(value)}, node);
  }

  Expression bare(const RowNode& node) const {
    return node.constant ? constant(node, true) : lower(node);
  }

  Expression argument(const RowNode& node, std::size_t index) const {
    return lower(*node.arguments[index]);
  }

  // Numbers of characters and decimals are bare.
  std::vector<Expression> call_arguments(const RowNode& node) const {
    const bool counts = node.operation == Operation::substring ||
                        node.operation == Operation::right || node.operation == Operation::round;
    std::vector<Expression> all;
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      all.push_back(counts && i > 0 ? bare(*node.arguments[i]) : argument(node, i));
    }
    return all;
  }

  // CASE x WHEN TRUE THEN a WHEN FALSE THEN b END: every dialect has it, and NULL stays NULL.
  static Expression by_truth(Expression operand, Expression if_true, Expression if_false,
                             const RowNode& node) {
    const Expression yes = make(Literal{LiteralKind::boolean, "TRUE"}, node);
    const Expression no = make(Literal{LiteralKind::boolean, "FALSE"}, node);
    return make(sql::Case{std::move(operand),
                          {{yes, std::move(if_true)}, {no, std::move(if_false)}},
                          std::nullopt},
                node);
  }

  Expression converted(const RowNode& node) const {
    const RowNode& from = *node.arguments[0];
    Expression operand = lower(from);
    if (from.kind == ValueKind::boolean && node.kind == ValueKind::number) {
      return by_truth(std::move(operand), cast(whole(1, node), ScalarType::bigint, node),
                      cast(whole(0, node), ScalarType::bigint, node), node);
    }
    if (from.kind == ValueKind::boolean) {
      return by_truth(std::move(operand), make(Literal{LiteralKind::string, "true"}, node),
                      make(Literal{LiteralKind::string, "false"}, node), node);
    }
    if (from.kind == ValueKind::number && node.kind == ValueKind::number && !node.whole) {
      return cast(std::move(operand), ScalarType::double_precision, node);  // any BIGINT fits
    }
    return make(sql::Call{fmt::format("SAFE_{}_TO_{}", type_word(from), type_word(node)),
                          {std::move(operand)}},
                node);
  }

  // DATE_TRUNC to a day or more gives a DATE.
  Expression dated(const RowNode& node) const {
    if (node.operation == Operation::days_between) {
      const Expression day = make(Literal{LiteralKind::string, "day"}, node);
      return make(sql::Call{"DATE_DIFF", {day, argument(node, 0), argument(node, 1)}}, node);
    }
    const std::string& name = std::get<std::string>(*node.arguments[0]->constant);
    if (node.operation == Operation::extract) {
      const Expression field = make(Literal{LiteralKind::string, upper_case(name)}, node);
      return make(sql::Call{"EXTRACT", {field, argument(node, 1)}}, node);
    }
    Expression truncated =
        make(sql::Call{"DATE_TRUNC", {argument(node, 0), argument(node, 1)}}, node);
    if (node.kind == ValueKind::date || name == "hour" || name == "minute") return truncated;
    return make(sql::Call{"SAFE_DATE_TO_TIMESTAMP", {std::move(truncated)}}, node);
  }

  Expression chosen(const RowNode& node) const {
    sql::Case cases;
    std::size_t at = 0;
    if (node.operation == Operation::choose_by) cases.operand = argument(node, at++);
    for (; at + 1 < node.arguments.size(); at += 2) {
      cases.branches.push_back({bare(*node.arguments[at]), argument(node, at + 1)});
    }
    const RowNode& otherwise = *node.arguments[at];
    if (!otherwise.constant || !is_null(*otherwise.constant)) cases.otherwise = lower(otherwise);
    return make(std::move(cases), node);
  }

  Expression predicate(const RowNode& node) const {
    std::vector<Expression> all;
    for (const RowNodePointer& one : node.arguments) all.push_back(bare(*one));
    if (const auto* operation = look_up(kOperators, node.operation)) {
      return make(sql::Binary{*operation, all[0], all[1]}, node);
    }
    switch (node.operation) {
      case Operation::logical_not:
        return make(sql::Unary{sql::UnaryOperator::logical_not, all[0]}, node);
      case Operation::is_null:
        return make(sql::IsNull{all[0], node.negated}, node);
      case Operation::between:
        return make(sql::Between{all[0], all[1], all[2], node.negated}, node);
      case Operation::like:
        return make(sql::Like{all[0], all[1], node.negated}, node);
      default:
        break;
    }
    SHOAL_CHECK(node.operation == Operation::in_list);
    return make(sql::InList{all[0], {all.begin() + 1, all.end()}, node.negated}, node);
  }

  const std::vector<Expression>& inputs_;
};

}  // namespace

Expression lower(const RowNode& node, const std::vector<Expression>& inputs) {
  return Lowering(inputs).lower(node);
}

}  // namespace shoal::plan
