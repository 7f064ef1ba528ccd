// Geometric noise by its digits, and the two Laplace laws made of it.
//
// For scales up to 1024; for larger ones see laplace_trials.hpp.
//
// For G with P(g) proportional to e^(-g/scale) the digits of G to base 32 are independent: digit i
// has P(d) proportional to e^(-d 32^i/scale) on 0 .. 31, and what is left above the last digit is
// geometric again. Each digit is one random word, compared with 31 thresholds; nothing is ever
// rejected, so neither the time nor the words taken depend on the value. One more word gives the
// sign:
//   discrete Laplace: X = -1 - G with probability 1 / (1 + e^(1/scale)), else G
//   rounded Laplace:  X = 0 with probability 1 - e^(-1/(2 scale)), else 1 + G or -1 - G, evenly
// Proof: exact_sampling.proof.md.
#pragma once

#include "random/noise_law.hpp"
#include "random/threshold.hpp"

#include <shoal/base/int128.hpp>
#include <shoal/random/bit_source.hpp>
#include <shoal/random/scale.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace shoal::random {

inline constexpr int kDigitBits = 5;
inline constexpr std::size_t kRadix = 32;
inline constexpr std::size_t kMaxDigits = 2;  // 32^2 = 1024
inline constexpr std::size_t kMaxTop = 31;

// What the kernels read. Thresholds are in order; `packed` copies are shifted by 2^31 for AVX2.
struct DigitTables {
  LaplaceKind kind;
  std::size_t digits;
  std::size_t words;  // of one value: digits, top, and the sign unless geometric
  std::array<std::array<std::uint32_t, kRadix - 1>, kMaxDigits> digit;
  std::size_t top_count;
  std::array<std::uint32_t, kMaxTop> top;
  std::array<std::uint32_t, 2> sign;
  int top_levels;
  alignas(32) std::array<std::array<std::int32_t, 48>, kMaxDigits> packed_digit;
  alignas(32) std::array<std::int32_t, 48> packed_top;
};

// Draws `groups` times eight values. Word i of lane j of group g is words[g * group_words + i * 8 +
// j], its top bit flipped. Sets bit j of ambiguous[g] where a word fell on a threshold: that value
// is meaningless. Returns whether there was any.
bool digit_groups_scalar(const DigitTables& tables, const std::uint32_t* words,
                         std::size_t group_words, std::size_t groups, std::int64_t* values,
                         std::uint8_t* ambiguous);
bool digit_groups_avx2(const DigitTables& tables, const std::uint32_t* words,
                       std::size_t group_words, std::size_t groups, std::int64_t* values,
                       std::uint8_t* ambiguous);

class DigitLaw final : public NoiseLaw {
 public:
  // For scale <= kLargestDigitScale.
  DigitLaw(double scale, LaplaceKind kind, int word_bits = kWordBits);
  // With this many digits, for scale <= 11/8 * 32^digits.
  DigitLaw(double scale, LaplaceKind kind, int word_bits, std::size_t digits);

  void fill(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const override;

  const DigitTables& tables() const { return tables_; }

  // The value that these words (not flipped, `stride` apart) begin, exactly; words on a threshold
  // are continued from `bits`.
  Int128 resolve(const std::uint32_t* words, std::size_t stride, BitSource& bits) const;

  // The probabilities behind the thresholds: that digit i is at most d; that the top is at most d;
  // sign threshold k. For set-up, for words on a threshold, and for tests.
  numeric::Enclosure digit_at_most(std::size_t i, unsigned d, int precision) const;
  numeric::Enclosure top_at_most(std::uint64_t d, int precision) const;
  numeric::Enclosure sign_threshold(std::size_t k, int precision) const;

 private:
  numeric::Interval128 set_up_digits();  // gives the q of the top
  void set_up_top(numeric::Interval128 q);
  void set_up_sign();
  void pack();

  void fill_groups(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const;
  void resolve_group(const std::uint32_t* words, unsigned lanes, std::int64_t* values,
                     BitSource& bits) const;

  std::uint64_t resolve_digit(std::size_t i, std::uint32_t word, BitSource& bits) const;
  Int128 resolve_top(std::uint32_t word, BitSource& bits) const;
  std::size_t resolve_sign(std::uint32_t word, BitSource& bits) const;

  DyadicScale scale_;
  int word_bits_;
  DigitTables tables_{};
};

}  // namespace shoal::random
