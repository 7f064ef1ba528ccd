#include "mechanism/exact_chance.hpp"

#include <shoal/base/error.hpp>

#include <cmath>

namespace shoal::mechanism {
namespace {

using numeric::BigInt;
using numeric::Enclosure;

struct Ratio {
  BigInt numerator;
  BigInt denominator;
};

Ratio exact_ratio(double value) {
  SHOAL_CHECK(std::isfinite(value) && value >= 0);
  constexpr int kMantissaBits = 53;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const BigInt mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, kMantissaBits));
  exponent -= kMantissaBits;
  if (exponent >= 0) return {mantissa << exponent, 1};
  return {mantissa, BigInt(1) << -exponent};
}

}  // namespace

random::RealAtPrecision exact_chance(double value) {
  return [ratio = exact_ratio(value)](int precision) {
    return numeric::enclose_ratio(ratio.numerator, ratio.denominator, precision);
  };
}

random::RealAtPrecision keep_chance(double epsilon, std::uint64_t others) {
  return [ratio = exact_ratio(epsilon), others](int precision) {
    const Enclosure one = numeric::enclose_dyadic(1, 0, precision);
    const Enclosure shrink =
        numeric::exp_minus(numeric::enclose_ratio(ratio.numerator, ratio.denominator, precision));
    return numeric::divide(one, numeric::add(one, numeric::multiply(shrink, BigInt(others))));
  };
}

}  // namespace shoal::mechanism
