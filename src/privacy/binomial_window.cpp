#include "privacy/binomial_window.hpp"

#include <algorithm>
#include <cmath>

namespace shoal::privacy {

double log_binomial_near(std::int64_t trials, double log_odds, double count) {
  const auto n = static_cast<double>(trials);
  const double x = count / n;
  const double first = x > 0 ? x * (std::log(x) - log_odds) : 0;
  const double second = x < 1 ? (1 - x) * std::log1p(-x) : 0;
  const double normaliser =
      log_odds > 0 ? log_odds + std::log1p(std::exp(-log_odds)) : std::log1p(std::exp(log_odds));
  return -n * (first + second + normaliser);
}

std::int64_t binomial_mode_near(std::int64_t trials, double log_odds) {
  const double mode = std::floor(static_cast<double>(trials + 1) / (1 + std::exp(-log_odds)));
  return static_cast<std::int64_t>(std::clamp(mode, 0.0, static_cast<double>(trials)));
}

std::int64_t binomial_low_end(std::int64_t trials, double log_odds, std::int64_t reference,
                              double drop) {
  const auto chance = [&](std::int64_t count) {
    return log_binomial_near(trials, log_odds, static_cast<double>(count));
  };
  const double wanted = chance(reference) - drop;
  if (reference <= 0 || chance(0) >= wanted) return 0;
  std::int64_t low = 0;
  std::int64_t high = reference;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (chance(middle) < wanted ? low : high) = middle;
  }
  return low;
}

std::int64_t binomial_high_end(std::int64_t trials, double log_odds, std::int64_t reference,
                               double drop) {
  const std::int64_t mirrored =
      binomial_low_end(trials, -log_odds, trials - std::min(reference, trials), drop);
  return trials - mirrored;
}

}  // namespace shoal::privacy
