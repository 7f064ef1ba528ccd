// The exact order of two noisy scores, score + scale * X.
//
// A first look encloses each X in a cell of integers, [low, high] * 2^-unit_bits, and compares the
// exact integers scale * X and score. That is certain or says nothing; then digits of the noises
// are drawn until it is. X is what ScoreNoise says; it is always made of an exponential number E,
// known so far as digits, and of a sign.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/mechanism/selection.hpp>
#include <shoal/random/bit_source.hpp>
#include <shoal/random/lazy_exponential.hpp>
#include <shoal/random/scale.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace shoal::mechanism {

// low <= X * 2^unit_bits <= high, where high may be kUnbounded.
struct NoiseCell {
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

  std::int64_t low;
  std::int64_t high;
};

struct Contender {
  std::size_t index;
  Int128 score;
  random::LazyExponential exponential;
  bool negative;  // X = -E; for Laplace noise only
  NoiseCell cell;
};

class NoisyOrder {
 public:
  // Digits of E are floor(E * 2^first_bits) at first. Throws invalid_argument if the scale is out
  // of range.
  NoisyOrder(ScoreNoise law, double scale, int first_bits);

  // The cell of X from the first digits of E.
  NoiseCell cell(std::int64_t digits, bool negative) const;

  enum class Answer { above, below, unsure };

  // Whether score_a + scale * X_a is above score_b + scale * X_b, as far as cells can tell. Ties
  // have probability zero, so that closed cells that touch are apart.
  Answer first_look(Int128 score_a, const NoiseCell& a, Int128 score_b, const NoiseCell& b) const;

  // Whether first_look says below: what most candidates come to.
  bool is_surely_below(Int128 score_a, const NoiseCell& a, Int128 score_b,
                       const NoiseCell& b) const;

  // The same as first_look, for certain. Draws digits of both if it has to.
  bool is_above(Contender& a, Contender& b, random::BitSource& bits) const;

 private:
  Answer linear_look(const Contender& a, const Contender& b) const;
  Answer gumbel_look(const Contender& a, const Contender& b) const;
  NoiseCell gumbel_cell(const random::LazyExponential& exponential) const;

  ScoreNoise law_;
  std::int64_t scale_numerator_;
  int scale_shift_;  // scale = scale_numerator_ * 2^-scale_shift_
  int first_bits_;
  int unit_bits_;
  Int128 certain_gap_;  // bounded cells cannot make up for a gap above this
};

// Integers below: |a.low|, |a.high| <= 2^63, so their differences are below 2^64 + 1 in size and
// their products with the numerator (below 2^53) below 2^118. A gap of scores that is not certain
// has |gap| 2^(scale_shift + unit_bits) <= 2^64 * numerator < 2^117. The sums fit 128 bits.
inline NoisyOrder::Answer NoisyOrder::first_look(Int128 score_a, const NoiseCell& a, Int128 score_b,
                                                 const NoiseCell& b) const {
  const Int128 gap = score_a - score_b;
  const bool a_bounded = a.high != NoiseCell::kUnbounded;
  const bool b_bounded = b.high != NoiseCell::kUnbounded;
  if (gap > certain_gap_) return b_bounded ? Answer::above : Answer::unsure;
  if (gap < -certain_gap_) return a_bounded ? Answer::below : Answer::unsure;
  const Int128 scaled = gap << (scale_shift_ + unit_bits_);
  const Int128 least = scaled + (static_cast<Int128>(a.low) - b.high) * scale_numerator_;
  if (least >= 0 && b_bounded) return Answer::above;
  const Int128 most = scaled + (static_cast<Int128>(a.high) - b.low) * scale_numerator_;
  if (most <= 0 && a_bounded) return Answer::below;
  return Answer::unsure;
}

inline bool NoisyOrder::is_surely_below(Int128 score_a, const NoiseCell& a, Int128 score_b,
                                        const NoiseCell& b) const {
  const Int128 gap = score_a - score_b;
  if (a.high == NoiseCell::kUnbounded || gap > certain_gap_) return false;
  if (gap < -certain_gap_) return true;
  return (gap << (scale_shift_ + unit_bits_)) +
             (static_cast<Int128>(a.high) - b.low) * scale_numerator_ <=
         0;
}

}  // namespace shoal::mechanism
