// Exact sums on a grid beside a clamped sum in doubles.
#pragma once

namespace shoal::bench {

// Prints lines as compare_noise.cpp says.
void compare_sums(int rounds);

}  // namespace shoal::bench
