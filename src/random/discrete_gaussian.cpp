#include "random/exact_coin.hpp"
#include "random/laplace_fraction.hpp"

#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/scale.hpp>

#include <boost/multiprecision/cpp_int.hpp>

namespace shoal::random {
namespace {

using BigInteger = boost::multiprecision::cpp_int;

BigInteger magnitude_of(Int128 value) { return static_cast<UInt128>(value < 0 ? -value : value); }

}  // namespace

// Canonne, Kamath and Steinke 2020, algorithm 3: discrete Laplace of integer scale t = floor(sigma)
// + 1, accepted with probability exp(-(|y| - sigma^2/t)^2 / (2 sigma^2)). For sigma = a / b the
// exponent is (|y| b^2 t - a^2)^2 / (2 a^2 b^2 t^2), a ratio of integers.
Int128 sample_discrete_gaussian(double sigma, BitSource& bits) {
  const DyadicScale exact = exact_scale(sigma, "sigma");
  const BigInteger a = exact.numerator;
  const BigInteger b = exact.denominator;
  const std::uint64_t t = exact.numerator / exact.denominator + 1;
  const BigInteger a_squared = a * a;
  const BigInteger b_squared_t = b * b * t;
  const BigInteger denominator = 2 * a_squared * b_squared_t * t;
  while (true) {
    const Int128 candidate = sample_laplace_fraction(t, 1, bits);
    const BigInteger distance = magnitude_of(candidate) * b_squared_t - a_squared;
    const BigInteger numerator = distance * distance;
    if (exact_bernoulli_exp_minus(numerator, denominator, bits)) return candidate;
  }
}

}  // namespace shoal::random
