// Calls of scalar functions.
#include "plan/row_build.hpp"
#include "plan/row_checker.hpp"
#include "plan/row_text.hpp"

#include <shoal/base/text.hpp>
#include <shoal/sql/calendar.hpp>
#include <shoal/sql/pattern.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace shoal::plan {

using sql::Expression;
using sql::Position;

namespace {

constexpr double kMaxDecimals = 15;
// Beyond this a part of a text is the whole text; engines disagree on lengths beyond 32 bits.
constexpr double kMaxCharacters = 1'000'000'000;

struct FieldName {
  std::string_view written;
  std::string_view field;
};

constexpr auto kFields = std::to_array<FieldName>({
    {"year", "year"},
    {"quarter", "quarter"},
    {"month", "month"},
    {"week", "week"},
    {"day", "day"},
    {"days", "day"},
    {"dayofmonth", "day"},
    {"dow", "dow"},
    {"dayofweek", "dow"},
    {"doy", "doy"},
    {"dayofyear", "doy"},
    {"hour", "hour"},
    {"minute", "minute"},
    {"second", "second"},
});

// The field's own name, or an empty text.
std::string_view known_field(std::string_view written) {
  const std::string lower = to_lower(written);
  for (const FieldName& one : kFields) {
    if (one.written == lower) return one.field;
  }
  return {};
}

bool is_field_word(const Expression& expression) {
  const auto* reference = expression.get_if<sql::ColumnReference>();
  return reference != nullptr && !reference->table && !reference->column.quoted &&
         !known_field(reference->column.name).empty();
}

bool is_text(const Expression& expression) {
  const auto* literal = expression.get_if<sql::Literal>();
  return literal != nullptr && literal->kind == sql::LiteralKind::string;
}

bool keeps_whole(Operation operation) {
  return operation == Operation::floor || operation == Operation::ceiling ||
         operation == Operation::truncate;
}

bool is_time_of_day(std::string_view field) {
  return field == "hour" || field == "minute" || field == "second";
}

}  // namespace

RowNodePointer RowChecker::of(const sql::Call& call, Position at) const {
  if (is_aggregate(call.name)) {
    refuse(at, ErrorCode::unsupported, names_.aggregate_refusal(call));
  }
  const ScalarFunction* function = find_function(call.name);
  if (function == nullptr) refuse(at, ErrorCode::unsupported, function_refusal(call.name));
  if (call.star || call.distinct || call.filter || !call.named.empty()) {
    refuse(at, ErrorCode::invalid_argument,
           fmt::format("*, DISTINCT, FILTER and named arguments belong to aggregates; write {}",
                       function->example));
  }
  if (call.arguments.size() < function->fewest || call.arguments.size() > function->most) {
    refuse(at, ErrorCode::invalid_argument,
           fmt::format("{} has {} arguments here; write {}", call.name, call.arguments.size(),
                       function->example));
  }
  return shaped(*function, call, at);
}

RowNodePointer RowChecker::shaped(const ScalarFunction& function, const sql::Call& call,
                                  Position at) const {
  if (function.shape == FunctionShape::extract) return extract(call, at);
  if (function.shape == FunctionShape::truncate_date) return truncate_date(call, at);
  if (function.shape == FunctionShape::days_between) return days_between(call, at);
  Nodes arguments = nodes(call.arguments);
  const std::string where = fmt::format("in {}", function.name);
  switch (function.shape) {
    case FunctionShape::numbers:
    case FunctionShape::round: {
      arguments[0] = number(arguments[0], where);
      const bool rounds = function.shape == FunctionShape::round && arguments.size() > 1;
      if (rounds) {
        const double decimals =
            whole_constant(arguments[1], -kMaxDecimals, kMaxDecimals, "the number of decimals");
        if (arguments[0]->whole && decimals >= 0) return arguments[0];
        return make_node(function.operation, {to_real(arguments[0]), arguments[1]}, at);
      }
      const bool identity =
          keeps_whole(function.operation) || function.shape == FunctionShape::round;
      if (identity && arguments[0]->whole) return arguments[0];
      for (RowNodePointer& argument : arguments) {
        argument = to_real(number(std::move(argument), where));
      }
      return make_node(function.operation, std::move(arguments), at);
    }
    case FunctionShape::texts:
      for (RowNodePointer& argument : arguments) argument = text_value(argument, where);
      return make_node(function.operation, std::move(arguments), at);
    case FunctionShape::same:
      arguments = unify(std::move(arguments), where);
      if (arguments.size() == 1) return arguments[0];
      return make_node(function.operation, std::move(arguments), at);
    case FunctionShape::replace:
      return replace(arguments, at);
    case FunctionShape::matches:
      return matches(arguments, at);
    case FunctionShape::choice:
      return choice(arguments, at);
    case FunctionShape::concatenate:
      for (RowNodePointer& argument : arguments) argument = text_value(argument, where);
      return concatenated(arguments, at);
    default:
      return substring(function, arguments, at);
  }
}

// One list of parts, however it was written.
RowNodePointer RowChecker::concatenated(const Nodes& parts, Position at) const {
  Nodes all;
  for (const RowNodePointer& part : parts) {
    if (!part->constant && part->operation == Operation::concatenate) {
      all.insert(all.end(), part->arguments.begin(), part->arguments.end());
    } else {
      all.push_back(part);
    }
  }
  if (all.size() == 1) return all[0];
  if (all.size() > kMaxArguments) {
    refuse(at, ErrorCode::unsupported,
           fmt::format("{} texts are put together; use at most {}", all.size(), kMaxArguments));
  }
  return make_node(Operation::concatenate, std::move(all), at);
}

RowNodePointer RowChecker::substring(const ScalarFunction& function, const Nodes& arguments,
                                     Position at) const {
  const std::string where = fmt::format("in {}", function.name);
  RowNodePointer operand = text_value(arguments[0], where);
  if (function.shape != FunctionShape::substring) {
    whole_constant(arguments[1], 0, kMaxCharacters, "the number of characters");
    if (function.shape == FunctionShape::right) {
      return make_node(function.operation, {std::move(operand), arguments[1]}, at);
    }
    return make_node(function.operation, {std::move(operand), make_whole(1, at), arguments[1]}, at);
  }
  whole_constant(arguments[1], 1, kMaxCharacters, "the first character");
  if (arguments.size() > 2) {
    whole_constant(arguments[2], 0, kMaxCharacters, "the number of characters");
  }
  return make_node(
      function.operation,
      {std::move(operand), arguments[1],
       arguments.size() > 2 ? arguments[2] : make_whole(std::int64_t{1'000'000'000}, at)},
      at);
}

RowNodePointer RowChecker::replace(const Nodes& arguments, Position at) const {
  const std::string& from = text_constant(arguments[1], "the part to replace");
  const std::string& to = text_constant(arguments[2], "the new part");
  const std::size_t longest = std::max(character_count(from), character_count(to));
  if (longest > kMaxReplacedCharacters) {
    refuse(
        at, ErrorCode::unsupported,
        fmt::format("a part of {} characters cannot be replaced; use at most {}, since a growing "
                    "text could exhaust memory on some row",
                    longest, kMaxReplacedCharacters));
  }
  return make_node(Operation::replace,
                   {text_value(arguments[0], "in REPLACE"), arguments[1], arguments[2]}, at);
}

RowNodePointer RowChecker::matches(const Nodes& arguments, Position at) const {
  if (!names_.has_engine()) {
    refuse(at, ErrorCode::unsupported,
           "regular expressions are matched on rows only; put the condition into WHERE, or write "
           "LIKE");
  }
  const std::string& pattern = text_constant(arguments[1], "the pattern");
  if (const auto fault = sql::pattern_fault(pattern)) {
    refuse(arguments[1]->position, ErrorCode::invalid_argument,
           fmt::format("the pattern '{}' is not supported: {}", printable(pattern, 60), *fault));
  }
  return make_node(Operation::matches, {text_value(arguments[0], "beside a pattern"), arguments[1]},
                   at);
}

RowNodePointer RowChecker::choice(const Nodes& arguments, Position at) const {
  Nodes values = unify({arguments[1], arguments[2]}, "in both values of IF");
  return make_node(Operation::choose, {truth(arguments[0]), values[0], values[1]}, at);
}

std::string RowChecker::field_name(const Expression& argument) const {
  std::string written;
  if (is_text(argument)) written = argument.get_if<sql::Literal>()->text;
  if (is_field_word(argument)) written = argument.get_if<sql::ColumnReference>()->column.name;
  const std::string_view field = known_field(written);
  if (field.empty()) {
    refuse(argument.position(), ErrorCode::invalid_argument,
           "this is no part of a date; write one in quotes, such as 'month'");
  }
  return std::string(field);
}

RowNodePointer RowChecker::extract(const sql::Call& call, Position at) const {
  const bool named = call.arguments.size() == 1;
  const std::string field =
      named ? std::string(known_field(call.name)) : field_name(call.arguments.front());
  if (field == "week") {
    refuse(at, ErrorCode::unsupported,
           "weeks of a year differ between engines; write DATE_TRUNC('week', x)");
  }
  RowNodePointer operand = dated_value(node(call.arguments.back()), "to take a part of");
  if (operand->kind == ValueKind::date && is_time_of_day(field)) {
    refuse(at, ErrorCode::invalid_argument,
           fmt::format("a date has no {}; use a timestamp, or a part such as dow", field));
  }
  return make_node(Operation::extract,
                   {make_constant(field, ValueKind::text, at), std::move(operand)}, at);
}

// DATE_TRUNC('month', x), or DATE_TRUNC(x, MONTH) as BigQuery writes it.
RowNodePointer RowChecker::truncate_date(const sql::Call& call, Position at) const {
  const bool swapped = !is_text(call.arguments[0]) && is_field_word(call.arguments[1]);
  const std::string field = field_name(call.arguments[swapped ? 1 : 0]);
  RowNodePointer operand = dated_value(node(call.arguments[swapped ? 0 : 1]), "in DATE_TRUNC");
  const bool part = field == "dow" || field == "doy" || field == "second";
  if (part || (operand->kind == ValueKind::date && is_time_of_day(field))) {
    refuse(at, ErrorCode::invalid_argument,
           fmt::format("{} cannot be truncated to {}; use year, quarter, month, week or day",
                       in_words(operand->kind), field));
  }
  return make_node(Operation::truncate_date,
                   {make_constant(field, ValueKind::text, at), std::move(operand)}, at);
}

// DATE_DIFF('day', first, last), or DATE_DIFF(last, first, DAY) as BigQuery writes it.
RowNodePointer RowChecker::days_between(const sql::Call& call, Position at) const {
  const bool swapped = !is_text(call.arguments[0]) && is_field_word(call.arguments[2]);
  const std::string field = field_name(call.arguments[swapped ? 2 : 0]);
  if (field != "day") {
    refuse(at, ErrorCode::unsupported,
           fmt::format("only days are counted, not {}s; divide the days, for example by 7", field));
  }
  const auto day = [&](std::size_t index) {
    return convert(dated_value(node(call.arguments[index]), "in DATE_DIFF"), ValueKind::date, at);
  };
  return make_node(Operation::days_between, {day(1), day(swapped ? 0 : 2)}, at);
}

}  // namespace shoal::plan
