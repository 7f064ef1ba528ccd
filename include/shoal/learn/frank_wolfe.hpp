// Private Frank-Wolfe (Talwar, Thakurta and Zhang 2015): weights of bounded l1 norm, moved at each
// step towards a corner of the ball that the exponential mechanism chooses by the gradient. Noise
// grows with the logarithm of the number of features alone. Proof: src/learn/frank_wolfe.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/privacy/event.hpp>

namespace shoal::learn {

struct FrankWolfe {
  Neighbors neighbors = Neighbors::add_remove;
  double epsilon = 0;
  double delta = 0;
  int steps = 0;
  double feature_bound = 0;  // every feature is clamped to it: the l_infinity norm of a row
  double slope_bound = 0;    // every slope is clamped to it
  int feature_exponent = 0;  // features are cut to multiples of 2^feature_exponent
  int slope_exponent = 0;    // slopes to multiples of 2^slope_exponent
  double scale = 0;          // of each choice, in steps of the product
  double l2 = 0;             // always 0: the ball regularises
  bool operator==(const FrankWolfe&) const = default;
};

inline constexpr int kMostFrankWolfeSteps = 100'000;

struct FrankWolfeOptions {
  int steps = 50;
  double feature_bound = 1;
};

// The problem's set must be an L1Ball. Throws invalid_argument or unsupported, naming condition and
// remedy.
FrankWolfe calibrate_frank_wolfe(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                                 Delta delta, const FrankWolfeOptions& options = {});

void validate(const FrankWolfe& method, const Problem& problem);

// The bounded range of one choice, rounded up.
double step_epsilon_up(const FrankWolfe& method);

// zcdp{rho}, or pure{epsilon} where that says more. Never `repeat` of `exponential`, which is for
// scores fixed in advance: here each choice decides on the next.
privacy::Event privacy_event(const FrankWolfe& method, const Problem& problem);

}  // namespace shoal::learn
