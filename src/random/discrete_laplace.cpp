#include "random/exact_coin.hpp"
#include "random/laplace_fraction.hpp"

#include <shoal/base/error.hpp>
#include <shoal/random/discrete_laplace.hpp>
#include <shoal/random/scale.hpp>
#include <shoal/random/uniform.hpp>

#include <limits>

namespace shoal::random {
namespace {

// A number x >= 0 with P(x) proportional to exp(-x / t), by its digits to base t, which are
// independent: the low one by rejection from a uniform, the high one by counting coins of chance
// e^-1.
UInt128 sample_geometric(std::uint64_t t, BitSource& bits) {
  std::uint64_t low = uniform_below(t, bits);
  while (!exact_bernoulli_exp_minus_fraction<UInt128>(low, t, bits)) low = uniform_below(t, bits);
  std::uint64_t high = 0;
  while (exact_bernoulli_exp_minus_fraction<UInt128>(1, 1, bits)) {
    SHOAL_CHECK(high < std::numeric_limits<std::uint64_t>::max());
    ++high;
  }
  return UInt128{high} * t + low;
}

}  // namespace

Int128 sample_laplace_fraction(std::uint64_t t, std::uint64_t s, BitSource& bits) {
  while (true) {
    // Grouping x by floor(x / s) turns exp(-x / t) into exp(-y s / t), that is exp(-y / scale).
    const auto magnitude = static_cast<Int128>(sample_geometric(t, bits) / s);
    const bool negative = bits.next_bit();
    // One of the two zeros is refused, or zero would come twice as often as it should.
    if (negative && magnitude == 0) continue;
    return negative ? -magnitude : magnitude;
  }
}

Int128 sample_discrete_laplace(double scale, BitSource& bits) {
  const DyadicScale exact = exact_scale(scale, "scale");
  return sample_laplace_fraction(exact.numerator, exact.denominator, bits);
}

}  // namespace shoal::random
