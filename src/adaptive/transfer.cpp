// Transfer theorems for a mechanism of any kind, given its accuracy on the sample and its privacy.
#include <shoal/adaptive/generalization.hpp>
#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::adaptive {
namespace {

using namespace numeric;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check(double accuracy, double miss, double epsilon, double delta) {
  if (accuracy >= 0 && miss >= 0 && epsilon >= 0 && delta >= 0 && std::isfinite(epsilon)) return;
  throw Error(ErrorCode::invalid_argument,
              "accuracy, the chance to miss it, epsilon and delta must not be negative");
}

// accuracy + gap + c + d with miss / c + weight / d <= beta: c and d in proportion to the roots of
// what they are paid with.
double with_slacks(double accuracy, double gap, double miss, double weight, double beta) {
  const double roots = add_up(sqrt_up(miss), sqrt_up(weight));
  const double slacks = divide_up(multiply_up(roots, roots), beta);
  // c = sqrt(miss) * roots / beta must be below 1 for the theorem to hold.
  if (divide_up(multiply_up(sqrt_up(miss), roots), beta) >= 1) return kInfinity;
  return add_up(add_up(accuracy, gap), slacks);
}

}  // namespace

double tanh_transfer(double accuracy, double miss, double epsilon, double delta,
                     Confidence confidence) {
  check(accuracy, miss, epsilon, delta);
  const double beta = subtract_down(1, confidence.value());
  const double weight = divide_up(2 * delta, add_down(1, exp_down(epsilon)));
  return with_slacks(accuracy, tanh_up(epsilon / 2), miss, weight, beta);
}

double jlnrss_transfer(double accuracy, double miss, double epsilon, double delta,
                       Confidence confidence) {
  check(accuracy, miss, epsilon, delta);
  const double beta = subtract_down(1, confidence.value());
  // The theorem has 2 d, paid with delta / d: the same as d, paid with 2 delta / d.
  return with_slacks(accuracy, expm1_up(epsilon), miss, 2 * delta, beta);
}

double expectation_gap(double epsilon, double delta) {
  check(0, 0, epsilon, delta);
  return std::min(
      1.0, add_up(tanh_up(epsilon / 2), divide_up(2 * delta, add_down(exp_down(epsilon), 1))));
}

}  // namespace shoal::adaptive
