#pragma once

#include <vector>

namespace shoal::learn {

// The level above which the values add up to `total` > 0, up to rounding.
double water_level(std::vector<double> values, double total);

}  // namespace shoal::learn
