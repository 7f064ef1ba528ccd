// Quantiles of the normal distribution, rounded to the safe side.
#pragma once

namespace shoal::numeric {

// A z >= 0 with P(|N(0, 1)| > z) <= tail: an upper bound of the exact quantile, above it by at most
// one part in 10^12 of it and 10^-13 (unless the tail is subnormal). Requires tail in (0, 1);
// throws invalid_argument otherwise.
double two_sided_normal_quantile_up(double tail);

}  // namespace shoal::numeric
