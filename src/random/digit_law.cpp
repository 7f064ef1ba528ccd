#include "random/digit_law.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>

namespace shoal::random {
namespace {

using numeric::BigInt;
using numeric::Enclosure;
using numeric::Interval128;

constexpr Interval128 kOne = {Interval128::kOne, Interval128::kOne};

std::size_t digits_of(double scale) {
  std::size_t digits = 0;
  while (static_cast<double>(std::uint64_t{1} << (kDigitBits * static_cast<int>(digits))) < scale)
    ++digits;
  return digits;
}

Enclosure one_minus(const Enclosure& x) {
  return subtract(numeric::enclose_dyadic(1, 0, x.precision), x);
}

// q^exponent for q = e^-x.
Enclosure power_of(const Enclosure& x, const BigInt& exponent) {
  return exp_minus(multiply(x, exponent));
}

}  // namespace

DigitLaw::DigitLaw(double scale, LaplaceKind kind, int word_bits)
    : DigitLaw(scale, kind, word_bits, digits_of(scale)) {}

DigitLaw::DigitLaw(double scale, LaplaceKind kind, int word_bits, std::size_t digits)
    : scale_(exact_scale(scale, "scale")), word_bits_(word_bits) {
  SHOAL_CHECK(digits <= kMaxDigits);
  tables_.kind = kind;
  tables_.digits = digits;
  tables_.words = tables_.digits + (kind == LaplaceKind::geometric ? 1 : 2);
  set_up_sign();
  set_up_top(set_up_digits());
  pack();
}

// Goes up through the digits: the 32nd power of one digit's q is the next one's. The error grows
// 32-fold a digit, and so does 1 - q, so the thresholds of all digits are equally precise.
Interval128 DigitLaw::set_up_digits() {
  Interval128 q = numeric::exp_minus_ratio128(scale_.denominator, scale_.numerator);
  for (std::size_t i = 0; i < tables_.digits; ++i) {
    std::array<Interval128, kRadix> power{};
    power[0] = q;
    for (std::size_t d = 1; d < kRadix; ++d) power[d] = multiply(power[d - 1], q);
    const Divisor whole(subtract(kOne, power.back()));
    for (std::size_t d = 0; d + 1 < kRadix; ++d) {
      tables_.digit[i][d] = threshold(
          whole.divide(subtract(kOne, power[d])), word_bits_, [this, i, d](int precision) {
            return digit_at_most(i, static_cast<unsigned>(d), precision);
          });
    }
    q = power.back();
  }
  return q;
}

void DigitLaw::set_up_top(Interval128 q) {
  Interval128 power = q;
  std::size_t d = 0;
  do {
    tables_.top.at(d) = threshold(bounds64(subtract(kOne, power)), word_bits_,
                                  [&](int precision) { return top_at_most(d, precision); });
    power = multiply(power, q);
  } while (tables_.top[d++] != largest_word(word_bits_));
  tables_.top_count = d;
}

void DigitLaw::set_up_sign() {
  const auto exact = [this](std::size_t k) {
    return [this, k](int precision) { return sign_threshold(k, precision); };
  };
  if (tables_.kind == LaplaceKind::discrete) {
    const Interval128 q = numeric::exp_minus_ratio128(scale_.denominator, scale_.numerator);
    tables_.sign[0] = threshold(Divisor(add(kOne, q)).divide(q), word_bits_, exact(0));
  } else if (tables_.kind == LaplaceKind::rounded) {
    const Interval128 not_zero =
        numeric::exp_minus_ratio128(scale_.denominator, static_cast<UInt128>(scale_.numerator) * 2);
    tables_.sign[0] =
        threshold(bounds64({not_zero.low / 2, not_zero.high / 2 + 1}), word_bits_, exact(0));
    tables_.sign[1] = threshold(bounds64(not_zero), word_bits_, exact(1));
  }
}

void DigitLaw::pack() {
  for (std::size_t i = 0; i < tables_.digits; ++i) {
    lay_out_tree(tables_.digit[i].data(), kRadix - 1, kDigitBits, tables_.packed_digit[i]);
  }
  tables_.top_levels = tree_levels(tables_.top_count);
  lay_out_tree(tables_.top.data(), tables_.top_count, tables_.top_levels, tables_.packed_top);
}

Enclosure DigitLaw::digit_at_most(std::size_t i, unsigned d, int precision) const {
  const BigInt unit = BigInt(scale_.denominator) << (kDigitBits * static_cast<int>(i));
  const Enclosure x = numeric::enclose_ratio(unit, scale_.numerator, precision);
  return divide(one_minus(power_of(x, d + 1)), one_minus(power_of(x, kRadix)));
}

Enclosure DigitLaw::top_at_most(std::uint64_t d, int precision) const {
  const BigInt unit = BigInt(scale_.denominator) << (kDigitBits * static_cast<int>(tables_.digits));
  const Enclosure x = numeric::enclose_ratio(unit, scale_.numerator, precision);
  return one_minus(power_of(x, BigInt(d) + 1));
}

Enclosure DigitLaw::sign_threshold(std::size_t k, int precision) const {
  if (tables_.kind == LaplaceKind::discrete) {
    const Enclosure q =
        exp_minus(numeric::enclose_ratio(scale_.denominator, scale_.numerator, precision));
    return divide(q, add(numeric::enclose_dyadic(1, 0, precision), q));
  }
  Enclosure not_zero = exp_minus(
      numeric::enclose_ratio(scale_.denominator, BigInt(scale_.numerator) * 2, precision));
  if (k == 1) return not_zero;
  return {not_zero.low / 2, not_zero.high / 2 + 1, precision};
}

std::uint64_t DigitLaw::resolve_digit(std::size_t i, std::uint32_t word, BitSource& bits) const {
  LazyUniform u(word, word_bits_);
  for (unsigned d = 0; d + 1 < kRadix; ++d) {
    if (word > tables_.digit[i][d]) continue;
    const bool below =
        word < tables_.digit[i][d] || is_below(
                                          u, [&](int p) { return digit_at_most(i, d, p); }, bits);
    if (below) return d;
  }
  return kRadix - 1;
}

Int128 DigitLaw::resolve_top(std::uint32_t word, BitSource& bits) const {
  LazyUniform u(word, word_bits_);
  std::uint64_t d = 0;
  while (true) {
    const bool listed = d < tables_.top_count;
    const bool above = listed && word > tables_.top[d];
    const bool below = !above && ((listed && word < tables_.top[d]) ||
                                  is_below(
                                      u, [&](int p) { return top_at_most(d, p); }, bits));
    if (below) return static_cast<Int128>(d);
    ++d;
  }
}

std::size_t DigitLaw::resolve_sign(std::uint32_t word, BitSource& bits) const {
  LazyUniform u(word, word_bits_);
  const std::size_t count = tables_.kind == LaplaceKind::rounded ? 2 : 1;
  for (std::size_t k = 0; k < count; ++k) {
    if (word > tables_.sign[k]) continue;
    const bool below =
        word < tables_.sign[k] || is_below(
                                      u, [&](int p) { return sign_threshold(k, p); }, bits);
    if (below) return k;
  }
  return count;
}

Int128 DigitLaw::resolve(const std::uint32_t* words, std::size_t stride, BitSource& bits) const {
  Int128 magnitude = 0;
  for (std::size_t i = 0; i < tables_.digits; ++i) {
    const auto digit = static_cast<Int128>(resolve_digit(i, words[i * stride], bits));
    magnitude += digit << (kDigitBits * static_cast<int>(i));
  }
  magnitude += resolve_top(words[tables_.digits * stride], bits)
               << (kDigitBits * static_cast<int>(tables_.digits));
  if (tables_.kind == LaplaceKind::geometric) return magnitude;
  const std::size_t sign = resolve_sign(words[(tables_.digits + 1) * stride], bits);
  if (sign == 0) return -1 - magnitude;
  if (tables_.kind == LaplaceKind::discrete) return magnitude;
  return sign == 1 ? magnitude + 1 : 0;
}

void DigitLaw::fill_groups(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const {
  const auto draw = kernel == Kernel::avx2 ? digit_groups_avx2 : digit_groups_scalar;
  const std::size_t group_words = tables_.words * kLanes;
  WordBlock block;
  std::array<std::uint8_t, kBlockWords / kLanes> ambiguous;
  while (!values.empty()) {
    const std::size_t groups = std::min(kBlockWords / group_words, values.size() / kLanes);
    const std::uint32_t* words = block.draw(groups * group_words, bits);
    if (draw(tables_, words, group_words, groups, values.data(), ambiguous.data())) {
      for (std::size_t g = 0; g < groups; ++g) {
        if (ambiguous[g] == 0) continue;
        resolve_group(words + g * group_words, ambiguous[g], values.data() + g * kLanes, bits);
      }
    }
    values = values.subspan(groups * kLanes);
  }
}

void DigitLaw::resolve_group(const std::uint32_t* words, unsigned lanes, std::int64_t* values,
                             BitSource& bits) const {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    std::array<std::uint32_t, kMaxDigits + 2> own{};
    for (std::size_t i = 0; i < tables_.words; ++i) own[i] = words[i * kLanes + lane] ^ 0x80000000u;
    const Int128 value = resolve(own.data(), 1, bits);
    // Beyond 64 bits with probability below e^-(2^53).
    SHOAL_CHECK(value == static_cast<std::int64_t>(value));
    values[lane] = static_cast<std::int64_t>(value);
  }
}

void DigitLaw::fill(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const {
  fill_whole_groups(values, [&](std::span<std::int64_t> part) { fill_groups(part, bits, kernel); });
}

}  // namespace shoal::random
