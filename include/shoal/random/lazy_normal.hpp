// A standard normal real number whose binary digits are drawn only as far as a question needs them.
// What is decided with its digits has the mathematical probability, whatever the number of digits
// drawn at first.
//
// The magnitude is (h + f) / 2: h, a whole number with P(h) proportional to exp(-h^2 / 8), and f
// uniform in [0, 1), kept with probability exp(-f (2h + f) / 8) (the idea is Karney's, 2016). The
// product of the two is exp(-(h + f)^2 / 8), the normal density. The coin is tossed with the digits
// of f known so far and more if they leave it open, so no exponential is ever evaluated.
#pragma once

#include <shoal/numeric/enclosure.hpp>
#include <shoal/random/bit_source.hpp>
#include <shoal/random/lazy_uniform.hpp>

namespace shoal::random {

class LazyNormal {
 public:
  // Fewer digits at first make no difference to the law, only to the time; tests use that to walk
  // the paths that are otherwise all but never taken. Requires 0 <= first_bits <= 64; throws
  // invalid_argument otherwise.
  explicit LazyNormal(BitSource& bits, int first_bits = 64);

  bool negative() const { return negative_; }
  // |Z| lies in [digits, digits + 1) * 2^-bits.
  numeric::BigInt digits() const;
  int bits() const { return fraction_.bits() + 1; }
  // Draws 64 more digits.
  void extend(BitSource& bits) { fraction_.extend(bits); }

 private:
  bool negative_ = false;
  int half_ = 0;
  LazyUniform fraction_{0, 0};
};

}  // namespace shoal::random
