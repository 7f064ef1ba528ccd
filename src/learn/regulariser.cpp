#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/regulariser.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {

void validate(const Regulariser& regulariser) {
  for (const double weight : {regulariser.l2, regulariser.l1}) {
    if (weight >= 0 && std::isfinite(weight)) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a regulariser has weight {}; weights are finite and not negative",
                            format_number(weight)));
  }
}

double value(const Regulariser& regulariser, std::span<const double> weights) {
  double squares = 0;
  double sizes = 0;
  for (const double w : weights) {
    squares += w * w;
    sizes += std::fabs(w);
  }
  return regulariser.l2 / 2 * squares + regulariser.l1 * sizes;
}

std::vector<double> proximal_point(const Regulariser& regulariser, std::span<const double> point,
                                   double step) {
  std::vector<double> w(point.begin(), point.end());
  const double shrink = 1 + step * regulariser.l2;
  const double threshold = step * regulariser.l1;
  for (double& x : w) x = std::copysign(std::max(std::fabs(x) - threshold, 0.0), x) / shrink;
  return w;
}

std::string_view name(const Regulariser& regulariser) {
  if (regulariser.l1 == 0) return regulariser.l2 == 0 ? "none" : "l2";
  return regulariser.l2 == 0 ? "l1" : "elastic_net";
}

}  // namespace shoal::learn
