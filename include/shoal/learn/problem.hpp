// What is learnt, apart from how: a loss, a regulariser and a set, and the public facts about the
// rows that every method's guarantee is made of. All of it is known before training.
//
// Everything is in SUM form: J(w) = sum_i loss(<x_i, w>, y_i) + regulariser(w), w in the set.
#pragma once

#include <shoal/learn/loss.hpp>
#include <shoal/learn/regulariser.hpp>
#include <shoal/learn/set.hpp>

#include <cstddef>

namespace shoal::learn {

struct Problem {
  Loss loss = Logistic{};
  Regulariser regulariser = {};  // what the method needs on top of it, the method adds
  ConvexSet set = WholeSpace{};
  std::size_t dimension = 0;  // of a row; softmax has as many weights for each class
  double row_norm = 0;        // public bound of every row's Euclidean norm
  double label_bound = 1;     // public bound of |label|
  bool operator==(const Problem&) const = default;
};

// Throws invalid_argument for parts out of range.
void validate(const Problem& problem);

// How many weights a model has.
std::size_t weight_count(const Problem& problem);

// A bound of a row's gradient for weights in the set, rounded up: slope times row norm, where the
// slope of the squared loss is bounded by that of the set. Throws invalid_argument if there is
// none.
double gradient_bound(const Problem& problem);

}  // namespace shoal::learn
