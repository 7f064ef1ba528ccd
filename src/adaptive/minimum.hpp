// The least value of a function with one valley, by golden section. The result is a point that was
// evaluated, so whatever the function does, its value there is what it is.
#pragma once

#include <cmath>

namespace shoal::adaptive {

struct Minimum {
  double at;
  double value;
};

template <class Function>
Minimum minimise(Function&& function, double low, double high, int steps) {
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double left = high - ratio * (high - low);
  double right = low + ratio * (high - low);
  double at_left = function(left);
  double at_right = function(right);
  for (int i = 0; i < steps; ++i) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - ratio * (high - low);
      at_left = function(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + ratio * (high - low);
      at_right = function(right);
    }
  }
  return at_left <= at_right ? Minimum{left, at_left} : Minimum{right, at_right};
}

}  // namespace shoal::adaptive
