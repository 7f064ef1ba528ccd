// Evaluation of checked expressions over released values, with what is known of the truth behind
// each.
#pragma once

#include "plan/row_node.hpp"

#include <span>

namespace shoal::plan {

// A value and what is known of the true one. Of a number: it lies in the interval, and if that is
// the whole line it may also be missing. Of anything else, and of NULL: it is the same if
// `certain`.
struct AnswerCell {
  Value value = {};
  Interval interval = {};
  bool certain = true;
};

AnswerCell evaluate_cell(const RowNode& node, std::span<const AnswerCell> inputs);

}  // namespace shoal::plan
