#include "mechanism/noisy_order.hpp"

#include "mechanism/fixed_log.hpp"

#include <shoal/numeric/enclosure.hpp>

#include <algorithm>
#include <bit>

namespace shoal::mechanism {
namespace {

using numeric::BigInt;
using numeric::Enclosure;
using random::LazyExponential;

// Smaller units are not looked at: the logarithm of 2^-160, about -111, still fits 64 bits.
constexpr int kDeepest = 160;

// -ln of [digits, digits + 1] * 2^-bits.
NoiseCell minus_log_cell(std::uint64_t digits, int bits) {
  const int size = 63 - std::countl_zero(digits);  // floor(log2 digits), or -1
  if (digits == 0 || bits > kDeepest) {
    const int known = std::min(bits - size - 1, kDeepest);  // E <= 2^-known
    return {-fixed_log(1, known) - kFixedLogError, NoiseCell::kUnbounded};
  }
  // ln(d + 1) - ln d < 1/d <= 2^-size.
  const std::int64_t width = size < kFixedLogBits ? std::int64_t{1} << (kFixedLogBits - size) : 1;
  const std::int64_t centre = -fixed_log(digits, bits);
  return {centre - kFixedLogError - width, centre + kFixedLogError};
}

NoisyOrder::Answer answer_of(const BigInt& least, const BigInt& most) {
  if (least >= 0) return NoisyOrder::Answer::above;
  if (most <= 0) return NoisyOrder::Answer::below;
  return NoisyOrder::Answer::unsure;
}

// floor(X * 2^bits) for X = E or X = -E; ends of cells have probability zero.
BigInt signed_digits(const Contender& contender) {
  const BigInt& digits = contender.exponential.digits();
  return contender.negative ? BigInt(-digits - 1) : digits;
}

}  // namespace

NoisyOrder::NoisyOrder(ScoreNoise law, double scale, int first_bits)
    : law_(law),
      first_bits_(first_bits),
      unit_bits_(law == ScoreNoise::gumbel ? kFixedLogBits : first_bits) {
  const random::DyadicScale exact = random::exact_scale(scale, "scale");
  scale_numerator_ = static_cast<std::int64_t>(exact.numerator);
  scale_shift_ = std::countr_zero(exact.denominator);
  certain_gap_ = (static_cast<Int128>(scale_numerator_) << (64 - unit_bits_)) >> scale_shift_;
}

NoiseCell NoisyOrder::cell(std::int64_t digits, bool negative) const {
  if (law_ == ScoreNoise::gumbel) {
    return minus_log_cell(static_cast<std::uint64_t>(digits), first_bits_);
  }
  // The sampler's largest value is all but impossible, and then its upper end is left open.
  if (digits == NoiseCell::kUnbounded && !negative) return {digits, NoiseCell::kUnbounded};
  return negative ? NoiseCell{-digits - 1, -digits} : NoiseCell{digits, digits + 1};
}

bool NoisyOrder::is_above(Contender& a, Contender& b, random::BitSource& bits) const {
  while (true) {
    const Answer answer = law_ == ScoreNoise::gumbel ? gumbel_look(a, b) : linear_look(a, b);
    if (answer != Answer::unsure) return answer == Answer::above;
    const int wanted = std::max(a.exponential.bits(), b.exponential.bits()) + 64;
    for (Contender* contender : {&a, &b}) {
      while (contender->exponential.bits() < wanted) contender->exponential.extend(bits);
      // Linear cells stay as they are: the first digits have not changed.
      if (law_ == ScoreNoise::gumbel) contender->cell = gumbel_cell(contender->exponential);
    }
  }
}

NoiseCell NoisyOrder::gumbel_cell(const LazyExponential& exponential) const {
  const BigInt& digits = exponential.digits();
  if (digits == 0) return minus_log_cell(0, exponential.bits());
  const int surplus = std::max(static_cast<int>(msb(digits)) - 62, 0);
  return minus_log_cell(static_cast<std::uint64_t>(digits >> surplus),
                        exponential.bits() - surplus);
}

NoisyOrder::Answer NoisyOrder::linear_look(const Contender& a, const Contender& b) const {
  const int bits = std::max(a.exponential.bits(), b.exponential.bits());
  const int shift_a = bits - a.exponential.bits();
  const int shift_b = bits - b.exponential.bits();
  const BigInt low_a = signed_digits(a) << shift_a;
  const BigInt low_b = signed_digits(b) << shift_b;
  const BigInt width_a = BigInt(1) << shift_a;
  const BigInt width_b = BigInt(1) << shift_b;
  const BigInt gap = (BigInt(a.score) - BigInt(b.score)) << (scale_shift_ + bits);
  return answer_of(gap + (low_a - low_b - width_b) * scale_numerator_,
                   gap + (low_a + width_a - low_b) * scale_numerator_);
}

// The higher score wins unless its E is too large: a is above b if E_a exp(-(score_a - score_b) /
// scale) < E_b.
NoisyOrder::Answer NoisyOrder::gumbel_look(const Contender& a, const Contender& b) const {
  if (a.score < b.score) {
    const Answer mirrored = gumbel_look(b, a);
    if (mirrored == Answer::unsure) return mirrored;
    return mirrored == Answer::above ? Answer::below : Answer::above;
  }
  const int bits = std::max(a.exponential.bits(), b.exponential.bits());
  const int precision = bits + 64;
  const BigInt gap = (BigInt(a.score) - BigInt(b.score)) << scale_shift_;
  const Enclosure factor =
      exp_minus(numeric::enclose_ratio(gap, BigInt(scale_numerator_), precision));
  // E_b 2^precision 2^bits against the product of E_a 2^bits and the factor.
  const int shift_a = bits - a.exponential.bits();
  const int shift_b = bits - b.exponential.bits() + precision;
  const BigInt& digits_a = a.exponential.digits();
  const BigInt& digits_b = b.exponential.digits();
  const BigInt least_a = (digits_a << shift_a) * factor.low;
  const BigInt most_a = ((digits_a + 1) << shift_a) * factor.high;
  return answer_of((digits_b << shift_b) - most_a, ((digits_b + 1) << shift_b) - least_a);
}

}  // namespace shoal::mechanism
