#include "plan/row_build.hpp"

#include "plan/row_describe.hpp"
#include "plan/row_evaluate.hpp"

#include <shoal/base/error.hpp>
#include <shoal/sql/syntax.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::plan {
namespace {

// The constant that the arguments give, if they are all constants and the engine would give it too.
void fold(RowNode& node) {
  std::vector<Value> values;
  for (const RowNodePointer& argument : node.arguments) {
    if (!argument->constant) return;
    values.push_back(*argument->constant);
  }
  if (!is_exact(node, values)) return;
  const RowNodePointer folded = make_constant(evaluate(node, values), node.kind, node.position);
  const bool whole = node.whole;
  node = *folded;
  node.whole = node.whole || (whole && is_null(*node.constant));
}

// The list of what comes out if one argument has a list and the others are constants.
void map_list(RowNode& node) {
  if (node.kind == ValueKind::boolean || node.values || node.constant) return;
  const RowNode* listed = nullptr;
  std::vector<Value> values;
  std::size_t at = 0;
  for (const RowNodePointer& argument : node.arguments) {
    if (!argument->constant && (listed != nullptr || !argument->values)) return;
    if (!argument->constant) {
      listed = argument.get();
      at = values.size();
    }
    values.push_back(argument->constant.value_or(Value()));
  }
  if (listed == nullptr || listed->values->size() > kMaxListedValues) return;
  Distinct results;
  for (const std::string& key : *listed->values) {
    values[at] = value_of_key(key, listed->kind);
    if (is_null(values[at]) || !is_exact(node, values)) return;
    const Value result = evaluate(node, values);
    if (is_null(result)) continue;
    const double* number = std::get_if<double>(&result);
    if (number != nullptr && !is_exact_whole(*number)) return;  // engines differ in its notation
    results.add(key_text(result).value());
  }
  node.values = results.list();
}

RowNodePointer finish(RowNode node) {
  for (const RowNodePointer& argument : node.arguments) {
    node.depth = std::max(node.depth, argument->depth + 1);
  }
  if (node.depth > sql::kMaxTreeDepth) {
    throw Error(ErrorCode::unsupported,
                fmt::format("an expression is nested more than {} deep; write it with fewer levels",
                            sql::kMaxTreeDepth));
  }
  fold(node);
  map_list(node);
  return std::make_shared<const RowNode>(std::move(node));
}

}  // namespace

RowNodePointer make_node(Operation operation, std::vector<RowNodePointer> arguments,
                         sql::Position position, bool negated) {
  RowNode node;
  node.operation = operation;
  node.arguments = std::move(arguments);
  node.position = position;
  node.negated = negated;
  describe(node);
  return finish(std::move(node));
}

RowNodePointer make_constant(Value value, ValueKind kind, sql::Position position) {
  RowNode node;
  node.kind = kind;
  node.position = position;
  node.nullable = is_null(value);
  if (const double* number = std::get_if<double>(&value)) {
    node.interval = Interval::point(*number);
    node.whole = node.integral = is_exact_whole(*number);
  }
  node.integral = node.integral || node.nullable;  // NULL does not make its neighbours real numbers
  node.constant = std::move(value);
  return std::make_shared<const RowNode>(std::move(node));
}

RowNodePointer make_whole(std::int64_t value, sql::Position position) {
  RowNode node = *make_constant(static_cast<double>(value), ValueKind::number, position);
  node.whole = node.integral = true;
  node.exact = value;
  return std::make_shared<const RowNode>(std::move(node));
}

RowNodePointer make_null(ValueKind kind, bool whole, sql::Position position) {
  RowNode node = *make_constant({}, kind, position);
  node.whole = whole;
  return std::make_shared<const RowNode>(std::move(node));
}

RowNodePointer make_untyped_null(sql::Position position) {
  RowNode node = *make_constant({}, ValueKind::text, position);
  node.untyped = true;
  return std::make_shared<const RowNode>(std::move(node));
}

RowNodePointer make_input(std::size_t input, const ValueType& type, sql::Position position) {
  RowNode node;
  node.operation = Operation::input;
  node.input = input;
  node.position = position;
  node.kind = type.kind;
  node.whole = node.integral = type.kind == ValueKind::number && type.whole;
  node.nullable = type.nullable;
  if (type.bounds) node.interval = {type.bounds->lower, type.bounds->upper};
  if (type.values) node.values = std::make_shared<const std::vector<std::string>>(*type.values);
  return std::make_shared<const RowNode>(std::move(node));
}

RowNodePointer convert(RowNodePointer node, ValueKind kind, sql::Position position) {
  if (node->kind == kind && !node->untyped) return node;
  if (node->untyped) return make_constant({}, kind, position);
  RowNode result;
  result.operation = Operation::convert;
  result.kind = kind;
  result.position = position;
  const bool from_truth = node->kind == ValueKind::boolean;
  result.nullable = node->nullable || (kind != ValueKind::text && !from_truth);
  if (kind == ValueKind::number && from_truth) {
    result.whole = result.integral = true;
    result.interval = {0, 1};
  }
  if (kind == ValueKind::boolean) result.values = truth_values();
  result.arguments.push_back(std::move(node));
  return finish(std::move(result));
}

RowNodePointer to_real(RowNodePointer node) {
  if (!node->whole && !(node->constant && node->exact)) return node;
  RowNode result = *node;
  result.whole = false;
  result.exact.reset();
  if (!node->constant) {
    result.operation = Operation::convert;
    result.depth = node->depth + 1;
    result.arguments = {std::move(node)};
  }
  return std::make_shared<const RowNode>(std::move(result));
}

RowNodePointer keep_real(RowNodePointer node) {
  RowNode result = *to_real(std::move(node));
  result.integral = false;
  return std::make_shared<const RowNode>(std::move(result));
}

RowNodePointer to_whole(RowNodePointer node) {
  if (node->whole) return node;
  RowNode result;
  result.operation = Operation::convert;
  result.kind = ValueKind::number;
  result.whole = result.integral = true;
  result.position = node->position;
  result.interval = enclose(result, std::span(&node->interval, 1));
  result.values = node->kind == ValueKind::number && node->integral ? node->values : nullptr;
  result.arguments.push_back(std::move(node));
  return finish(std::move(result));
}

ValueType type_of(const RowNode& node) {
  ValueType type;
  type.kind = node.kind;
  type.whole = node.whole;
  type.nullable = node.nullable;
  if (node.kind == ValueKind::number && node.interval.is_finite()) {
    Interval interval = node.interval;
    if (interval.lower == interval.upper) {
      interval = hull(interval, Interval::point(interval.lower == 0 ? 1 : 0));
    }
    type.bounds = catalog::Bounds{interval.lower, interval.upper};
  }
  if (node.values) {
    type.values = *node.values;
  } else if (node.constant && !is_null(*node.constant)) {
    type.values = {{constant_text(node)}};
  }
  return type;
}

}  // namespace shoal::plan
