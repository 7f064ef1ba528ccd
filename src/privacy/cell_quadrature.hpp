// Gauss-Legendre quadrature over the cells of a lattice, with a bound of its error, for integrands
// that are a normal density times exponentials. Private to the laws of the privacy loss.
#pragma once

#include <boost/math/quadrature/gauss.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace shoal::privacy {

// Calls visit(x, weight) for nodes between `from` and `to` so that sum weight * f(x) is the
// integral of every f of the form normal density times a sum of exponentials of slope at most
// `growth`, even if that sum cancels down to `relief` of its terms. Returns a bound of the relative
// error. The pieces are so short that on an ellipse around each, of parameter rho, the integrand
// grows by no more than e^4; the error of n nodes is then below 116 rho^(-2n) of the terms
// (loss_distribution.proof.md).
template <class Visit>
double integrate_cells(double from, double to, double growth, double relief, Visit visit) {
  if (!(to > from)) return 0;
  constexpr double kLongest = 0.5;
  const double far = std::max(std::abs(from), std::abs(to)) + growth;
  const auto pieces =
      static_cast<int>(std::clamp(std::ceil((to - from) * far / kLongest), 1.0, 1e6));
  const double length = (to - from) / pieces;
  const double rho = 8 / (length * far) - 2;
  const auto error_of = [&](int count) {
    return 464 * std::pow(rho, -2.0 * count) / std::min(relief, 1.0);
  };
  const auto run = [&](const auto& abscissa, const auto& weights) {
    for (int piece = 0; piece < pieces; ++piece) {
      const double middle = from + (piece + 0.5) * length;
      const double half = length / 2;
      for (std::size_t k = 0; k < abscissa.size(); ++k) {
        visit(middle + half * abscissa[k], half * weights[k]);
        if (abscissa[k] != 0) visit(middle - half * abscissa[k], half * weights[k]);
      }
    }
  };
  constexpr std::array<double, 2> kFour = {0.33998104358485626480, 0.86113631159405257522};
  constexpr std::array<double, 2> kFourWeights = {0.65214515486254614263, 0.34785484513745385737};
  constexpr double kEnough = 1e-15;
  if (error_of(4) <= kEnough) {
    run(kFour, kFourWeights);
    return error_of(4);
  }
  using Seven = boost::math::quadrature::gauss<double, 7>;
  if (error_of(7) <= kEnough) {
    run(Seven::abscissa(), Seven::weights());
    return error_of(7);
  }
  using Ten = boost::math::quadrature::gauss<double, 10>;
  run(Ten::abscissa(), Ten::weights());
  return error_of(10);
}

}  // namespace shoal::privacy
