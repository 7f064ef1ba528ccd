// Confidence bounds for an unknown chance from counts (Clopper and Pearson 1934). They hold for
// every chance and every number of trials, no approximation; for tests and audits, not for
// spending.
#pragma once

#include <cstdint>

namespace shoal::numeric {

// Each misses with probability at most `alpha`. Requires 0 <= successes <= trials, trials > 0,
// alpha in (0, 1); throws invalid_argument otherwise.
double chance_lower_bound(std::int64_t successes, std::int64_t trials, double alpha);
double chance_upper_bound(std::int64_t successes, std::int64_t trials, double alpha);

// P(chi-square with `degrees` degrees of freedom >= statistic). Requires degrees > 0 and statistic
// >= 0.
double chi_square_tail(double statistic, int degrees);

}  // namespace shoal::numeric
