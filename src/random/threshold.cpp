#include "random/threshold.hpp"

#include <algorithm>
#include <bit>

namespace shoal::random {
namespace {

int leading_zeros(UInt128 value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return high != 0 ? std::countl_zero(high)
                   : 64 + std::countl_zero(static_cast<std::uint64_t>(value));
}

}  // namespace

// Scaled so that the divisor lies in [2^62, 2^63] as a number of 64 bits; the reciprocal 2^126 /
// divisor is then in [2^63, 2^64], and a part of at most 2^63 times it stays below 2^128.
Divisor::Divisor(numeric::Interval128 divisor) : shift_(leading_zeros(divisor.high) - 1) {
  const auto scaled = [this](UInt128 value) {
    return shift_ >= 0 ? (value << shift_) >> 64 : value >> (64 - shift_);
  };
  const UInt128 numerator = static_cast<UInt128>(1) << 126;
  inverse_low_ = numerator / (scaled(divisor.high) + 1);
  inverse_high_ = numerator / scaled(divisor.low) + 1;
}

Bounds64 Divisor::divide(numeric::Interval128 part) const {
  const auto scaled = [this](UInt128 value) {
    return shift_ >= 0 ? (value << shift_) >> 64 : value >> (64 - shift_);
  };
  return {(scaled(part.low) * inverse_low_) >> 62,
          (((scaled(part.high) + 1) * inverse_high_) >> 62) + 1};
}

std::uint32_t certified_floor(const RealAtPrecision& p, int word_bits) {
  for (int precision = 192;; precision *= 2) {
    const numeric::Enclosure enclosure = p(precision);
    const int shift = enclosure.precision - word_bits;
    const numeric::BigInt low = enclosure.low >> shift;
    if (low >= largest_word(word_bits)) return largest_word(word_bits);
    if (low == enclosure.high >> shift) return static_cast<std::uint32_t>(low);
  }
}

int tree_levels(std::size_t count) {
  return std::max(1, static_cast<int>(std::bit_width(count - 1)));
}

}  // namespace shoal::random
