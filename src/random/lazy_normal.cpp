#include <shoal/base/error.hpp>
#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/lazy_normal.hpp>

#include <fmt/format.h>

namespace shoal::random {
namespace {

using numeric::BigInt;

// P(h) proportional to exp(-h^2 / 8) on 0, 1, 2, ...: a discrete Gaussian of sigma 2 that happens
// not to be negative.
int draw_half(BitSource& bits) {
  static const DiscreteGaussianSampler gaussian(2);
  while (true) {
    const Int128 drawn = gaussian.sample(bits);
    if (drawn >= 0) return static_cast<int>(drawn);
  }
}

// Whether a fresh uniform number is below f (2h + f) / divisor, for a divisor that makes it at most
// one. Both are known to ever more digits until the answer is certain.
bool fraction_coin(int half, LazyUniform& f, int divisor, BitSource& bits, int first_bits) {
  LazyUniform u(bits.next_bits(first_bits), first_bits);
  while (true) {
    // In units of 2^-2b of f and of 2^-c of u.
    const BigInt whole = BigInt(2 * half) << f.bits();
    const BigInt low = f.digits() * (whole + f.digits());
    const BigInt high = (f.digits() + 1) * (whole + f.digits() + 1);
    const int shift = 2 * f.bits();
    const BigInt below = (u.digits() + 1) * divisor;
    if ((below << shift) <= (low << u.bits())) return true;
    const BigInt above = u.digits() * divisor;
    if ((above << shift) >= (high << u.bits())) return false;
    f.extend(bits);
    u.extend(bits);
  }
}

// True with probability exp(-f (2h + f) / 8): a product of equal factors exp(-x) with x <= 1, each
// by the run of coins with chances x, x/2, x/3, ..., whose length is even with probability exp(-x).
bool keep(int half, LazyUniform& f, BitSource& bits, int first_bits) {
  const int factors = (2 * half + 8) / 8;  // f (2h + f) < 2h + 1 <= 8 factors
  for (int i = 0; i < factors; ++i) {
    int run = 0;
    while (fraction_coin(half, f, 8 * factors * (run + 1), bits, first_bits)) ++run;
    if (run % 2 == 1) return false;
  }
  return true;
}

}  // namespace

LazyNormal::LazyNormal(BitSource& bits, int first_bits) {
  if (first_bits < 0 || first_bits > 64) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} first bits; a normal number takes from 0 to 64", first_bits));
  }
  do {
    half_ = draw_half(bits);
    fraction_ = LazyUniform(bits.next_bits(first_bits), first_bits);
  } while (!keep(half_, fraction_, bits, first_bits));
  negative_ = bits.next_bit();
}

BigInt LazyNormal::digits() const {
  return (BigInt(half_) << fraction_.bits()) + fraction_.digits();
}

}  // namespace shoal::random
