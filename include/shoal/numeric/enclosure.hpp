// Certified real arithmetic: a real number as a pair of big integers that provably encloses it.
//
// This is what decides the rare draw whose random word falls on a threshold, so it is integer
// arithmetic throughout: every operation rounds its lower end down and its upper end up, and no
// floating point takes part. The integers are of any length, so a caller who cannot decide yet asks
// again with a larger precision.
//
// All numbers are non-negative. Operands of one operation must have the same precision; the result
// has it too. Throws invalid_argument otherwise.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>

namespace shoal::numeric {

using BigInt = boost::multiprecision::cpp_int;

// low * 2^-precision <= the number <= high * 2^-precision.
struct Enclosure {
  BigInt low;
  BigInt high;
  int precision = 0;
};

// The integer value * 2^-bits, exactly; bits <= precision.
Enclosure enclose_dyadic(const BigInt& value, int bits, int precision);

// numerator / denominator. Throws invalid_argument if the denominator is not positive.
Enclosure enclose_ratio(const BigInt& numerator, const BigInt& denominator, int precision);

Enclosure add(const Enclosure& a, const Enclosure& b);
// a - b, for a >= b: the lower end stops at zero.
Enclosure subtract(const Enclosure& a, const Enclosure& b);
Enclosure multiply(const Enclosure& a, const Enclosure& b);
Enclosure multiply(const Enclosure& a, const BigInt& factor);
// a / b. Throws invalid_argument if b may be zero: ask again with more precision.
Enclosure divide(const Enclosure& a, const Enclosure& b);
Enclosure square_root(const Enclosure& a);

// e^-x: within a few units of the last place at every x, the rounding of x itself apart.
Enclosure exp_minus(const Enclosure& x);

}  // namespace shoal::numeric
