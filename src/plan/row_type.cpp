#include "plan/row_type.hpp"

#include <shoal/base/text.hpp>
#include <shoal/sql/calendar.hpp>

#include <charconv>
#include <cmath>

namespace shoal::plan {

using catalog::ColumnType;

std::string_view in_words(ValueKind kind) {
  switch (kind) {
    case ValueKind::number:
      return "a number";
    case ValueKind::text:
      return "a text";
    case ValueKind::boolean:
      return "true or false";
    case ValueKind::date:
      return "a date";
    case ValueKind::timestamp:
      break;
  }
  return "a timestamp";
}

std::optional<ValueType> type_of(const catalog::Column& column) {
  ValueType type;
  switch (column.type) {
    case ColumnType::integer:
    case ColumnType::real:
      type.kind = ValueKind::number;
      type.whole = column.type == ColumnType::integer;
      type.bounds = column.bounds;
      break;
    case ColumnType::boolean:
      type.kind = ValueKind::boolean;
      type.values = {{"true", "false"}};
      break;
    case ColumnType::date:
      type.kind = ValueKind::date;
      break;
    case ColumnType::timestamp:
      type.kind = ValueKind::timestamp;
      break;
    case ColumnType::text:
      type.kind = ValueKind::text;
      break;
    case ColumnType::other:
      return std::nullopt;
  }
  if (!column.categories.empty()) type.values = column.categories;
  type.nullable = column.nulls;
  return type;
}

bool is_exact_whole(double number) {
  constexpr double kLimit = 9007199254740992.0;  // 2^53
  return std::fabs(number) <= kLimit && std::trunc(number) == number;
}

std::optional<std::string> key_text(const Value& value) {
  if (const bool* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const double* number = std::get_if<double>(&value)) {
    return format_number(*number == 0 ? 0.0 : *number);  // no -0
  }
  if (const std::string* text = std::get_if<std::string>(&value)) return *text;
  return std::nullopt;
}

Value value_of_key(std::string_view text, ValueKind kind) {
  switch (kind) {
    case ValueKind::number: {
      double number = 0;
      const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
      const bool good = result.ec == std::errc() && result.ptr == text.data() + text.size() &&
                        std::isfinite(number);
      return good ? Value(number) : Value();
    }
    case ValueKind::boolean:
      if (text == "true") return true;
      if (text == "false") return false;
      return {};
    case ValueKind::date:
      return sql::is_date(text) ? Value(std::string(text)) : Value();
    case ValueKind::timestamp:
      return sql::is_timestamp(text) ? Value(canonical_timestamp(text)) : Value();
    case ValueKind::text:
      break;
  }
  return std::string(text);
}

std::string canonical_timestamp(std::string_view text) {
  constexpr std::size_t kDateLength = 10;
  std::string result(text);
  if (result.size() == kDateLength) return result + " 00:00:00";
  result[kDateLength] = ' ';
  if (result.find('.') != std::string::npos) {
    while (result.back() == '0') result.pop_back();
    if (result.back() == '.') result.pop_back();
  }
  return result;
}

}  // namespace shoal::plan
