#include "plan/row_describe.hpp"

#include "plan/row_evaluate.hpp"

#include <algorithm>

namespace shoal::plan {
namespace {

List small_list(int from, int to) {
  std::vector<std::string> values;
  for (int value = from; value <= to; ++value) values.push_back(std::to_string(value));
  return std::make_shared<const std::vector<std::string>>(std::move(values));
}

bool any_nullable(const RowNode& node) {
  return std::any_of(node.arguments.begin(), node.arguments.end(),
                     [](const RowNodePointer& argument) { return argument->nullable; });
}

bool all_integral(const RowNode& node) {
  return std::all_of(node.arguments.begin(), node.arguments.end(),
                     [](const RowNodePointer& argument) { return argument->integral; });
}

// What comes out of one of several arguments: values of CASE, COALESCE, GREATEST.
struct Outcomes {
  std::vector<const RowNode*> nodes;

  bool nullable() const {
    return std::any_of(nodes.begin(), nodes.end(), [](auto* node) { return node->nullable; });
  }

  // The union of the lists, if all have one. NULL is in no list.
  List values() const {
    Distinct all;
    for (const RowNode* node : nodes) {
      if (node->constant && is_null(*node->constant)) continue;
      if (node->constant) {
        all.add(constant_text(*node));
      } else if (node->values) {
        for (const std::string& value : *node->values) all.add(value);
      } else {
        return nullptr;
      }
    }
    return all.list();
  }

  Interval interval() const {
    std::optional<Interval> all;
    for (const RowNode* node : nodes) {
      if (node->constant && is_null(*node->constant)) continue;
      all = all ? hull(*all, node->interval) : node->interval;
    }
    return all.value_or(Interval{});
  }
};

Outcomes outcomes_of(const RowNode& node) {
  Outcomes outcomes;
  const std::size_t size = node.arguments.size();
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t from_first = node.operation == Operation::choose_by ? i + 1 : i;
    const bool chooses =
        node.operation == Operation::choose || node.operation == Operation::choose_by;
    if (node.operation == Operation::null_if && i > 0) break;
    if (chooses && i + 1 < size && from_first % 2 == 0) continue;  // a condition
    if (node.operation == Operation::choose_by && i == 0) continue;
    outcomes.nodes.push_back(node.arguments[i].get());
  }
  return outcomes;
}

void describe_outcome(RowNode& node) {
  const Outcomes outcomes = outcomes_of(node);
  const RowNode& first = *outcomes.nodes.front();
  node.kind = first.kind;
  node.whole = first.whole;
  node.integral = std::all_of(outcomes.nodes.begin(), outcomes.nodes.end(),
                              [](auto* one) { return one->integral; });
  node.nullable = node.operation == Operation::null_if || outcomes.nullable();
  if (node.operation == Operation::coalesce) {
    node.nullable = std::all_of(outcomes.nodes.begin(), outcomes.nodes.end(),
                                [](auto* one) { return one->nullable; });
  }
  node.interval = outcomes.interval();
  node.values = outcomes.values();
}

Interval argument_interval(const RowNode& node) {
  std::vector<Interval> intervals;
  for (const RowNodePointer& argument : node.arguments) intervals.push_back(argument->interval);
  return enclose(node, intervals);
}

void describe_extreme(RowNode& node) {
  const RowNode& first = *node.arguments.front();
  node.kind = first.kind;
  node.whole = first.whole;
  node.integral = all_integral(node);
  node.nullable = any_nullable(node);
  if (node.kind == ValueKind::number) node.interval = argument_interval(node);
}

void describe_number(RowNode& node) {
  node.kind = ValueKind::number;
  node.interval = argument_interval(node);
  switch (node.operation) {
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::modulo:
      node.integral = all_integral(node);
      node.nullable = true;
      return;
    case Operation::negate:
    case Operation::absolute:
      node.integral = all_integral(node);
      break;
    case Operation::floor:
    case Operation::ceiling:
    case Operation::truncate:
      node.integral = true;
      break;
    case Operation::round:
      node.integral =
          node.arguments.size() == 1 || std::get<double>(*node.arguments[1]->constant) <= 0;
      break;
    default:
      node.nullable = true;
      return;
  }
  node.nullable = any_nullable(node);
}

void describe_whole(RowNode& node, Interval interval) {
  node.kind = ValueKind::number;
  node.whole = node.integral = true;
  node.interval = interval;
  node.nullable = true;
}

void describe_extract(RowNode& node) {
  struct Field {
    std::string_view name;
    int from;
    int to;
  };
  constexpr Field kFields[] = {{"quarter", 1, 4}, {"month", 1, 12}, {"day", 1, 31},
                               {"dow", 0, 6},     {"doy", 1, 366},  {"second", 0, 59},
                               {"hour", 0, 23},   {"minute", 0, 59}};
  describe_whole(node, {});
  const std::string& name = std::get<std::string>(*node.arguments[0]->constant);
  for (const Field& field : kFields) {
    if (field.name != name) continue;
    node.interval = {static_cast<double>(field.from), static_cast<double>(field.to)};
    node.values = small_list(field.from, field.to);
  }
}

void describe_truth(RowNode& node) {
  node.kind = ValueKind::boolean;
  node.nullable = node.operation != Operation::is_null && any_nullable(node);
  node.values = truth_values();
}

}  // namespace

const List& truth_values() {
  static const List kList =
      std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"true", "false"});
  return kList;
}

std::string constant_text(const RowNode& node) {
  return node.exact ? std::to_string(*node.exact) : key_text(*node.constant).value();
}

void describe(RowNode& node) {
  const Operation operation = node.operation;
  if (operation >= Operation::logical_and && operation <= Operation::like) {
    describe_truth(node);
    return;
  }
  if (operation == Operation::sign) {
    describe_whole(node, {-1, 1});
    node.nullable = any_nullable(node);
    node.values = small_list(-1, 1);
    return;
  }
  if (operation >= Operation::add && operation <= Operation::power) {
    describe_number(node);
    return;
  }
  switch (operation) {
    case Operation::greatest:
    case Operation::least:
      describe_extreme(node);
      return;
    case Operation::coalesce:
    case Operation::null_if:
    case Operation::choose:
    case Operation::choose_by:
      describe_outcome(node);
      return;
    case Operation::length:
      describe_whole(node, {0, Interval{}.upper});
      node.nullable = any_nullable(node);
      return;
    case Operation::extract:
      describe_extract(node);
      return;
    case Operation::days_between:
      describe_whole(node, {});
      return;
    case Operation::truncate_date:
      node.kind = node.arguments[1]->kind;
      node.nullable = true;
      return;
    case Operation::starts_with:
    case Operation::ends_with:
    case Operation::contains:
    case Operation::matches:
      describe_truth(node);
      return;
    default:
      node.kind = ValueKind::text;
      node.nullable = any_nullable(node);
  }
}

}  // namespace shoal::plan
