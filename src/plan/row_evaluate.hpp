// The operations on values in memory, with the rules that the engine's forms have: NULL in, NULL
// out unless said otherwise, and NULL where there is no finite result. Nothing throws.
#pragma once

#include "plan/row_node.hpp"

#include <span>

namespace shoal::plan {

// The arguments are of the types that the node needs. Not for constant and input, whose value is
// not in their arguments, nor for `matches`, which only an engine evaluates.
Value evaluate(const RowNode& node, std::span<const Value> arguments);

// Whether the engine gives the very same for these arguments: letters beyond ASCII, say, are left
// to it.
bool is_exact(const RowNode& node, std::span<const Value> arguments);

// What holds the result for all numbers in the intervals of the arguments: for the operations on
// numbers, and for conversions to whole numbers.
Interval enclose(const RowNode& node, std::span<const Interval> arguments);

// The largest whole number that a conversion gives; 64 bits hold a little more.
inline constexpr double kMaxWhole = 9.2e18;
// EXP(x) has a result to here, and a power to the logarithm below; where the logarithm is further
// below zero than this, the result is zero.
inline constexpr double kMaxExponent = 709;
inline constexpr double kLogRange = 700;

// Truth of a comparison operation for an order below, at or above zero.
bool holds(Operation comparison, int order);

// The sign of the order of two values of one kind that are not NULL.
int compare(const Value& a, const Value& b);

}  // namespace shoal::plan
