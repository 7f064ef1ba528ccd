// Mills' ratio of the normal distribution, M(x) = Phi(-x) / phi(x): tails without their exponential
// factor, so that they can be compared where they themselves underflow or agree in all digits.
#pragma once

#include <shoal/numeric/enclosure.hpp>

namespace shoal::numeric {

// The precision of the enclosures below, which is the one that their constants have.
inline constexpr int kMillsPrecision = 320;

// M(x), for x >= 0, within 2^-200 of it. Throws invalid_argument for any other precision.
Enclosure mills_ratio(const Enclosure& x);

// 1 / sqrt(2 pi), in the same precision.
const Enclosure& root_of_two_pi_inverse();

// M(x) for x >= 0, and the logarithm of the chance of [centre - half_width, centre + half_width]
// under the standard normal, for centre >= 2 half_width > 0: ordinary doubles, approximations with
// about 14 digits, in the far tails too. No guarantee rests on them.
double mills_ratio(double x);
double log_normal_cell(double centre, double half_width);

}  // namespace shoal::numeric
