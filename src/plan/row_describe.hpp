// What follows from an operation and its arguments: kind, interval, list of values, whether it can
// be NULL.
#pragma once

#include "plan/row_node.hpp"

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace shoal::plan {

using List = std::shared_ptr<const std::vector<std::string>>;

// Texts in the order of their first coming.
class Distinct {
 public:
  void add(const std::string& text) {
    if (seen_.insert(text).second) texts_.push_back(text);
  }
  // None if there are none, or too many.
  List list() const {
    if (texts_.empty() || texts_.size() > kMaxListedValues) return nullptr;
    return std::make_shared<const std::vector<std::string>>(texts_);
  }

 private:
  std::unordered_set<std::string> seen_;
  std::vector<std::string> texts_;
};

// true and false.
const List& truth_values();

// A constant that is not NULL, in the notation of a key.
std::string constant_text(const RowNode& node);

// Completes a node that has its operation and arguments; not for constant, input and convert.
void describe(RowNode& node);

}  // namespace shoal::plan
