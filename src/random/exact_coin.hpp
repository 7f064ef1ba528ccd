// The coins of bernoulli.hpp for any unsigned integer type, so that one text serves 128-bit and
// unbounded numbers. They only double, multiply by a small number, compare and subtract: no
// division, no fractions to reduce, nothing in a library that has to be right but those.
//
// An Integer must hold 2 * denominator * k for every k that occurs. k is the length of a run of
// successes with chances at most 1, 1/2, 1/3, ...: it passes 40 with probability below 2^-159 and
// cannot reach 2^32.
#pragma once

#include <shoal/random/bit_source.hpp>

#include <cstdint>

namespace shoal::random {

// True with probability numerator / denominator, for 0 <= numerator and 0 < denominator.
//
// Compares a uniform real number with the probability, binary digit by binary digit; the first
// digits that differ decide. Each pair of digits differs with probability one half, so two bits are
// used on average.
template <class Integer>
bool exact_bernoulli(Integer numerator, const Integer& denominator, BitSource& bits) {
  if (numerator >= denominator) return true;
  while (numerator != 0) {
    numerator *= 2;
    const bool digit = numerator >= denominator;
    if (digit) numerator -= denominator;
    const bool drawn = bits.next_bit();
    if (drawn != digit) return digit;
  }
  // Every further digit of the probability is 0: the uniform number is not below it.
  return false;
}

// True with probability exp(-numerator / denominator), for 0 <= numerator <= denominator.
//
// The run of successes with chances x, x/2, x/3, ... has at least k with probability x^k / k!, so
// its length is even with probability 1 - x + x^2/2! - ... = exp(-x).
template <class Integer>
bool exact_bernoulli_exp_minus_fraction(const Integer& numerator, const Integer& denominator,
                                        BitSource& bits) {
  std::uint32_t run = 0;
  Integer scaled = denominator;
  while (exact_bernoulli(numerator, scaled, bits)) {
    ++run;
    scaled += denominator;
  }
  return run % 2 == 0;
}

// True with probability exp(-numerator / denominator), for 0 <= numerator and 0 < denominator.
// exp(-x) = exp(-1)^n exp(-(x - n)); the first failure ends it, so large exponents cost no more
// than small.
template <class Integer>
bool exact_bernoulli_exp_minus(Integer numerator, const Integer& denominator, BitSource& bits) {
  const Integer one = 1;
  while (numerator > denominator) {
    if (!exact_bernoulli_exp_minus_fraction(one, one, bits)) return false;
    numerator -= denominator;
  }
  return exact_bernoulli_exp_minus_fraction(numerator, denominator, bits);
}

}  // namespace shoal::random
