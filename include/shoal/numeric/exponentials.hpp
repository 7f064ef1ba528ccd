// Exponentials of many numbers at once, for tables of probabilities. No guarantee rests on them.
#pragma once

#include <span>

namespace shoal::numeric {

// In place of each value, e^(value - largest), to within 2^-49 of itself: values must not be above
// `largest`, which must be finite. What is 700 or more below it, or minus infinity, becomes 0. The
// same numbers with and without AVX2.
void exponentials(std::span<double> values, double largest);

}  // namespace shoal::numeric
