// Confidence bounds for the mean chance of independent trials that need not have the same chance,
// from the number of successes. Argument: src/mechanism/frequency.proof.md.
#pragma once

#include <cstdint>

namespace shoal::mechanism {

// Each lies on the wrong side with probability at most `miss`. Requires 0 <= successes <= trials,
// trials > 0 and miss in (0, 1/4], which the caller checks.
double mean_chance_down(std::int64_t successes, std::int64_t trials, double miss);
double mean_chance_up(std::int64_t successes, std::int64_t trials, double miss);

// The lower bound for very many trials, by itself: for tests. Requires successes >= 2.
double normal_chance_down(std::int64_t successes, std::int64_t trials, double miss);

}  // namespace shoal::mechanism
