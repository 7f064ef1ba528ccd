#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/normal.hpp>

#include <boost/math/special_functions/erf.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace shoal::numeric {
namespace {

// sqrt(2) lies strictly above this double and strictly below the next.
constexpr double kRootOfTwoDown = 0x1.6a09e667f3bccp+0;

}  // namespace

double two_sided_normal_quantile_up(double tail) {
  if (!(tail > 0 && tail < 1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the tail probability is {}; it must be above 0 and below 1", tail));
  }
  // P(|N| > z) = erfc(z / sqrt 2). The library's inverse is only a guess; what is returned was
  // checked with a certified bound of erfc, which falls, at an argument that is at most y.
  double y = std::max(boost::math::erfc_inv(tail), 0.0);
  double step = std::max(y, 1e-3) * 0x1p-50;
  while (erfc_up(y) > tail) {
    y = add_up(y, step);
    step *= 2;
  }
  return multiply_up(y, step_up(kRootOfTwoDown));
}

}  // namespace shoal::numeric
