// A checked expression: names resolved, types explicit, conversions spelled out. One tree serves
// both sides: rows, where it becomes SQL that no value can make fail (row_lower.hpp), and released
// values, where it is evaluated here (answer_expression.hpp).
//
// Invariants: each node's arguments have the types that its operation needs, so that neither side
// converts anything on its own; an argument occurs once, so that the tree is as large as the
// expression that was written; a tree is at most sql::kMaxTreeDepth deep.
#pragma once

#include "plan/row_interval.hpp"
#include "plan/row_type.hpp"

#include <shoal/sql/position.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::plan {

enum class Operation {
  constant,
  input,  // a column, or a released value
  convert,
  // Numbers: DOUBLE in, DOUBLE out, NULL where there is no finite result.
  add,
  subtract,
  multiply,
  divide,
  modulo,
  negate,
  absolute,
  sign,  // whole
  floor,
  ceiling,
  truncate,
  round,  // to the decimals of the second argument, a constant, if there is one
  natural_log,
  log_10,
  log_2,
  exponential,
  square_root,
  power,
  // Of any kind, all arguments of one type.
  greatest,  // NULL if any is
  least,
  coalesce,
  null_if,
  choose,     // condition, value, condition, value, ..., value otherwise
  choose_by,  // operand, then as choose but with values to compare the operand with
  // Truth.
  logical_and,
  logical_or,
  logical_not,
  is_null,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  between,
  in_list,
  like,
  // Texts; positions and lengths are constants.
  lower,
  upper,
  trim,
  trim_left,
  trim_right,
  length,
  substring,
  right,
  starts_with,
  ends_with,
  contains,
  replace,
  concatenate,  // two or more, none of them a concatenation
  matches,      // a regular expression
  // Dates and timestamps; the field is a constant and comes first.
  extract,
  truncate_date,
  days_between,  // from the first to the second
};

// Longer texts are NULL where texts are put together or parts of them replaced: a text that grows
// again and again could otherwise exhaust memory on some row.
inline constexpr std::size_t kMaxGrowingCharacters = 10'000;
inline constexpr std::size_t kMaxReplacedCharacters = 100;

struct RowNode;
using RowNodePointer = std::shared_ptr<const RowNode>;

struct RowNode {
  Operation operation = Operation::constant;
  std::vector<RowNodePointer> arguments = {};
  bool negated = false;  // NOT BETWEEN, NOT IN, NOT LIKE, IS NOT NULL
  std::size_t input = 0;

  ValueKind kind = ValueKind::number;
  bool untyped = false;   // a bare NULL, of whatever kind is needed
  bool whole = false;     // BIGINT
  bool integral = false;  // a number without decimals, as a BIGINT or as a DOUBLE
  bool nullable = true;
  Interval interval = {};                                            // of a number, as declared
  std::shared_ptr<const std::vector<std::string>> values = nullptr;  // as ValueType has them
  std::optional<Value> constant = std::nullopt;
  std::optional<std::int64_t> exact = std::nullopt;  // a whole constant, beyond 2^53 too

  std::size_t depth = 1;
  sql::Position position = {};
};

// The type as the planner sees it. Bounds of a single point c become those of [0, c]: bounds are
// never empty inside, and a sum is as sensitive with either.
ValueType type_of(const RowNode& node);

}  // namespace shoal::plan
