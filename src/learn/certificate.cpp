#include "learn/certificate.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>

#include <cmath>
#include <limits>

namespace shoal::learn {
namespace {

using numeric::add_up;
using numeric::divide_up;
using numeric::multiply_up;

static_assert(std::numeric_limits<long double>::digits >= 64,
              "certificates count on a long double of at least 64 bits");
constexpr double kLongUnit = 0x1p-64;
constexpr double kUnit = 0x1p-53;

// k u / (1 - k u): the relative error of k operations of unit roundoff u, rounded up.
double gamma(double k, double unit) {
  const double product = multiply_up(k, unit);
  SHOAL_CHECK(product < 0.5);
  return divide_up(product, numeric::subtract_down(1, product));
}

}  // namespace

double norm_up(std::span<const double> v) {
  double largest = 0;
  for (const double x : v) {
    if (std::isnan(x)) return std::numeric_limits<double>::infinity();
    largest = std::fmax(largest, std::fabs(x));
  }
  if (largest == 0 || !std::isfinite(largest)) return largest;
  double sum = 0;
  for (const double x : v) {
    const double ratio = divide_up(std::fabs(x), largest);
    sum = add_up(sum, multiply_up(ratio, ratio));
  }
  return multiply_up(largest, numeric::sqrt_up(sum));
}

double row_sum_error(const RowSource& rows, const Loss& loss, double weight_norm,
                     Precision precision) {
  const double unit = precision == Precision::plain ? kUnit : kLongUnit;
  const LossBounds facts = bounds(loss);
  const double n = static_cast<double>(rows.row_count());
  const double norm = rows.row_norm();
  const double z_bound = multiply_up(norm, weight_norm);
  const double z_error =
      multiply_up(gamma(static_cast<double>(rows.widest_row()) + 1, unit), z_bound);
  const double slope_off =
      add_up(multiply_up(facts.curvature, z_error),
             slope_error(loss, add_up(z_bound, z_error), rows.label_bound(), unit));
  // On a bounded set the squared loss has a slope after all: that of the prediction at hand.
  const double slope = std::isfinite(facts.slope)
                           ? facts.slope
                           : add_up(add_up(z_bound, z_error), rows.label_bound());
  const double blocks = static_cast<double>(rows.block_count()) + 64;
  const double adding = add_up(gamma(kSumDepth + 1, unit), gamma(blocks, kLongUnit));
  const double per_row = add_up(slope_off, multiply_up(add_up(slope, slope_off), adding));
  return multiply_up(multiply_up(n, norm), per_row);
}

double CertifiedGradient::norm_bound() const { return add_up(norm_up(gradient), error); }

CertifiedGradient certified_gradient(const RowPasses& passes, const Objective& objective,
                                     std::span<const double> weights, Precision precision,
                                     bool with_value) {
  const PassSums sums = precision == Precision::plain ? passes.gradient(weights, with_value)
                                                      : passes.long_gradient(weights);
  const double l2 = objective.regulariser.l2;
  const double weight_norm = norm_up(weights);
  CertifiedGradient result;
  result.gradient.resize(weights.size());
  std::vector<double> sizes(weights.size());
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const long double linear = objective.linear.empty() ? 0 : objective.linear[j];
    const long double pull = static_cast<long double>(l2) * static_cast<long double>(weights[j]);
    result.gradient[j] = static_cast<double>(sums.gradient[j] + pull + linear);
    // Three operations in long double on numbers of this size, and the rounding to double.
    sizes[j] =
        static_cast<double>(std::fabs(sums.gradient[j]) + std::fabs(pull) + std::fabs(linear)) *
        (1 + 0x1p-50);
  }
  result.error = row_sum_error(passes.rows(), passes.loss(), weight_norm, precision);
  result.error = add_up(result.error, multiply_up(norm_up(sizes), gamma(8, kLongUnit)));
  result.error = add_up(result.error, multiply_up(norm_up(result.gradient), 0x1p-52));
  if (with_value) {
    double inner = 0;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      inner += l2 / 2 * weights[j] * weights[j];
      if (!objective.linear.empty()) inner += objective.linear[j] * weights[j];
    }
    result.value = static_cast<double>(sums.value) + inner;
  }
  return result;
}

}  // namespace shoal::learn
