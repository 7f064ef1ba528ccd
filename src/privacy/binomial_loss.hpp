// Sums over a privacy loss that is linear in a binomial count: what k-fold randomized response and
// k-fold generalised randomized response have in common.
//
// Under P the count M is binomial with n trials and the given odds; the loss falls by s with every
// success. With r = e^-s and weights w_j proportional to P(M = j), the hockey-stick divergence
// whose threshold lies x >= 0 below the loss at j = m is A_m + (1 - e^-x) B_m, where
//   A_m = sum_{i <= m} w_i (1 - r^(m - i)),    B_m = sum_{i <= m} w_i r^(m - i),
// and one walk upwards finds both for every m: A_m = A_{m-1} + (1 - r) B_{m-1} and
// B_m = w_m + r B_{m-1}. All terms are positive, so no digits are lost however small the result.
// The walk leaves out counts that cannot matter, below and above, and bounds them by geometric
// series. Proof: composition.proof.md.
#pragma once

#include "privacy/positive_range.hpp"

#include <cstdint>

namespace shoal::privacy {

struct BinomialLoss {
  std::int64_t trials = 0;
  PositiveRange odds;   // of a success
  PositiveRange ratio;  // r = e^-s
  PositiveRange gap;    // 1 - r
};

// The walk: values are relative to the weight at its start, times 2^-exponent.
class BinomialLossWalk {
 public:
  // Begins so low that what lies below is less than e^-drop of the chance of min(index, mode).
  BinomialLossWalk(const BinomialLoss& law, std::int64_t index, double drop);

  // At the start of the walk, below which nothing is resolved, or at the last count.
  std::int64_t at() const { return at_; }
  bool ended() const { return at_ == law_.trials; }
  void step();

  // Whether everything above is less than 2^-80 of the total so far.
  bool rest_is_small() const;
  // The total weight, with the bound of what lies above.
  PositiveRange total_with_rest() const;
  // The bound of what lies above. Infinite before the mode.
  PositiveRange rest() const;

  const PositiveRange& above() const { return above_; }        // A
  const PositiveRange& weighted() const { return weighted_; }  // B
  std::int64_t exponent() const { return exponent_; }

 private:
  void rescale();

  BinomialLoss law_;
  std::int64_t at_ = 0;
  std::int64_t exponent_ = 0;
  PositiveRange weight_;
  PositiveRange above_;
  PositiveRange weighted_;
  PositiveRange total_;
};

// The divergence with the threshold at `index`, of which the loss exceeds it by x with
// 1 - e^-x = excess. 0 <= index <= trials.
ScaledRange binomial_loss_divergence(const BinomialLoss& law, std::int64_t index,
                                     const PositiveRange& excess);

// A loss: x below the one at `index`, with 1 - e^-x = fraction.
struct LossPlace {
  std::int64_t index = 0;
  double fraction = 0;
};

// Two losses with the one between them where the divergence takes a value: it is at most the target
// at `above` and at least the target at `below`. Each is good only within its own step: where
// x exceeds s, the loss at the next index is the bound. If the target is not exceeded up to the
// last index, places at that index.
struct LossInverse {
  LossPlace above;
  LossPlace below;
};

// `last` is the largest index of interest. Requires a target in (0, 1).
LossInverse binomial_loss_inverse(const BinomialLoss& law, std::int64_t last,
                                  const ScaledRange& target);

}  // namespace shoal::privacy
