// The coins of bernoulli.hpp, with the length of the first word as a parameter: tests play all
// short words, release builds use long ones.
#pragma once

#include <shoal/numeric/enclosure.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>

namespace shoal::random {

// True with probability numerator / denominator, for 0 <= numerator and 0 < denominator.
//
// Compares a uniform real number with the probability, binary digit by binary digit; the first
// digits that differ decide. It only doubles, compares and subtracts: no division, no fraction to
// reduce, nothing in a library that has to be right but those. An Integer must hold 2 *
// denominator.
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

// True with probability exp(-numerator / denominator), for 0 < denominator and 1 <= first_bits
// <= 64. One word against bounds of 120 bits, the same work whatever comes out; more digits only if
// the word lies between the bounds.
bool exact_bernoulli_exp_minus(std::uint64_t numerator, std::uint64_t denominator, int first_bits,
                               BitSource& bits);

// The same for numbers of any size, by enclosures from the start.
bool exact_bernoulli_exp_minus(const numeric::BigInt& numerator, const numeric::BigInt& denominator,
                               BitSource& bits);

}  // namespace shoal::random
