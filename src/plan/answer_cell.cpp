#include "plan/answer_cell.hpp"

#include "plan/row_evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace shoal::plan {
namespace {

using Cells = std::vector<AnswerCell>;

bool is_number(const AnswerCell& cell) { return std::holds_alternative<double>(cell.value); }
bool is_truth(const AnswerCell& cell, bool wanted) {
  const bool* truth = std::get_if<bool>(&cell.value);
  return truth != nullptr && *truth == wanted;
}

// The true value is missing for sure, or there for sure.
bool surely_null(const AnswerCell& cell) { return is_null(cell.value) && cell.certain; }
bool surely_there(const AnswerCell& cell) {
  if (is_null(cell.value)) return false;
  return is_number(cell) ? !cell.interval.is_everything() : cell.certain;
}

bool is_known(const AnswerCell& cell) {
  if (!is_number(cell)) return cell.certain;
  return cell.interval.lower == cell.interval.upper;
}

bool all_known(const Cells& cells) { return std::all_of(cells.begin(), cells.end(), is_known); }

AnswerCell truth_cell(bool value, bool certain) { return {value, {}, certain}; }

// Of a value that depends on nothing but the arguments' values.
AnswerCell plain(Value value, bool certain) {
  AnswerCell cell{std::move(value), {}, certain};
  if (certain && is_number(cell)) cell.interval = Interval::point(std::get<double>(cell.value));
  return cell;
}

std::vector<Value> values_of(const Cells& cells) {
  std::vector<Value> values;
  for (const AnswerCell& cell : cells) values.push_back(cell.value);
  return values;
}

// NULL comes out of NULL; for sure if one of them is NULL for sure.
AnswerCell null_result(const Cells& cells) {
  return {{}, {}, std::any_of(cells.begin(), cells.end(), surely_null) || all_known(cells)};
}

bool any_null(const Cells& cells) {
  return std::any_of(cells.begin(), cells.end(),
                     [](const AnswerCell& cell) { return is_null(cell.value); });
}

// Whether some number in the interval is out of reach of the node's whole numbers, and so NULL.
bool may_not_fit(const RowNode& node, const Interval& interval) {
  if (node.operation != Operation::convert || !node.whole) return false;
  return interval.lower < -kMaxWhole || interval.upper > kMaxWhole;
}

AnswerCell number_result(const RowNode& node, const Cells& cells) {
  const std::vector<Value> values = values_of(cells);
  AnswerCell result{evaluate(node, values), {}, true};
  if (is_null(result.value)) return null_result(cells);
  std::vector<Interval> intervals;
  for (const AnswerCell& cell : cells) intervals.push_back(cell.interval);
  const Interval enclosed = enclose(node, intervals);
  const bool missing = std::any_of(cells.begin(), cells.end(),
                                   [](const AnswerCell& cell) { return !surely_there(cell); });
  const bool keeps_ends = node.operation == Operation::greatest ||
                          node.operation == Operation::least || node.operation == Operation::sign;
  // An end out of reach may be an overflow, which is NULL.
  if (missing || may_not_fit(node, enclosed) || (!keeps_ends && !enclosed.is_finite()))
    return result;
  result.interval = hull(enclosed, Interval::point(std::get<double>(result.value)));
  return result;
}

AnswerCell comparison(Operation operation, const AnswerCell& a, const AnswerCell& b) {
  if (is_null(a.value) || is_null(b.value)) return null_result({a, b});
  const bool value = holds(operation, compare(a.value, b.value));
  if (!is_number(a)) return truth_cell(value, a.certain && b.certain);
  bool certain = surely_there(a) && surely_there(b);
  const auto agrees = [&](bool possible, int order) {
    return !possible || holds(operation, order) == value;
  };
  certain = certain && agrees(a.interval.lower < b.interval.upper, -1) &&
            agrees(a.interval.upper > b.interval.lower, 1) &&
            agrees(a.interval.lower <= b.interval.upper && b.interval.lower <= a.interval.upper, 0);
  return truth_cell(value, certain);
}

AnswerCell negated_if(bool negated, AnswerCell cell) {
  if (const bool* truth = std::get_if<bool>(&cell.value); truth != nullptr && negated) {
    cell.value = !*truth;
  }
  return cell;
}

AnswerCell logical(Operation operation, const Cells& cells) {
  const bool decisive = operation == Operation::logical_or;
  RowNode node;
  node.operation = operation;
  const bool decided = std::any_of(cells.begin(), cells.end(), [decisive](const AnswerCell& cell) {
    return is_truth(cell, decisive) && cell.certain;
  });
  const bool certain = decided || std::all_of(cells.begin(), cells.end(),
                                              [](const AnswerCell& cell) { return cell.certain; });
  return {evaluate(node, values_of(cells)), {}, certain};
}

AnswerCell is_null_cell(const RowNode& node, const AnswerCell& cell) {
  const bool missing = is_null(cell.value);
  return truth_cell(missing != node.negated, missing ? cell.certain : surely_there(cell));
}

AnswerCell in_list(const RowNode& node, const Cells& cells) {
  Cells equal;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    equal.push_back(comparison(Operation::equal, cells[0], cells[i]));
  }
  return negated_if(node.negated, logical(Operation::logical_or, equal));
}

// One of several, of which more than one may be the true one.
class Choice {
 public:
  // A possible outcome; the first that is chosen gives the value.
  void add(const AnswerCell& cell, bool chosen) {
    if (chosen && !chosen_) {
      chosen_ = true;
      result_.value = cell.value;
    }
    ++possible_;
    only_ = cell;
    missing_ = missing_ || !surely_there(cell);
    interval_ = possible_ == 1 ? cell.interval : hull(interval_, cell.interval);
  }

  AnswerCell result() {
    if (possible_ == 1) return only_;
    result_.certain = false;
    if (!missing_ && is_number(result_)) {
      result_.interval = interval_;
    }
    return result_;
  }

 private:
  AnswerCell result_;
  AnswerCell only_;
  Interval interval_;
  std::size_t possible_ = 0;
  bool chosen_ = false;
  bool missing_ = false;
};

AnswerCell chosen(const RowNode& node, const Cells& cells) {
  const bool by_value = node.operation == Operation::choose_by;
  Choice choice;
  std::size_t at = by_value ? 1 : 0;
  for (; at + 1 < cells.size(); at += 2) {
    const AnswerCell test =
        by_value ? comparison(Operation::equal, cells[0], cells[at]) : cells[at];
    const bool holds_here = is_truth(test, true);
    if (holds_here || !test.certain) choice.add(cells[at + 1], holds_here);
    if (holds_here && test.certain) return choice.result();
  }
  choice.add(cells[at], true);
  return choice.result();
}

AnswerCell coalesced(const Cells& cells) {
  Choice choice;
  for (const AnswerCell& cell : cells) {
    if (surely_null(cell)) continue;
    choice.add(cell, !is_null(cell.value));
    if (surely_there(cell)) return choice.result();
  }
  choice.add(AnswerCell{}, true);
  return choice.result();
}

AnswerCell null_if(const Cells& cells) {
  const AnswerCell equal = comparison(Operation::equal, cells[0], cells[1]);
  if (is_truth(equal, true)) return {{}, {}, equal.certain};
  if (equal.certain) return cells[0];
  return {cells[0].value, {}, false};
}

AnswerCell combined(const RowNode& node, const Cells& cells) {
  switch (node.operation) {
    case Operation::logical_and:
    case Operation::logical_or:
      return logical(node.operation, cells);
    case Operation::logical_not:
      return negated_if(true, cells[0]);
    case Operation::is_null:
      return is_null_cell(node, cells[0]);
    case Operation::equal:
    case Operation::not_equal:
    case Operation::less:
    case Operation::less_equal:
    case Operation::greater:
    case Operation::greater_equal:
      return comparison(node.operation, cells[0], cells[1]);
    case Operation::between:
      return negated_if(
          node.negated,
          logical(Operation::logical_and, {comparison(Operation::greater_equal, cells[0], cells[1]),
                                           comparison(Operation::less_equal, cells[0], cells[2])}));
    case Operation::in_list:
      return in_list(node, cells);
    case Operation::choose:
    case Operation::choose_by:
      return chosen(node, cells);
    case Operation::coalesce:
      return coalesced(cells);
    case Operation::null_if:
      return null_if(cells);
    default:
      break;
  }
  if (any_null(cells)) return null_result(cells);
  const bool numbers =
      node.kind == ValueKind::number && std::all_of(cells.begin(), cells.end(), is_number);
  if (numbers) return number_result(node, cells);
  return plain(evaluate(node, values_of(cells)), all_known(cells));
}

}  // namespace

AnswerCell evaluate_cell(const RowNode& node, std::span<const AnswerCell> inputs) {
  if (node.constant) return plain(*node.constant, true);
  if (node.operation == Operation::input) {
    return node.input < inputs.size() ? inputs[node.input] : AnswerCell{};
  }
  Cells cells;
  cells.reserve(node.arguments.size());
  for (const RowNodePointer& argument : node.arguments) {
    cells.push_back(evaluate_cell(*argument, inputs));
  }
  return combined(node, cells);
}

}  // namespace shoal::plan
