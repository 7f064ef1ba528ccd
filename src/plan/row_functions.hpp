// The scalar functions that an expression may use, by every name they are known under, and what is
// said of those it may not.
#pragma once

#include "plan/row_node.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace shoal::plan {

// How the arguments are checked before the node is made.
enum class FunctionShape {
  numbers,    // all are numbers
  texts,      // all are texts
  same,       // all of one type
  round,      // a number and perhaps decimals
  substring,  // a text, a start and perhaps a length
  left,       // a text and a length
  right,
  replace,      // a text, what, by what
  concatenate,  // texts
  matches,      // a text and a pattern
  choice,       // a condition and two values
  extract,      // a field and a date, or the field in the function's name
  truncate_date,
  days_between,
};

struct ScalarFunction {
  std::string_view name;
  Operation operation;
  FunctionShape shape;
  std::size_t fewest;
  std::size_t most;
  std::string_view example;  // a right way to write it
};

// Of a function that takes any number; the printer of guarded calls takes no more.
inline constexpr std::size_t kMaxArguments = 100;

const ScalarFunction* find_function(std::string_view upper);

bool is_aggregate(std::string_view upper);

// Why a function that is none of these is refused, and what to write instead.
std::string function_refusal(std::string_view upper);

}  // namespace shoal::plan
