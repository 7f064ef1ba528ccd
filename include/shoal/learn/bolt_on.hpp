// Bolt-on stochastic gradient descent (Wu et al. 2017): ordinary descent over one random order of
// the rows, and noise on the weights for how far one exchanged row can move them, which is
// 2 L / l2 whatever the size of a batch. For replace_one alone. Proof: src/learn/bolt_on.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/learn/output_noise.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/privacy/event.hpp>

#include <cstdint>

namespace shoal::learn {

struct BoltOnDescent {
  Neighbors neighbors = Neighbors::replace_one;
  double epsilon = 0;
  double delta = 0;
  std::int64_t passes = 0;
  std::int64_t batch = 0;
  double l2 = 0;     // the whole l2 weight, sum form
  double error = 0;  // what floating point may do to the weights, in norm
  OutputNoise output = {};
  bool operator==(const BoltOnDescent&) const = default;
};

struct BoltOnOptions {
  double l2 = 0;  // needed
  std::int64_t passes = 10;
  std::int64_t batch = 32;
};

// How far the computed weights move when a row is exchanged, in norm, rounded up:
// 2 L / l2 and twice the error of floating point. L is that of the loss without the regulariser.
double bolt_on_distance_up(const BoltOnDescent& method, const Problem& problem);

// Throws unsupported for add_remove, losses that are not smooth functions of one prediction, an l1
// part, and sets other than ball, box and the whole space; invalid_argument for numbers out of
// range. A delta of 0 asks for pure differential privacy.
BoltOnDescent calibrate_bolt_on(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                                Delta delta, const BoltOnOptions& options);

// Throws invalid_argument unless the parameters give what the spec states.
void validate(const BoltOnDescent& method, const Problem& problem);

// pure{epsilon} or epsilon_delta{epsilon, delta}. Throws as validate does.
privacy::Event privacy_event(const BoltOnDescent& method, const Problem& problem);

}  // namespace shoal::learn
