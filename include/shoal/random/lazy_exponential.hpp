// An exponential real number of mean one whose binary digits are drawn only as far as a question
// needs them. Comparisons of such numbers are then exact: they have the mathematical probability,
// whatever the number of digits drawn at first.
//
// Argument: src/random/lazy_exponential.proof.md.
#pragma once

#include <shoal/numeric/enclosure.hpp>
#include <shoal/random/bit_source.hpp>
#include <shoal/random/geometric.hpp>

#include <cstdint>
#include <span>

namespace shoal::random {

// E in [digits, digits + 1) * 2^-bits; all that is known of it so far.
class LazyExponential {
 public:
  // Takes over digits that were drawn elsewhere: floor(E * 2^bits), as ExponentialSampler gives it.
  LazyExponential(std::uint64_t digits, int bits) : digits_(digits), bits_(bits) {}

  const numeric::BigInt& digits() const { return digits_; }
  int bits() const { return bits_; }
  // Draws 64 more digits.
  void extend(BitSource& bits);

 private:
  numeric::BigInt digits_;
  int bits_;
};

// First digits of exponential numbers, many at a time. Immutable: threads may share one, each with
// its own source.
class ExponentialSampler {
 public:
  // So many that two numbers hardly ever agree in all of them, and few enough for 64 bits.
  static constexpr int kFirstBits = 48;

  // Of the first digits so many are drawn by their own law; the others are all but uniform.
  static constexpr int kHighBits = 24;

  // Other numbers of digits make no difference to any law, only to the time; tests use that to walk
  // the paths that are otherwise all but never taken. Throws invalid_argument unless 0 <=
  // first_bits
  // <= kFirstBits, high_bits > 0 and first_bits - high_bits <= 24.
  explicit ExponentialSampler(int first_bits = kFirstBits, int high_bits = kHighBits);

  // floor(E * 2^first_bits) of independent E, each in [0, 2^63): larger ones have probability below
  // e^-32000 and end in an internal error. Neither time nor bits depend on the values, but for one
  // value in about 2^23.
  void fill(std::span<std::int64_t> digits, BitSource& bits) const;
  LazyExponential sample(BitSource& bits) const;
  int first_bits() const { return first_bits_; }

 private:
  std::uint64_t low_digits(std::uint64_t word, BitSource& bits) const;

  int first_bits_;
  int high_bits_;
  int low_bits_;
  GeometricSampler high_;
};

}  // namespace shoal::random
