// Where a binomial law has its mass, roughly: used only to choose where sums begin. Bounds of what
// is left out are computed by those who sum, so a poor choice costs tightness, never soundness.
#pragma once

#include <cstdint>

namespace shoal::privacy {

// ln P(M = count) to leading order, for `trials` >= 1.
double log_binomial_near(std::int64_t trials, double log_odds, double count);

std::int64_t binomial_mode_near(std::int64_t trials, double log_odds);

// A count at or below `reference` (at or above, for the second) whose chance is about e^-drop of
// that of the reference, which should lie on that side of the mode or at it.
std::int64_t binomial_low_end(std::int64_t trials, double log_odds, std::int64_t reference,
                              double drop);
std::int64_t binomial_high_end(std::int64_t trials, double log_odds, std::int64_t reference,
                               double drop);

}  // namespace shoal::privacy
