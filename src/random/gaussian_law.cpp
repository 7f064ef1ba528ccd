#include "random/gaussian_law.hpp"

#include <shoal/base/error.hpp>
#include <shoal/random/scale.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::random {
namespace {

using numeric::BigInt;
using numeric::Enclosure;
using numeric::Interval128;

constexpr int kMantissaBits = 52;

// Ranks to sum for a normaliser whose rest is below 2^-precision of it.
std::size_t last_rank(double t, int precision) {
  return static_cast<std::size_t>(std::ceil(t * std::sqrt(1.4 * (precision + 8)))) + 2;
}

// From rank K = 9.4 t on, t <= 36, each weight is below e^(-K/t^2) < 0.77 times the one before, so
// all of them together are below this multiple of the first.
constexpr unsigned kRestFactor = 8;

// 1 / (2 t^2), if that is below 84: beyond, no power of e to it matters.
std::optional<Interval128> half_inverse_square(DyadicScale t) {
  if (t.denominator / t.numerator >= 13) return std::nullopt;
  const Interval128 inverse = numeric::enclose_ratio128(t.denominator, t.numerator);
  const Interval128 square = multiply(inverse, inverse);
  return Interval128{square.low / 2, square.high / 2 + 1};
}

// A number of at most one, from below, in units of 2^-120, and how many units it may be too low. A
// product of two is too low by what both are, and by one unit for rounding, and one more for the
// product of the two errors.
struct LowerBound {
  UInt128 units;
  UInt128 error;

  LowerBound operator*(const LowerBound& other) const {
    return {numeric::multiply_down(units, other.units), error + other.error + 2};
  }
};

// The weights e^(-k^2/(2t^2)), k = 1, 2, ..., by their ratios, which shrink by the same factor each
// time.
class Weights {
 public:
  explicit Weights(Interval128 first)
      : weight_{first.low, first.high - first.low},
        shrink_(weight_ * weight_),
        ratio_(weight_ * shrink_) {}

  const LowerBound& weight() const { return weight_; }
  void next() {
    weight_ = weight_ * ratio_;
    ratio_ = ratio_ * shrink_;
  }

 private:
  LowerBound weight_;
  LowerBound shrink_;
  LowerBound ratio_;
};

}  // namespace

GaussianLaw::GaussianLaw(double sigma, GaussianKind kind, int word_bits) : word_bits_(word_bits) {
  check_scale(sigma, "sigma");
  tables_.rounded = kind == GaussianKind::rounded;
  tables_.folded = !tables_.rounded && sigma < kFoldedSigma;
  const int j = tables_.folded ? 0 : std::ilogb(sigma) - 1;
  t_ = std::ldexp(sigma, -j);
  const DyadicScale exact = exact_scale(t_, "sigma");
  t_numerator_ = exact.numerator;
  t_denominator_ = exact.denominator;
  set_up_ranks(exact);
  if (tables_.folded) return;
  tables_.lambda_bits = tables_.rounded ? std::max(j + 1, 0) : j;
  tables_.drop = tables_.rounded ? std::max(1, -j) : 0;
  // The lowest bit of lambda's words is the sign, so a narrow word has at most 31 digits.
  tables_.wide = tables_.rounded || j > 31;
  tables_.lambda_mask = (std::uint64_t{1} << kMantissaBits) - 1;
  if (!tables_.rounded) {
    tables_.lambda_mask &= ~((std::uint64_t{1} << (kMantissaBits - j)) - 1);
  }
  tables_.half_slope = 1 / (2 * t_ * t_);
  tables_.words = tables_.wide ? 4 : 3;
}

void GaussianLaw::set_up_ranks(DyadicScale t) {
  const std::optional<Interval128> exponent = half_inverse_square(t);
  Weights weights(exponent ? exp_minus(*exponent) : Interval128{0, 1});
  const unsigned multiplicity = tables_.folded ? 2 : 1;
  Interval128 sum = {Interval128::kOne, Interval128::kOne};
  std::array<Interval128, kMaxRanks + 1> sums;
  sums[0] = sum;
  const std::size_t last = last_rank(t_, 56);
  for (std::size_t k = 1; k <= last; ++k) {
    const LowerBound& weight = weights.weight();
    sum = {sum.low + multiplicity * weight.units,
           sum.high + multiplicity * (weight.units + weight.error)};
    if (k < sums.size()) sums[k] = sum;
    weights.next();
  }
  const UInt128 beyond = weights.weight().units + weights.weight().error;
  const Divisor whole({sum.low, sum.high + multiplicity * kRestFactor * beyond});
  std::size_t k = 0;
  do {
    SHOAL_CHECK(k < kMaxRanks && k <= last);
    tables_.ranks[k] = threshold(whole.divide(sums[k]), word_bits_, [this, k](int precision) {
      return rank_at_most(precision).at(k);
    });
  } while (tables_.ranks[k++] != largest_word(word_bits_));
  tables_.count = k;
  tables_.levels = tables_.folded ? tree_levels(k) : kTrialLevels;
  lay_out_tree(tables_.ranks.data(), k, tables_.levels, tables_.packed);
}

std::vector<Enclosure> GaussianLaw::rank_at_most(int precision) const {
  const Enclosure one = numeric::enclose_dyadic(1, 0, precision);
  const Enclosure first = exp_minus(numeric::enclose_ratio(
      t_denominator_ * t_denominator_, 2 * t_numerator_ * t_numerator_, precision));
  const Enclosure shrink = multiply(first, first);
  const BigInt multiplicity = tables_.folded ? 2 : 1;
  Enclosure weight = first;
  Enclosure ratio = multiply(first, shrink);
  std::vector<Enclosure> sums = {one};
  const std::size_t last = last_rank(t_, precision);
  for (std::size_t k = 1; k <= last; ++k) {
    sums.push_back(add(sums.back(), multiply(weight, multiplicity)));
    weight = multiply(weight, ratio);
    ratio = multiply(ratio, shrink);
  }
  Enclosure whole = sums.back();
  whole.high += kRestFactor * multiplicity * weight.high;
  for (Enclosure& sum : sums) sum = divide(sum, whole);
  return sums;
}

std::uint64_t GaussianLaw::resolve_rank(std::uint32_t word, BitSource& bits) const {
  LazyUniform u(word, word_bits_);
  while (true) {
    constexpr int kGuard = 64;
    const std::vector<Enclosure> at_most = rank_at_most(u.bits() + kGuard);
    std::uint64_t rank = 0;
    for (const Enclosure& p : at_most) {
      if (p.low >= (u.digits() + 1) << kGuard) return rank;  // U < p, and not below the ones before
      if (p.high > u.digits() << kGuard) break;              // too close to call
      ++rank;
    }
    u.extend(bits);
  }
}

Enclosure GaussianLaw::acceptance(std::uint64_t h, const BigInt& digits, int bits,
                                  int precision) const {
  const BigInt numerator = digits * ((BigInt(h) << (bits + 1)) + digits);
  return exp_minus(numeric::enclose_ratio(numerator * t_denominator_ * t_denominator_,
                                          (t_numerator_ * t_numerator_) << (2 * bits + 1),
                                          precision));
}

// U < e^-y(lambda). For the rounded law lambda is known to some digits only: the probability falls
// with lambda, so its two ends decide, or both numbers get more digits.
bool GaussianLaw::accepts(std::uint64_t h, std::uint32_t u, std::uint64_t lambda,
                          BitSource& bits) const {
  LazyUniform uniform(u, kWordBits);
  if (!tables_.rounded) {
    const int width = tables_.wide ? 64 : 32;
    const std::uint64_t digits = lambda >> (width - tables_.lambda_bits);
    if (digits == 0) return true;
    return is_below(
        uniform, [&](int p) { return acceptance(h, digits, tables_.lambda_bits, p); }, bits);
  }
  LazyUniform position(lambda >> 1, 63);
  while (true) {
    const int precision = std::max(uniform.bits(), position.bits()) + 64;
    const Enclosure most = acceptance(h, position.digits(), position.bits(), precision);
    const Enclosure least = acceptance(h, position.digits() + 1, position.bits(), precision);
    const int shift = precision - uniform.bits();
    if (least.low >= (uniform.digits() + 1) << shift) return true;
    if (most.high <= uniform.digits() << shift) return false;
    uniform.extend(bits);
    position.extend(bits);
  }
}

std::optional<std::int64_t> GaussianLaw::resolve_trial(std::uint32_t h_word, std::uint32_t u,
                                                       std::uint64_t lambda,
                                                       BitSource& bits) const {
  const std::uint64_t h = resolve_rank(h_word, bits);
  if (!accepts(h, u, lambda, bits)) return std::nullopt;
  const int width = tables_.wide ? 64 : 32;
  const int digits = tables_.lambda_bits;
  Int128 value = static_cast<Int128>(h) << digits;
  if (digits > 0) value += static_cast<Int128>(lambda >> (width - digits));
  value = (value + ((Int128{1} << tables_.drop) >> 1)) >> tables_.drop;
  const bool negative = (lambda & 1) != 0;
  if (negative && value == 0 && !tables_.rounded) return std::nullopt;
  // Beyond 64 bits with probability below e^-10000.
  SHOAL_CHECK(value == static_cast<std::int64_t>(value));
  return static_cast<std::int64_t>(negative ? -value : value);
}

void GaussianLaw::fill_folded(std::span<std::int64_t> values, BitSource& bits,
                              Kernel kernel) const {
  const auto draw = kernel == Kernel::avx2 ? folded_groups_avx2 : folded_groups_scalar;
  constexpr std::size_t kGroups = kBlockWords / kLanes - kBlockWords / kLanes / 32 - 1;
  WordBlock block;
  std::array<std::uint8_t, kGroups> ambiguous;
  while (!values.empty()) {
    const std::size_t groups = std::min(kGroups, values.size() / kLanes);
    const std::size_t signs = sign_words(groups);
    const std::uint32_t* words = block.draw(signs + groups * kLanes, bits);
    if (draw(tables_, words, groups, values.data(), ambiguous.data())) {
      for (std::size_t i = 0; i < groups * kLanes; ++i) {
        const std::size_t lane = i % kLanes;
        const std::size_t group = i / kLanes;
        if ((ambiguous[group] >> lane & 1) == 0) continue;
        const auto rank =
            static_cast<std::int64_t>(resolve_rank(words[signs + i] ^ 0x80000000u, bits));
        const bool negative = (words[group / 32 * kLanes + lane] << (group % 32) >> 31) != 0;
        values[i] = negative ? -rank : rank;
      }
    }
    values = values.subspan(groups * kLanes);
  }
}

void GaussianLaw::fill_trials(std::span<std::int64_t> values, BitSource& bits,
                              Kernel kernel) const {
  const auto draw = kernel == Kernel::avx2 ? trial_groups_avx2 : trial_groups_scalar;
  constexpr std::size_t kGroups = kBlockWords / kLanes / 4;
  const std::size_t group_words = tables_.words * kLanes;
  WordBlock block;
  ValueBlock<kGroups * kLanes> drawn;
  std::array<std::uint8_t, kGroups> accepted;
  std::array<std::uint8_t, kGroups> ambiguous;
  while (!values.empty()) {
    // At least 0.83 of the trials are accepted.
    const std::size_t groups = std::min(kGroups, values.size() / 7 + 1);
    const std::uint32_t* words = block.draw(groups * group_words, bits);
    std::int64_t* trials = drawn.take(groups * kLanes);
    if (draw(tables_, words, groups, trials, accepted.data(), ambiguous.data())) {
      for (std::size_t g = 0; g < groups; ++g) {
        if (ambiguous[g] == 0) continue;
        accepted[g] = resolve_group(words + g * group_words, ambiguous[g], accepted[g],
                                    trials + g * kLanes, bits);
      }
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < groups * kLanes; ++i) {
      trials[kept] = trials[i];
      kept += static_cast<std::size_t>(accepted[i / kLanes] >> (i % kLanes) & 1);
    }
    kept = std::min(kept, values.size());
    std::copy_n(trials, kept, values.begin());
    values = values.subspan(kept);
  }
}

std::uint8_t GaussianLaw::resolve_group(const std::uint32_t* words, unsigned lanes,
                                        unsigned accepted, std::int64_t* values,
                                        BitSource& bits) const {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const std::uint32_t* lambda = words + 2 * kLanes + (tables_.wide ? 2 : 1) * lane;
    const std::uint64_t digits =
        tables_.wide ? lambda[0] | (static_cast<std::uint64_t>(lambda[1]) << 32) : lambda[0];
    const auto value = resolve_trial(words[lane] ^ 0x80000000u, words[kLanes + lane], digits, bits);
    accepted &= ~(1u << lane);
    if (!value) continue;
    accepted |= 1u << lane;
    values[lane] = *value;
  }
  return static_cast<std::uint8_t>(accepted);
}

void GaussianLaw::fill(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const {
  if (!tables_.folded) return fill_trials(values, bits, kernel);
  const std::size_t whole = values.size() / kLanes * kLanes;
  fill_folded(values.first(whole), bits, kernel);
  if (whole == values.size()) return;
  std::array<std::int64_t, kLanes> last{};
  fill_folded(last, bits, kernel);
  std::copy_n(last.begin(), values.size() - whole,
              values.begin() + static_cast<std::ptrdiff_t>(whole));
}

Int128 GaussianLaw::sample(BitSource& bits) const {
  std::int64_t value = 0;
  fill({&value, 1}, bits);
  return value;
}

}  // namespace shoal::random
