// Exact conversion of real parameters into integer units of a power of ten, rounded to a named
// side. All of it is integer arithmetic on the exact values: no rounding error, no tolerance.
#pragma once

#include <cstdint>

namespace shoal::numeric {

// The decimal as it was written: 0.1 means one tenth, not the double nearest to it. The shortest
// decimal that reads back as the same double is taken. Times 10^decimals, rounded up or down. Each
// throws invalid_argument if the value is negative or not finite, or the result is above 9 * 10^18.
std::int64_t decimal_units_up(double value, int decimals);
std::int64_t decimal_units_down(double value, int decimals);

// The smallest double that is at least the value both as it is and as the decimal above: for
// amounts that were computed and rounded up, and are then read as decimals.
double decimal_at_least(double value);

// numerator / denominator * 10^decimals, rounded up, of the exact binary values.
std::int64_t ratio_units_up(double numerator, double denominator, int decimals);

// numerator^2 / (2 * denominator^2) * 10^decimals, rounded up, of the exact binary values.
std::int64_t half_square_ratio_units_up(double numerator, double denominator, int decimals);

// The double whose shortest decimal is units / 10^decimals, for amounts of up to 15 digits: what a
// person should read, and what decimal_units_up and decimal_units_down turn into the same units
// again.
double decimal_from_units(std::int64_t units, int decimals);

// units / 10^decimals as a double, rounded up or down.
double from_units_up(std::int64_t units, int decimals);
double from_units_down(std::int64_t units, int decimals);

}  // namespace shoal::numeric
