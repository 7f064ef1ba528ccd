// The upper tail of a fair binomial law at one place, as the start of a recurrence over places and
// trials.
#pragma once

#include "privacy/positive_range.hpp"

#include <cstdint>

namespace shoal::privacy {

// X ~ Bin(trials, 1/2): P(X = from) and P(X >= from), and how they change with both.
class HalfBinomialTail {
 public:
  // By summing the law from there in both directions, out to what cannot matter. Requires
  // trials / 2 <= from <= trials, trials >= 1, and a chance above 2^-8000.
  HalfBinomialTail(std::int64_t trials, std::int64_t from);

  std::int64_t trials() const { return trials_; }
  std::int64_t from() const { return from_; }
  const PositiveRange& chance() const { return chance_; }  // P(X = from)
  const PositiveRange& tail() const { return tail_; }      // P(X >= from)

  // One trial less, and `from` one less or the same; it must not exceed the trials then.
  void drop_trial_and_place();
  void drop_trial();

 private:
  std::int64_t trials_;
  std::int64_t from_;
  PositiveRange chance_;
  PositiveRange tail_;
};

}  // namespace shoal::privacy
