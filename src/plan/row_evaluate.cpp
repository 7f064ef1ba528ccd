#include "plan/row_evaluate.hpp"

#include "plan/row_text.hpp"

#include <shoal/base/text.hpp>
#include <shoal/sql/calendar.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace shoal::plan {
namespace {

double number(const Value& value) { return std::get<double>(value); }
const std::string& text(const Value& value) { return std::get<std::string>(value); }

std::size_t count(const Value& value) { return static_cast<std::size_t>(number(value)); }

Value finite(double result) { return std::isfinite(result) ? Value(result) : Value(); }

Value optional_text(std::optional<std::string> result) {
  return result ? Value(std::move(*result)) : Value();
}

// As the guarded form rounds: where nothing is left to round, the number itself.
double round_to(double value, double decimals) {
  if (std::fabs(value) >= (decimals < 0 ? 1e300 : 1e16)) return value;
  if (std::fabs(value) < 1e-200) return 0;
  const double scale = std::pow(10.0, std::fabs(decimals));
  return decimals < 0 ? std::round(value / scale) * scale : std::round(value * scale) / scale;
}

// As the guarded forms do it: beyond e^700 there is no result, below e^-700 it is zero.
Value exponential(double x) {
  if (x > kMaxExponent) return {};
  return x < -kLogRange ? 0.0 : std::exp(x);
}

Value power(double a, double b) {
  if (a == 0) return b > 0 ? Value(0.0) : b == 0 ? Value(1.0) : Value();
  if (a < 0 && (std::floor(b) != b || std::fabs(b) > 0x1p53)) return {};
  const double logarithm = b * std::log(std::fabs(a));
  if (!(logarithm <= kLogRange)) return {};
  return logarithm < -kLogRange ? Value(0.0) : finite(std::pow(a, b));
}

Value arithmetic(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::add:
      return finite(a + b);
    case Operation::subtract:
      return finite(a - b);
    case Operation::multiply:
      return finite(a * b);
    case Operation::divide:
      return b == 0 ? Value() : finite(a / b);
    case Operation::modulo:
      return b == 0 ? Value() : finite(std::fmod(a, b));
    case Operation::power:
      return power(a, b);
    default:
      return {};
  }
}

Value of_number(Operation operation, double x) {
  switch (operation) {
    case Operation::negate:
      return -x;
    case Operation::absolute:
      return std::fabs(x);
    case Operation::sign:
      return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0;
    case Operation::floor:
      return std::floor(x);
    case Operation::ceiling:
      return std::ceil(x);
    case Operation::truncate:
      return std::trunc(x);
    case Operation::round:
      return std::round(x);
    case Operation::natural_log:
      return x > 0 ? finite(std::log(x)) : Value();
    case Operation::log_10:
      return x > 0 ? finite(std::log10(x)) : Value();
    case Operation::log_2:
      return x > 0 ? finite(std::log(x) / std::log(2.0)) : Value();
    case Operation::exponential:
      return exponential(x);
    case Operation::square_root:
      return x >= 0 ? finite(std::sqrt(x)) : Value();
    default:
      return {};
  }
}

Value joined(std::span<const Value> parts) {
  std::string all;
  for (const Value& part : parts) {
    if (character_count(text(part)) > kMaxGrowingCharacters) return {};
    all += text(part);
  }
  return all;
}

Value of_text(const RowNode& node, std::span<const Value> arguments) {
  const std::string& first = text(arguments[0]);
  switch (node.operation) {
    case Operation::lower:
      return change_case(first, false);
    case Operation::upper:
      return change_case(first, true);
    case Operation::trim:
      return trim(first, true, true);
    case Operation::trim_left:
      return trim(first, true, false);
    case Operation::trim_right:
      return trim(first, false, true);
    case Operation::length:
      return static_cast<double>(character_count(first));
    case Operation::substring:
      return substring(first, count(arguments[1]), count(arguments[2]));
    case Operation::right:
      return last_characters(first, count(arguments[1]));
    case Operation::starts_with:
      return first.starts_with(text(arguments[1]));
    case Operation::ends_with:
      return first.ends_with(text(arguments[1]));
    case Operation::contains:
      return first.find(text(arguments[1])) != std::string::npos;
    case Operation::replace:
      if (character_count(first) > kMaxGrowingCharacters) return {};
      return replace_all(first, text(arguments[1]), text(arguments[2]));
    case Operation::concatenate:
      return joined(arguments);
    case Operation::like:
      return is_like(first, text(arguments[1])) != node.negated;
    case Operation::extract: {
      const auto field = extract_field(first, text(arguments[1]));
      return field ? Value(static_cast<double>(*field)) : Value();
    }
    case Operation::truncate_date:
      return optional_text(truncate_date(first, text(arguments[1])));
    case Operation::days_between: {
      const auto days = days_between(first, text(arguments[1]));
      return days ? Value(static_cast<double>(*days)) : Value();
    }
    default:
      return {};
  }
}

// -12, 3.5, 1e-6: digits with an optional sign, decimals and exponent, as the guarded conversion
// reads them. The name says what may stand before and after.
bool is_plain_number(std::string_view written) {
  constexpr std::size_t kLongest = 100;
  if (written.size() > kLongest) return false;
  const auto take_digits = [&written] {
    const std::size_t count = std::min(written.find_first_not_of("0123456789"), written.size());
    written.remove_prefix(count);
    return count;
  };
  if (written.starts_with('-')) written.remove_prefix(1);
  if (take_digits() == 0) return false;
  if (written.starts_with('.')) {
    written.remove_prefix(1);
    if (take_digits() == 0) return false;
  }
  if (written.starts_with('e') || written.starts_with('E')) {
    written.remove_prefix(1);
    if (written.starts_with('+') || written.starts_with('-')) written.remove_prefix(1);
    const std::size_t exponent = take_digits();
    if (exponent == 0 || exponent > 3) return false;
  }
  return written.empty();
}

bool is_plain_whole(std::string_view written) {
  if (written.starts_with('-')) written.remove_prefix(1);
  return !written.empty() && written.size() <= 19 &&
         written.find_first_not_of("0123456789") == std::string_view::npos;
}

Value to_number(const RowNode& node, const Value& value) {
  double result = 0;
  if (const bool* truth = std::get_if<bool>(&value)) return *truth ? 1.0 : 0.0;
  if (const std::string* written = std::get_if<std::string>(&value)) {
    if (node.whole ? !is_plain_whole(*written) : !is_plain_number(*written)) return {};
    result = std::strtod(written->c_str(), nullptr);
  } else {
    result = number(value);
  }
  if (!node.whole) return finite(result);
  result = std::round(result) + 0.0;  // BIGINT has no -0
  return std::fabs(result) <= kMaxWhole ? Value(result) : Value();
}

// Timestamps without decimals of a second.
Value to_text(const RowNode& from, const Value& value) {
  if (const double* whole = std::get_if<double>(&value)) return fmt::format("{:.0f}", *whole);
  if (from.kind == ValueKind::timestamp) return text(value).substr(0, 19);
  return optional_text(key_text(value));
}

Value to_truth(std::string_view lower) {
  for (const std::string_view yes : {"true", "t", "yes", "y", "1"}) {
    if (lower == yes) return true;
  }
  for (const std::string_view no : {"false", "f", "no", "n", "0"}) {
    if (lower == no) return false;
  }
  return {};
}

Value converted(const RowNode& node, const Value& value) {
  switch (node.kind) {
    case ValueKind::number:
      return to_number(node, value);
    case ValueKind::text:
      return to_text(*node.arguments[0], value);
    case ValueKind::boolean:
      if (std::holds_alternative<bool>(value)) return value;
      return to_truth(to_lower(text(value)));
    case ValueKind::date:
      return value_of_key(sql::is_timestamp(text(value)) ? text(value).substr(0, 10) : "",
                          ValueKind::date);
    case ValueKind::timestamp:
      break;
  }
  return value_of_key(text(value), ValueKind::timestamp);
}

Value logical(const RowNode& node, std::span<const Value> arguments) {
  const bool decisive = node.operation == Operation::logical_or;
  bool unknown = false;
  for (const Value& value : arguments) {
    if (is_null(value)) {
      unknown = true;
    } else if (std::get<bool>(value) == decisive) {
      return decisive;
    }
  }
  return unknown ? Value() : Value(!decisive);
}

Value in_list(const RowNode& node, std::span<const Value> arguments) {
  if (is_null(arguments[0])) return {};
  bool unknown = false;
  for (const Value& item : arguments.subspan(1)) {
    if (is_null(item)) {
      unknown = true;
    } else if (compare(arguments[0], item) == 0) {
      return !node.negated;
    }
  }
  return unknown ? Value() : Value(node.negated);
}

Value between(const RowNode& node, std::span<const Value> arguments) {
  std::array<Value, 2> sides;
  for (std::size_t i = 0; i < 2; ++i) {
    if (is_null(arguments[0]) || is_null(arguments[i + 1])) continue;
    const int order = compare(arguments[0], arguments[i + 1]);
    sides.at(i) = i == 0 ? order >= 0 : order <= 0;
  }
  RowNode both;
  both.operation = Operation::logical_and;
  const Value inside = logical(both, sides);
  return is_null(inside) ? inside : Value(std::get<bool>(inside) != node.negated);
}

Value chosen(std::span<const Value> arguments) {
  std::size_t at = 0;
  for (; at + 1 < arguments.size(); at += 2) {
    if (!is_null(arguments[at]) && std::get<bool>(arguments[at])) return arguments[at + 1];
  }
  return arguments[at];
}

Value chosen_by(std::span<const Value> arguments) {
  std::size_t at = 1;
  for (; at + 1 < arguments.size(); at += 2) {
    const bool known = !is_null(arguments[0]) && !is_null(arguments[at]);
    if (known && compare(arguments[0], arguments[at]) == 0) return arguments[at + 1];
  }
  return arguments[at];
}

Value extreme(const RowNode& node, std::span<const Value> arguments) {
  const int wanted = node.operation == Operation::greatest ? 1 : -1;
  Value best = arguments[0];
  for (const Value& value : arguments) {
    if (compare(value, best) == wanted) best = value;
  }
  return best;
}

// Those that NULL does not simply pass through.
std::optional<Value> with_nulls(const RowNode& node, std::span<const Value> arguments) {
  switch (node.operation) {
    case Operation::logical_and:
    case Operation::logical_or:
      return logical(node, arguments);
    case Operation::is_null:
      return is_null(arguments[0]) != node.negated;
    case Operation::in_list:
      return in_list(node, arguments);
    case Operation::between:
      return between(node, arguments);
    case Operation::choose:
      return chosen(arguments);
    case Operation::choose_by:
      return chosen_by(arguments);
    case Operation::coalesce: {
      const auto first = std::find_if_not(arguments.begin(), arguments.end(), is_null);
      return first == arguments.end() ? Value() : *first;
    }
    case Operation::null_if: {
      const bool known = !is_null(arguments[0]) && !is_null(arguments[1]);
      return known && compare(arguments[0], arguments[1]) == 0 ? Value() : arguments[0];
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

int compare(const Value& a, const Value& b) { return a < b ? -1 : b < a ? 1 : 0; }

bool holds(Operation comparison, int order) {
  switch (comparison) {
    case Operation::equal:
      return order == 0;
    case Operation::not_equal:
      return order != 0;
    case Operation::less:
      return order < 0;
    case Operation::less_equal:
      return order <= 0;
    case Operation::greater:
      return order > 0;
    default:
      return order >= 0;
  }
}

Value evaluate(const RowNode& node, std::span<const Value> arguments) {
  if (std::optional<Value> result = with_nulls(node, arguments)) return *result;
  if (std::any_of(arguments.begin(), arguments.end(), is_null)) return {};
  switch (node.operation) {
    case Operation::convert:
      return converted(node, arguments[0]);
    case Operation::logical_not:
      return !std::get<bool>(arguments[0]);
    case Operation::greatest:
    case Operation::least:
      return extreme(node, arguments);
    case Operation::equal:
    case Operation::not_equal:
    case Operation::less:
    case Operation::less_equal:
    case Operation::greater:
    case Operation::greater_equal:
      return holds(node.operation, compare(arguments[0], arguments[1]));
    default:
      break;
  }
  if (std::holds_alternative<std::string>(arguments[0])) return of_text(node, arguments);
  if (arguments.size() == 1) return of_number(node.operation, number(arguments[0]));
  if (node.operation == Operation::round) {
    return round_to(number(arguments[0]), number(arguments[1]));
  }
  return arithmetic(node.operation, number(arguments[0]), number(arguments[1]));
}

bool is_exact(const RowNode& node, std::span<const Value> arguments) {
  if (node.operation == Operation::matches) return false;
  const std::string* first =
      arguments.empty() ? nullptr : std::get_if<std::string>(&arguments.front());
  if (first == nullptr) return true;
  switch (node.operation) {
    case Operation::lower:
    case Operation::upper:
    case Operation::trim:
    case Operation::trim_left:
    case Operation::trim_right:
    case Operation::substring:  // of characters that combine
    case Operation::right:
    case Operation::length:
      return is_ascii(*first);
    case Operation::convert:
      return node.kind == ValueKind::text || !is_null(converted(node, *first));
    default:
      return true;
  }
}

}  // namespace shoal::plan
