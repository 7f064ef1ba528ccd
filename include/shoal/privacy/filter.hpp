// The filter: whether the next spend still fits into the total, for questions chosen after seeing
// the answers to earlier ones.
//
// A total fits if the sum of the pure charges is within epsilon, or if the sum of the zCDP charges
// converts to at most (epsilon, delta). That "or" is sound under fully adaptive choice:
// filter.proof.md.
#pragma once

#include <shoal/base/quantity.hpp>
#include <shoal/privacy/charge.hpp>

namespace shoal::privacy {

struct Budget {
  Epsilon epsilon;
  Delta delta;
  bool operator==(const Budget&) const = default;
};

bool fits(const Budget& budget, const Charge& total);

// The smallest epsilon that the filter can state for this total at this delta, rounded up.
double epsilon_spent_up(const Charge& total, Delta delta);

// The largest epsilon of one more pure question that fits after this total, rounded down. 0 if none
// does.
double epsilon_left_down(const Budget& budget, const Charge& total);

}  // namespace shoal::privacy
