// The structure of expressions: literals, operators, conditions, CASE and CAST. Functions are in
// row_calls.cpp, the finding of common types in row_unify.cpp.
#include "plan/row_checker.hpp"

#include "plan/row_build.hpp"

#include <shoal/base/text.hpp>
#include <shoal/sql/pattern.hpp>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace shoal::plan {

using sql::BinaryOperator;
using sql::Expression;
using sql::LiteralKind;
using sql::Position;
using sql::ScalarType;

namespace {

// In the order of BinaryOperator.
constexpr std::array kOperations = {
    Operation::logical_or,  Operation::logical_and, Operation::equal,    Operation::not_equal,
    Operation::less,        Operation::less_equal,  Operation::greater,  Operation::greater_equal,
    Operation::concatenate, Operation::add,         Operation::subtract, Operation::multiply,
    Operation::divide,      Operation::modulo,
};
static_assert(kOperations.size() == static_cast<std::size_t>(BinaryOperator::modulo) + 1);

constexpr int kMaxDecimals = 15;  // a double has no more

}  // namespace

void RowChecker::refuse(Position at, ErrorCode code, const std::string& why) const {
  throw sql::error_at(code, text_, at, why);
}

RowNodePointer RowChecker::value(const Expression& expression) const {
  RowNodePointer result = node(expression);
  if (result->untyped) {
    refuse(result->position, ErrorCode::invalid_argument,
           "NULL alone has no type; write for example CAST(NULL AS DOUBLE)");
  }
  return result;
}

RowNodePointer RowChecker::condition(const Expression& expression) const {
  return truth(node(expression));
}

RowNodePointer RowChecker::node(const Expression& expression) const {
  if (RowNodePointer found = names_.find(expression)) return found;
  return std::visit([&](const auto& kind) { return of(kind, expression.position()); },
                    expression.node().value);
}

RowChecker::Nodes RowChecker::nodes(const std::vector<Expression>& expressions) const {
  Nodes all;
  all.reserve(expressions.size());
  for (const Expression& expression : expressions) all.push_back(node(expression));
  return all;
}

RowNodePointer RowChecker::of(const sql::Literal& literal, Position at) const {
  switch (literal.kind) {
    case LiteralKind::integer:
      return number_literal(literal.text, true, at);
    case LiteralKind::decimal:
      return number_literal(literal.text, false, at);
    case LiteralKind::boolean:
      return make_constant(literal.text == "TRUE", ValueKind::boolean, at);
    case LiteralKind::string:
      return make_constant(literal.text, ValueKind::text, at);
    case LiteralKind::date:
      return dated(literal.text, ValueKind::date, at);
    case LiteralKind::timestamp:
      return dated(literal.text, ValueKind::timestamp, at);
    case LiteralKind::null:
      break;
  }
  return make_untyped_null(at);
}

RowNodePointer RowChecker::number_literal(const std::string& digits, bool integer,
                                          Position at) const {
  std::int64_t whole = 0;
  const char* end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, whole);
  if (integer && result.ec == std::errc() && result.ptr == end) return make_whole(whole, at);
  const double real = std::strtod(digits.c_str(), nullptr);
  if (!std::isfinite(real)) {
    refuse(at, ErrorCode::invalid_argument,
           fmt::format("{} is too large a number; use one below 1e308", printable(digits, 40)));
  }
  return make_constant(real, ValueKind::number, at);
}

// Only where the scope knows no such name.
RowNodePointer RowChecker::of(const sql::ColumnReference& reference, Position at) const {
  refuse(at, ErrorCode::not_found,
         fmt::format("there is no column {} here", printable(reference.column.name, 60)));
}

RowNodePointer RowChecker::of(const sql::Unary& unary, Position at) const {
  if (unary.operation == sql::UnaryOperator::logical_not) {
    return make_node(Operation::logical_not, {condition(unary.operand)}, at);
  }
  RowNodePointer operand = number(node(unary.operand), "after a sign");
  if (unary.operation == sql::UnaryOperator::plus) return operand;
  if (operand->exact) return make_whole(-*operand->exact, at);
  return make_node(Operation::negate, {to_real(std::move(operand))}, at);
}

RowNodePointer RowChecker::of(const sql::Binary& binary, Position at) const {
  const Operation operation = kOperations.at(static_cast<std::size_t>(binary.operation));
  switch (binary.operation) {
    case BinaryOperator::logical_or:
    case BinaryOperator::logical_and:
      return make_node(operation, {condition(binary.left), condition(binary.right)}, at);
    case BinaryOperator::equal:
    case BinaryOperator::not_equal: {
      Nodes sides = comparable({node(binary.left), node(binary.right)});
      require_listed(*sides[0], *sides[1], binary.left);
      require_listed(*sides[1], *sides[0], binary.right);
      return make_node(operation, std::move(sides), at);
    }
    case BinaryOperator::less:
    case BinaryOperator::less_equal:
    case BinaryOperator::greater:
    case BinaryOperator::greater_equal:
      return make_node(operation, comparable({node(binary.left), node(binary.right)}), at);
    case BinaryOperator::concatenate:
      return concatenated(
          {text_value(node(binary.left), "beside ||"), text_value(node(binary.right), "beside ||")},
          at);
    default:
      return make_node(operation,
                       {to_real(number(node(binary.left), "for arithmetic")),
                        to_real(number(node(binary.right), "for arithmetic"))},
                       at);
  }
}

RowNodePointer RowChecker::of(const sql::IsNull& is_null, Position at) const {
  RowNodePointer operand = node(is_null.operand);
  if (operand->untyped) operand = make_null(ValueKind::boolean, false, at);
  return make_node(Operation::is_null, {std::move(operand)}, at, is_null.negated);
}

RowNodePointer RowChecker::of(const sql::Between& between, Position at) const {
  return make_node(Operation::between,
                   comparable({node(between.operand), node(between.low), node(between.high)}), at,
                   between.negated);
}

RowNodePointer RowChecker::of(const sql::InList& in_list, Position at) const {
  Nodes all = comparable({node(in_list.operand)});
  // NULL among the items makes true of nothing, and false of what is in no other item unknown.
  for (const Expression& item : in_list.items) all.push_back(node(item));
  all = unify(std::move(all), "to compare");
  for (std::size_t i = 1; i < all.size(); ++i) require_listed(*all[0], *all[i], in_list.operand);
  return make_node(Operation::in_list, std::move(all), at, in_list.negated);
}

RowNodePointer RowChecker::of(const sql::Like& like, Position at) const {
  RowNodePointer operand = node(like.operand);
  RowNodePointer pattern = node(like.pattern);
  const bool good = operand->kind == ValueKind::text && pattern->kind == ValueKind::text &&
                    pattern->constant && !is_null(*pattern->constant);
  if (!good) {
    refuse(at, ErrorCode::invalid_argument,
           "LIKE needs a text and a pattern in quotes, such as city LIKE 'San%'");
  }
  const std::string& written = std::get<std::string>(*pattern->constant);
  if (const auto fault = sql::like_fault(written)) {
    refuse(like.pattern.position(), ErrorCode::unsupported,
           fmt::format("the pattern '{}' is not supported: {}", printable(written, 60), *fault));
  }
  return make_node(Operation::like, {std::move(operand), std::move(pattern)}, at, like.negated);
}

RowNodePointer RowChecker::of(const sql::Case& cases, Position at) const {
  Nodes tests;
  if (cases.operand) tests.push_back(node(*cases.operand));
  Nodes values;
  for (const sql::CaseBranch& branch : cases.branches) {
    tests.push_back(cases.operand ? node(branch.when) : condition(branch.when));
    values.push_back(node(branch.then));
  }
  values.push_back(cases.otherwise ? node(*cases.otherwise) : make_untyped_null(at));
  if (cases.operand) tests = comparable(std::move(tests));
  for (std::size_t i = 1; cases.operand && i < tests.size(); ++i) {
    require_listed(*tests[0], *tests[i], *cases.operand);
  }
  values = unify(std::move(values), "in every branch of CASE");
  Nodes all;
  const std::size_t first = cases.operand ? 1 : 0;
  if (cases.operand) all.push_back(tests[0]);
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    all.push_back(tests[first + i]);
    all.push_back(values[i]);
  }
  all.push_back(values.back());
  return make_node(cases.operand ? Operation::choose_by : Operation::choose, std::move(all), at);
}

RowNodePointer RowChecker::of(const sql::Cast& cast, Position at) const {
  RowNodePointer operand = node(cast.operand);
  const ValueKind from = operand->kind;
  const bool is_text = from == ValueKind::text;  // an untyped NULL too
  const bool is_dated = from == ValueKind::date || from == ValueKind::timestamp;
  switch (cast.type.type) {
    case ScalarType::boolean:
      if (is_text || from == ValueKind::boolean) return convert(operand, ValueKind::boolean, at);
      if (from == ValueKind::number) {
        return make_node(Operation::not_equal, comparable({std::move(operand), make_whole(0, at)}),
                         at);
      }
      refuse(at, ErrorCode::unsupported,
             fmt::format("{} is not true or false; write a comparison, such as x <> 0",
                         in_words(from)));
    case ScalarType::varchar:
      if (from == ValueKind::number && !operand->integral) {
        refuse(at, ErrorCode::unsupported,
               "engines write numbers with decimals each in their own way; write "
               "CAST(CAST(x AS BIGINT) AS VARCHAR), or keep the number");
      }
      if (from == ValueKind::number) operand = to_whole(std::move(operand));
      return convert(std::move(operand), ValueKind::text, at);
    case ScalarType::date:
    case ScalarType::timestamp:
      if (!is_text && !is_dated) {
        refuse(at, ErrorCode::unsupported,
               fmt::format("{} is no date; convert a text such as '2024-01-31'", in_words(from)));
      }
      return convert(std::move(operand),
                     cast.type.type == ScalarType::date ? ValueKind::date : ValueKind::timestamp,
                     at);
    default:
      if (is_dated) {
        refuse(at, ErrorCode::unsupported,
               "a date is no number; write DATE_DIFF('day', DATE '1970-01-01', x), or YEAR(x)");
      }
      return cast_number(std::move(operand), cast.type, at);
  }
}

RowNodePointer RowChecker::cast_number(RowNodePointer operand, const sql::TypeName& type,
                                       Position at) const {
  if (operand->untyped) operand = make_null(ValueKind::number, false, at);
  if (operand->kind == ValueKind::boolean) {
    operand = convert(std::move(operand), ValueKind::number, at);
  }
  switch (type.type) {
    case ScalarType::smallint:
    case ScalarType::integer:
    case ScalarType::bigint:
      return to_whole(std::move(operand));
    case ScalarType::decimal:
      break;
    default:
      return keep_real(convert(std::move(operand), ValueKind::number, at));
  }
  if (type.scale > kMaxDecimals) {
    refuse(at, ErrorCode::unsupported,
           fmt::format("a decimal is kept as a double, which has {} digits; use a scale of at most "
                       "{} instead of {}",
                       kMaxDecimals, kMaxDecimals, type.scale));
  }
  return make_node(
      Operation::round,
      {to_real(convert(std::move(operand), ValueKind::number, at)), make_whole(type.scale, at)},
      at);
}

}  // namespace shoal::plan
