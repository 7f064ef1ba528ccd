#include "mechanism/mean_chance.hpp"

#include <shoal/numeric/binomial.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/normal.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::mechanism {
namespace {

using numeric::divide_down;
using numeric::divide_up;
using numeric::multiply_down;
using numeric::multiply_up;
using numeric::subtract_down;
using numeric::subtract_up;

// From here on the quantiles of the beta distribution take too long or do not converge.
constexpr std::int64_t kVeryMany = 10'000'000;

// Taken off for their rounding: an allowance, far above the precision of a double, but no proof.
constexpr double kQuantileSlack = 1e-12;

// As a double, rounded up or down: above 2^53 not every integer is one.
double count_up(std::int64_t count) { return numeric::step_up(static_cast<double>(count)); }
double count_down(std::int64_t count) {
  return std::max(0.0, numeric::step_down(static_cast<double>(count)));
}

// A lower bound of x ln(x / p) + (1 - x) ln((1 - x) / (1 - p)) for p = x - distance. Written with
// the distance, because the two terms all but cancel.
double divergence_down(double x, double distance) {
  const double y = subtract_up(1, x);
  const double gain = multiply_down(x, -numeric::log1p_up(-divide_down(distance, x)));
  const double loss = multiply_up(y, numeric::log1p_up(divide_up(distance, y)));
  return subtract_down(gain, loss);
}

}  // namespace

double normal_chance_down(std::int64_t successes, std::int64_t trials, double miss) {
  const double x = divide_down(count_down(successes - 1), count_up(trials));
  if (!(x > 0)) return 0;
  const double z = numeric::two_sided_normal_quantile_up(2 * miss);
  const double needed = divide_up(multiply_up(z, z), multiply_down(2, count_down(trials)));
  // The smallest distance found that is certainly enough; any that is enough is valid.
  double enough = x;
  double too_small = 0;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (enough + too_small);
    if (divergence_down(x, middle) >= needed) {
      enough = middle;
    } else {
      too_small = middle;
    }
  }
  return enough < x ? std::max(0.0, subtract_down(x, enough)) : 0.0;
}

double mean_chance_down(std::int64_t successes, std::int64_t trials, double miss) {
  if (successes == 0) return 0;
  if (successes == 1) return divide_down(miss, count_up(trials));
  if (trials > kVeryMany) return normal_chance_down(successes, trials, miss);
  return multiply_down(numeric::chance_lower_bound(successes, trials, miss), 1 - kQuantileSlack);
}

double mean_chance_up(std::int64_t successes, std::int64_t trials, double miss) {
  const std::int64_t failures = trials - successes;
  if (failures <= 1 || trials > kVeryMany) {
    return subtract_up(1, mean_chance_down(failures, trials, miss));
  }
  const double bound = numeric::chance_upper_bound(successes, trials, miss);
  return std::min(1.0, multiply_up(bound, 1 + kQuantileSlack));
}

}  // namespace shoal::mechanism
