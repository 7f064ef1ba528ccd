// Sums and bounds of probabilities that are kept as logarithms. -infinity is the logarithm of 0.
#pragma once

#include <cmath>
#include <utility>

namespace shoal::privacy {

inline double log_of(double value) { return value > 0 ? std::log(value) : -HUGE_VAL; }

// ln(e^a + e^b).
inline double log_sum(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -HUGE_VAL ? a : a + std::log1p(std::exp(b - a));
}

// ln(c^c / (1 + c)^(1 + c)): the largest value of the hockey stick (1 - e^{-y})_+ against e^{cy},
// so what a moment of order c is multiplied by to bound delta.
inline double log_stick(double c) { return c * std::log(c) - (1 + c) * std::log1p(c); }

}  // namespace shoal::privacy
