#include "random/gaussian_ranks.hpp"

#include <shoal/base/error.hpp>

#include <cmath>
#include <optional>

namespace shoal::random {
namespace {

using numeric::BigInt;
using numeric::Enclosure;
using numeric::Interval128;

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
class WeightSequence {
 public:
  explicit WeightSequence(Interval128 first)
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

GaussianRanks::GaussianRanks(double t, Weights weights, int word_bits)
    : t_(t), multiplicity_(weights == Weights::once ? 1 : 2), word_bits_(word_bits) {
  const DyadicScale exact = exact_scale(t, "sigma");
  t_numerator_ = exact.numerator;
  t_denominator_ = exact.denominator;
  set_up(exact);
}

void GaussianRanks::set_up(DyadicScale t) {
  const std::optional<Interval128> exponent = half_inverse_square(t);
  WeightSequence weights(exponent ? exp_minus(*exponent) : Interval128{0, 1});
  Interval128 sum = {Interval128::kOne, Interval128::kOne};
  std::array<Interval128, kMaxRanks + 1> sums;
  sums[0] = sum;
  const std::size_t last = last_rank(t_, 56);
  for (std::size_t k = 1; k <= last; ++k) {
    const LowerBound& weight = weights.weight();
    sum = {sum.low + multiplicity_ * weight.units,
           sum.high + multiplicity_ * (weight.units + weight.error)};
    if (k < sums.size()) sums[k] = sum;
    weights.next();
  }
  const UInt128 beyond = weights.weight().units + weights.weight().error;
  const Divisor whole({sum.low, sum.high + UInt128{multiplicity_} * kRestFactor * beyond});
  std::size_t k = 0;
  do {
    SHOAL_CHECK(k < kMaxRanks && k <= last);
    tables_.ranks[k] = threshold(whole.divide(sums[k]), word_bits_,
                                 [this, k](int precision) { return at_most(precision).at(k); });
  } while (tables_.ranks[k++] != largest_word(word_bits_));
  tables_.count = k;
  tables_.levels = multiplicity_ == 1 ? kTrialLevels : tree_levels(k);
  lay_out_tree(tables_.ranks.data(), k, tables_.levels, tables_.packed);
}

std::vector<Enclosure> GaussianRanks::at_most(int precision) const {
  const Enclosure one = numeric::enclose_dyadic(1, 0, precision);
  const Enclosure first = exp_minus(numeric::enclose_ratio(
      t_denominator_ * t_denominator_, 2 * t_numerator_ * t_numerator_, precision));
  const Enclosure shrink = multiply(first, first);
  Enclosure weight = first;
  Enclosure ratio = multiply(first, shrink);
  std::vector<Enclosure> sums = {one};
  const std::size_t last = last_rank(t_, precision);
  for (std::size_t k = 1; k <= last; ++k) {
    sums.push_back(add(sums.back(), multiply(weight, BigInt(multiplicity_))));
    weight = multiply(weight, ratio);
    ratio = multiply(ratio, shrink);
  }
  Enclosure whole = sums.back();
  whole.high += kRestFactor * multiplicity_ * weight.high;
  for (Enclosure& sum : sums) sum = divide(sum, whole);
  return sums;
}

std::uint64_t GaussianRanks::resolve(std::uint32_t word, BitSource& bits) const {
  LazyUniform u(word, word_bits_);
  while (true) {
    constexpr int kGuard = 64;
    const std::vector<Enclosure> bounds = at_most(u.bits() + kGuard);
    std::uint64_t rank = 0;
    for (const Enclosure& p : bounds) {
      if (p.low >= (u.digits() + 1) << kGuard) return rank;  // U < p, and not below the ones before
      if (p.high > u.digits() << kGuard) break;              // too close to call
      ++rank;
    }
    u.extend(bits);
  }
}

}  // namespace shoal::random
