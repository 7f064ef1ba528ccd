#include "plan/filter.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/calendar.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace shoal::plan {
namespace {

using catalog::Column;
using catalog::ColumnType;
using sql::BinaryOperator;
using sql::Expression;
using sql::Literal;
using sql::LiteralKind;

// What can be compared with what.
enum class Kind { number, text, boolean, date, timestamp };

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::number:
      return "a number";
    case Kind::text:
      return "a text";
    case Kind::boolean:
      return "true or false";
    case Kind::date:
      return "a date";
    case Kind::timestamp:
      break;
  }
  return "a timestamp";
}

// An operand: a column or a literal, possibly negated.
struct Operand {
  Expression expression;
  Kind kind;
  bool whole;       // a number that fits BIGINT
  bool is_literal;  // a literal's kind may bend to the other side's: '2024-01-31' is a date beside
                    // a date
};

Kind kind_of(ColumnType type) {
  switch (type) {
    case ColumnType::integer:
    case ColumnType::real:
      return Kind::number;
    case ColumnType::boolean:
      return Kind::boolean;
    case ColumnType::date:
      return Kind::date;
    case ColumnType::timestamp:
      return Kind::timestamp;
    case ColumnType::text:
    case ColumnType::other:
      break;
  }
  return Kind::text;
}

class FilterChecker {
 public:
  FilterChecker(const catalog::Table& table, std::string_view text) : table_(table), text_(text) {}

  // An expression that is true, false or NULL for every row.
  Expression predicate(const Expression& expression) const {
    if (const auto* unary = expression.get_if<sql::Unary>();
        unary && unary->operation == sql::UnaryOperator::logical_not) {
      return Expression(sql::Unary{unary->operation, predicate(unary->operand)},
                        expression.position());
    }
    if (const auto* binary = expression.get_if<sql::Binary>())
      return binary_predicate(*binary, expression);
    if (const auto* is_null = expression.get_if<sql::IsNull>()) {
      return Expression(sql::IsNull{operand(is_null->operand).expression, is_null->negated},
                        expression.position());
    }
    if (const auto* between = expression.get_if<sql::Between>())
      return between_predicate(*between, expression);
    if (const auto* in = expression.get_if<sql::InList>()) return in_predicate(*in, expression);
    if (const auto* like = expression.get_if<sql::Like>()) return like_predicate(*like, expression);
    const Operand one = operand(expression);
    if (one.kind != Kind::boolean) {
      refuse(expression, ErrorCode::invalid_argument,
             fmt::format("expected a condition but found {}; write a comparison, such as age >= 18",
                         to_string(one.kind)));
    }
    return one.expression;
  }

 private:
  [[noreturn]] void refuse(const Expression& at, ErrorCode code, const std::string& why) const {
    throw sql::error_at(code, text_, at.position(), why);
  }

  Expression binary_predicate(const sql::Binary& binary, const Expression& whole) const {
    switch (binary.operation) {
      case BinaryOperator::logical_and:
      case BinaryOperator::logical_or:
        return Expression(
            sql::Binary{binary.operation, predicate(binary.left), predicate(binary.right)},
            whole.position());
      case BinaryOperator::equal:
      case BinaryOperator::not_equal:
      case BinaryOperator::less:
      case BinaryOperator::less_equal:
      case BinaryOperator::greater:
      case BinaryOperator::greater_equal: {
        auto both = comparable({operand(binary.left), operand(binary.right)}, whole);
        return Expression(sql::Binary{binary.operation, both[0], both[1]}, whole.position());
      }
      default:
        operand(whole);  // refuses arithmetic, with its reason
        SHOAL_CHECK(false);
        return whole;
    }
  }

  Expression between_predicate(const sql::Between& between, const Expression& whole) const {
    auto all =
        comparable({operand(between.operand), operand(between.low), operand(between.high)}, whole);
    return Expression(sql::Between{all[0], all[1], all[2], between.negated}, whole.position());
  }

  Expression in_predicate(const sql::InList& in, const Expression& whole) const {
    std::vector<Operand> operands{operand(in.operand)};
    for (const Expression& item : in.items) operands.push_back(operand(item));
    std::vector<Expression> all = comparable(std::move(operands), whole);
    const Expression first = all.front();
    all.erase(all.begin());
    return Expression(sql::InList{first, std::move(all), in.negated}, whole.position());
  }

  Expression like_predicate(const sql::Like& like, const Expression& whole) const {
    const Operand value = operand(like.operand);
    const auto* pattern = like.pattern.get_if<Literal>();
    if (value.kind != Kind::text || !pattern || pattern->kind != LiteralKind::string) {
      refuse(whole, ErrorCode::invalid_argument,
             "LIKE needs a text column and a pattern in quotes, such as city LIKE 'San%'");
    }
    return Expression(sql::Like{value.expression, like.pattern, like.negated}, whole.position());
  }

  Operand operand(const Expression& expression) const {
    if (const auto* reference = expression.get_if<sql::ColumnReference>()) {
      const Column& column = resolve_column(*reference, expression.position(), table_, text_);
      return {Expression(sql::ColumnReference{std::nullopt, {column.name, true}},
                         expression.position()),
              kind_of(column.type), column.type == ColumnType::integer, false};
    }
    if (const auto* literal = expression.get_if<Literal>())
      return literal_operand(*literal, expression, false);
    if (const auto* unary = expression.get_if<sql::Unary>();
        unary && unary->operation != sql::UnaryOperator::logical_not) {
      const auto* literal = unary->operand.get_if<Literal>();
      if (literal &&
          (literal->kind == LiteralKind::integer || literal->kind == LiteralKind::decimal)) {
        return literal_operand(*literal, expression, unary->operation == sql::UnaryOperator::minus);
      }
    }
    refuse_expression(expression);
  }

  Operand literal_operand(const Literal& literal, const Expression& at, bool negative) const {
    switch (literal.kind) {
      case LiteralKind::integer:
      case LiteralKind::decimal:
        return number_operand(literal, at, negative);
      case LiteralKind::boolean:
        return {at, Kind::boolean, false, true};
      case LiteralKind::string:
        return {at, Kind::text, false, true};
      case LiteralKind::date:
        return {dated(literal.text, Kind::date, at), Kind::date, false, true};
      case LiteralKind::timestamp:
        return {dated(literal.text, Kind::timestamp, at), Kind::timestamp, false, true};
      case LiteralKind::null:
        break;
    }
    refuse(at, ErrorCode::invalid_argument,
           "a comparison with NULL is never true; write IS NULL or IS NOT NULL");
  }

  Operand number_operand(const Literal& literal, const Expression& at, bool negative) const {
    long long value = 0;
    const char* end = literal.text.data() + literal.text.size();
    const auto result = std::from_chars(literal.text.data(), end, value);
    const bool whole =
        literal.kind == LiteralKind::integer && result.ec == std::errc() && result.ptr == end;
    if (!whole) {
      const double real = std::strtod(literal.text.c_str(), nullptr);
      if (!std::isfinite(real)) {
        refuse(at, ErrorCode::invalid_argument,
               fmt::format("{} is too large a number; use one below 1e308",
                           printable(literal.text, 40)));
      }
    }
    const Expression positive(literal, at.position());
    return {negative ? Expression(sql::Unary{sql::UnaryOperator::minus, positive}, at.position())
                     : positive,
            Kind::number, whole, true};
  }

  Expression dated(const std::string& value, Kind kind, const Expression& at) const {
    const bool good = kind == Kind::date ? sql::is_date(value) : sql::is_timestamp(value);
    if (!good) {
      refuse(at, ErrorCode::invalid_argument,
             fmt::format("'{}' is no {}; write {}", printable(value, 40),
                         kind == Kind::date ? "date" : "timestamp",
                         kind == Kind::date ? "'2024-01-31'" : "'2024-01-31 23:59:59'"));
    }
    return Expression(
        Literal{kind == Kind::date ? LiteralKind::date : LiteralKind::timestamp, value},
        at.position());
  }

  // The operands as expressions of one type, so that the engine need not convert, which could fail.
  std::vector<Expression> comparable(std::vector<Operand> operands, const Expression& whole) const {
    std::optional<Kind> wanted;
    for (const Operand& one : operands) {
      if (!one.is_literal && !wanted) wanted = one.kind;
    }
    if (!wanted) {
      refuse(whole, ErrorCode::unsupported,
             "this compares constants only; compare a column with a value");
    }
    bool all_whole = true;
    for (Operand& one : operands) {
      const auto* literal = one.expression.get_if<Literal>();
      // A text in quotes stands for a date beside a date, a date for its midnight beside a
      // timestamp.
      const bool bends = (one.kind == Kind::text && *wanted == Kind::date) ||
                         (one.kind == Kind::text && *wanted == Kind::timestamp) ||
                         (one.kind == Kind::date && *wanted == Kind::timestamp);
      if (one.is_literal && bends) {
        one = {dated(literal->text, *wanted, one.expression), *wanted, false, true};
      }
      if (one.kind != *wanted) {
        refuse(one.expression, ErrorCode::invalid_argument,
               fmt::format("found {} where {} is needed to compare; {}", to_string(one.kind),
                           to_string(*wanted),
                           *wanted == Kind::text ? "put it in quotes"
                                                 : "write a value of the column's type"));
      }
      all_whole = all_whole && one.whole;
    }
    std::vector<Expression> expressions;
    for (const Operand& one : operands) {
      const bool as_real = *wanted == Kind::number && !all_whole;
      expressions.push_back(
          as_real ? Expression(sql::Cast{one.expression, {sql::ScalarType::double_precision}},
                               one.expression.position())
                  : one.expression);
    }
    return expressions;
  }

  [[noreturn]] void refuse_expression(const Expression& at) const {
    const char* why = "this expression is not supported in a filter; compare columns with values";
    if (const auto* binary = at.get_if<sql::Binary>()) {
      why =
          binary->operation == BinaryOperator::divide || binary->operation == BinaryOperator::modulo
              ? "division in a filter could fail on some row, and an error would tell which; "
                "compare the column "
                "itself, for example age >= 36 instead of age / 2 >= 18"
              : "arithmetic in a filter could overflow on some row, and an error would tell which; "
                "compare the "
                "column itself, for example age >= 17 instead of age + 1 >= 18";
    } else if (at.get_if<sql::Cast>()) {
      why =
          "a conversion could fail on some row, and an error would tell which; compare the column "
          "in its own type";
    } else if (at.get_if<sql::Call>()) {
      why = "functions are not supported in a filter; compare the column itself";
    } else if (at.get_if<sql::Case>()) {
      why = "CASE is not supported in a filter; combine conditions with AND and OR";
    } else if (at.get_if<sql::Unary>()) {
      why =
          "arithmetic in a filter could overflow on some row; negate the constant instead of the "
          "column";
    }
    throw sql::error_at(ErrorCode::unsupported, text_, at.position(), why);
  }

  const catalog::Table& table_;
  std::string_view text_;
};

}  // namespace

const Column& resolve_column(const sql::ColumnReference& reference, sql::Position position,
                             const catalog::Table& table, std::string_view text) {
  if (reference.table && !sql::matches(*reference.table, table.name)) {
    throw sql::error_at(ErrorCode::not_found, text, reference.table->position,
                        fmt::format("the query reads {}, not {}", table.name,
                                    printable(reference.table->name, 60)));
  }
  const Column* column = table.find_column(reference.column.name, reference.column.quoted);
  if (!column) {
    std::vector<std::string> names;
    for (const Column& one : table.columns) names.push_back(one.name);
    const auto meant = nearest_name(reference.column.name, names);
    throw sql::error_at(ErrorCode::not_found, text, position,
                        fmt::format("table {} has no column {}; {}", table.name,
                                    printable(reference.column.name, 60),
                                    meant ? fmt::format("did you mean {}?", *meant)
                                          : fmt::format("it has {}", join_names(names))));
  }
  if (!column->queryable || column->type == ColumnType::other) {
    throw sql::error_at(
        ErrorCode::refused_by_policy, text, position,
        fmt::format("the policy does not let queries use column {}; leave it out", column->name));
  }
  return *column;
}

Expression check_filter(const Expression& filter, const catalog::Table& table,
                        std::string_view text) {
  return FilterChecker(table, text).predicate(filter);
}

}  // namespace shoal::plan
