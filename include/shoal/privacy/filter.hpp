// The filter: whether the next spend still fits into the total, for questions chosen after seeing
// the answers to earlier ones.
//
// A total fits if the sum of its deltas is within what the budget sets aside for failures, and
// either the sum of the pure charges is within epsilon, or the sum of the zCDP charges (of the
// Gaussian charges, if that is the budget's rule) converts to at most epsilon at the rest of
// delta. That is sound under fully adaptive choice because part and rule are fixed before the first
// question; choosing them on the way is not: filter.proof.md.
#pragma once

#include <shoal/base/quantity.hpp>
#include <shoal/privacy/charge.hpp>

#include <string_view>

namespace shoal::privacy {

// Which charges are converted when the pure sum is too large.
enum class Rule {
  zcdp,      // rho: every event has it
  gaussian,  // mu^2 / 2: exact for Gaussian noise, larger than rho for pure events, and neither
             // discrete Gaussian noise nor a zcdp event has it
};

// "zcdp", "gaussian".
std::string_view to_string(Rule rule);
// Throws invalid_argument for anything else.
Rule parse_rule(std::string_view text);

struct Budget {
  Epsilon epsilon;
  Delta delta;
  // Both are fixed before the first question. `failures` is the part of delta that events with a
  // delta of their own may use up; with none, they are refused.
  Delta failures = Delta(0);
  Rule rule = Rule::zcdp;
  bool operator==(const Budget&) const = default;
};

// The smaller epsilon and the smaller delta; what is fixed in advance is as `held` has it.
Budget smaller(const Budget& held, const Budget& asked);

bool fits(const Budget& budget, const Charge& total);

// The smallest epsilon for which this total would fit, other things being equal, rounded up;
// infinite if there is none. (What may be stated about all answers so far when somebody stops at a
// moment of her choosing: odometer.hpp.)
double epsilon_spent_up(const Budget& budget, const Charge& total);

// The largest epsilon of one more pure question that fits after this total, rounded down. 0 if none
// does.
double epsilon_left_down(const Budget& budget, const Charge& total);

}  // namespace shoal::privacy
