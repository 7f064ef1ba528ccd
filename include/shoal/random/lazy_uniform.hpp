// A uniform real number whose binary digits are drawn only as far as a question needs them. With
// certified enclosures of a probability this answers "is it below?" exactly: the answer has the
// mathematical probability, whatever the length of the first word.
#pragma once

#include <shoal/numeric/enclosure.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <functional>

namespace shoal::random {

// U in [digits, digits + 1) * 2^-bits; all that is known of it so far.
class LazyUniform {
 public:
  LazyUniform(std::uint64_t digits, int bits) : digits_(digits), bits_(bits) {}

  const numeric::BigInt& digits() const { return digits_; }
  int bits() const { return bits_; }
  // Draws 64 more digits.
  void extend(BitSource& bits);

 private:
  numeric::BigInt digits_;
  int bits_;
};

// A real number in [0, 1], enclosed with the precision asked for. Enclosures must shrink to the
// number as the precision grows.
using RealAtPrecision = std::function<numeric::Enclosure(int precision)>;

// Whether U < p. Draws digits until that is certain: forever only if U = p, which has probability
// zero.
bool is_below(LazyUniform& u, const RealAtPrecision& p, BitSource& bits);

}  // namespace shoal::random
