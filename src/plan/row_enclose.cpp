// Intervals through the operations on numbers.
#include "plan/row_evaluate.hpp"
#include "plan/row_interval.hpp"

#include <cmath>
#include <vector>

namespace shoal::plan {
namespace {

// Of operations that never fall and are computed alike everywhere: the values at the ends.
Interval from_ends(const RowNode& node, const Interval& a) {
  const auto at = [&node](double end) {
    if (!std::isfinite(end)) return end;
    if (node.operation == Operation::convert) return node.whole ? std::round(end) : end;
    std::vector<Value> values{end};
    if (node.arguments.size() > 1) values.push_back(node.arguments[1]->constant.value_or(0.0));
    return std::get<double>(evaluate(node, values));
  };
  return {at(a.lower), at(a.upper)};
}

// What is tiny may have become zero.
Interval down_to_zero(const Interval& interval) {
  constexpr double kTiny = 1e-300;
  const bool tiny = absolute(interval).lower < kTiny;
  return tiny ? hull(interval, Interval::point(0)) : interval;
}

// Below e^700: a power beyond it is NULL.
constexpr double kLargestPower = 1e304;

Interval extremes(const RowNode& node, std::span<const Interval> arguments) {
  Interval result = arguments.front();
  for (const Interval& one : arguments) {
    result = node.operation == Operation::greatest ? greatest(result, one) : least(result, one);
  }
  return result;
}

}  // namespace

Interval enclose(const RowNode& node, std::span<const Interval> arguments) {
  const Interval& a = arguments.front();
  const Interval& b = arguments.back();
  switch (node.operation) {
    case Operation::add:
      return add(a, b);
    case Operation::subtract:
      return subtract(a, b);
    case Operation::multiply:
      return multiply(a, b);
    case Operation::divide:
      return divide(a, b);
    case Operation::modulo:
      return modulo(a, b);
    case Operation::negate:
      return negate(a);
    case Operation::absolute:
      return absolute(a);
    case Operation::natural_log:
      return natural_log(a);
    case Operation::log_10:
      return log_base(a, 10);
    case Operation::log_2:
      return log_base(a, 2);
    case Operation::exponential:
      return a.upper > kMaxExponent ? Interval{} : down_to_zero(exponential(a));
    case Operation::square_root:
      return square_root(a);
    case Operation::power: {
      const Interval result = down_to_zero(power(a, b));
      return absolute(result).upper > kLargestPower ? Interval{} : result;
    }
    case Operation::greatest:
    case Operation::least:
      return extremes(node, arguments);
    case Operation::sign:
      return {a.lower > 0    ? 1.0
              : a.lower == 0 ? 0.0
                             : -1.0,
              a.upper < 0    ? -1.0
              : a.upper == 0 ? 0.0
                             : 1.0};
    default:  // floor, ceiling, truncate, round, convert
      return from_ends(node, a);
  }
}

}  // namespace shoal::plan
