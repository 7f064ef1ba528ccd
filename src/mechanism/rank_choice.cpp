#include "mechanism/rank_choice.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/enclosure.hpp>
#include <shoal/numeric/interval128.hpp>
#include <shoal/random/lazy_uniform.hpp>
#include <shoal/random/scale.hpp>
#include <shoal/random/uniform.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

namespace shoal::mechanism {
namespace {

using numeric::BigInt;
using numeric::Interval128;

// error / (denominator scale) is (error << shift) / divisor, exactly.
struct Exponent {
  Exponent(std::int64_t denominator, double scale) {
    const random::DyadicScale exact = random::exact_scale(scale, "scale");
    divisor = static_cast<UInt128>(denominator) * exact.numerator;
    shift = std::countr_zero(exact.denominator);
  }
  UInt128 divisor;
  int shift;
};

// e^-(error / (denominator scale)). A shift that does not fit means an exponent of at least 2^127 /
// 2^73.
Interval128 weight_of(UInt128 error, const Exponent& exponent) {
  if (error >> (127 - exponent.shift) != 0) return {0, 1};
  return numeric::exp_minus_ratio128(error << exponent.shift, exponent.divisor);
}

// Weights of runs that lie further and further from the target: errors grow by whole ranks, so one
// weight is the last times a power of e^(-1 / scale), which is faster than an exponential.
class FallingWeights {
 public:
  FallingWeights(const Exponent& exponent, std::int64_t denominator)
      : exponent_(&exponent), denominator_(static_cast<UInt128>(denominator)) {
    powers_[0] = {Interval128::kOne, Interval128::kOne};
    powers_[1] = weight_of(denominator_, exponent);
    for (std::size_t i = 2; i < powers_.size(); ++i) {
      powers_[i] = numeric::multiply(powers_[i - 1], powers_[1]);
    }
  }

  void start() {
    error_ = 0;
    weight_ = {Interval128::kOne, Interval128::kOne};
  }

  // Errors must not fall from one call to the next.
  Interval128 next(UInt128 error) {
    if (error == error_) return weight_;
    if (weight_.high <= kNothing) return weight_ = {0, weight_.high};
    const UInt128 more = (error - error_) / denominator_;
    const bool direct = error_ == 0 || more >= powers_.size();
    weight_ = direct ? weight_of(error, *exponent_)
                     : numeric::multiply(weight_, powers_[static_cast<std::size_t>(more)]);
    error_ = error;
    return weight_;
  }

 private:
  // Upper bounds do not get smaller than about this.
  static constexpr UInt128 kNothing = 64;

  const Exponent* exponent_;
  UInt128 denominator_;
  std::array<Interval128, 32> powers_;
  UInt128 error_ = 0;
  Interval128 weight_{Interval128::kOne, Interval128::kOne};
};

// Running sums of the weights, in units of 2^-kUnit: at most kMaxLeaves 2^100 < 2^117.
constexpr int kUnit = 100;
struct Sums {
  std::vector<UInt128> low;
  std::vector<UInt128> high;
};

// Errors fall to 0, and then rise: the weights are found from there outwards.
Sums quick_sums(const RankRuns& all, std::int64_t denominator, const Exponent& exponent) {
  const std::vector<RankRun>& runs = all.near;
  SHOAL_CHECK(!runs.empty());
  constexpr int kDrop = Interval128::kPrecision - kUnit;
  Sums sums{std::vector<UInt128>(runs.size()), std::vector<UInt128>(runs.size())};
  const auto put = [&](std::size_t i, const Interval128& weight) {
    const auto length = static_cast<UInt128>(runs[i].length);
    sums.low[i] = (weight.low >> kDrop) * length;
    sums.high[i] = ((weight.high >> kDrop) + 1) * length;
  };
  std::size_t middle = 0;
  while (middle + 1 < runs.size() && runs[middle].error != 0) ++middle;
  SHOAL_CHECK(runs[middle].error == 0);
  FallingWeights weights(exponent, denominator);
  for (std::size_t i = middle + 1; i-- > 0;) put(i, weights.next(runs[i].error));
  weights.start();
  for (std::size_t i = middle + 1; i < runs.size(); ++i) put(i, weights.next(runs[i].error));
  sums.high[0] += static_cast<UInt128>(all.before);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    sums.low[i] += sums.low[i - 1];
    sums.high[i] += sums.high[i - 1];
  }
  return sums;
}

// floor(sum * x * 2^-64), for x <= 2^64.
UInt128 part_of(UInt128 sum, UInt128 x) {
  if (x >> 64 != 0) return sum;
  const UInt128 top = sum >> 64;
  const auto rest = static_cast<std::uint64_t>(sum);
  return top * x + ((rest * x) >> 64);
}

// The near run in which U times the sum of all lies, if that is certain. Steps that are far weigh
// less than one unit each.
std::optional<std::size_t> quick_look(const RankRuns& runs, const Sums& sums, std::uint64_t word,
                                      int width) {
  const UInt128 first = static_cast<UInt128>(word) << (64 - width);
  const UInt128 end = (static_cast<UInt128>(word) + 1) << (64 - width);
  const UInt128 from = part_of(sums.low.back(), first);
  const UInt128 to = part_of(sums.high.back() + static_cast<UInt128>(runs.after), end) + 1;
  const auto found = std::lower_bound(sums.low.begin(), sums.low.end() - 1, to);
  const auto index = static_cast<std::size_t>(found - sums.low.begin());
  const UInt128 below = index > 0 ? sums.high[index - 1] : static_cast<UInt128>(runs.before);
  if (from < below) return std::nullopt;
  if (index + 1 == sums.low.size() && runs.after > 0 && to > sums.low.back()) return std::nullopt;
  return index;
}

struct BigSums {
  std::vector<BigInt> low;
  std::vector<BigInt> high;
};

BigSums big_sums(std::span<const RankRun> runs, const Exponent& exponent, int precision) {
  BigSums sums;
  BigInt low = 0;
  BigInt high = 0;
  for (const RankRun& run : runs) {
    const numeric::Enclosure weight = numeric::exp_minus(numeric::enclose_ratio(
        BigInt(run.error) << exponent.shift, BigInt(exponent.divisor), precision));
    low += weight.low * run.length;
    high += weight.high * run.length;
    sums.low.push_back(low);
    sums.high.push_back(high);
  }
  return sums;
}

std::size_t long_look(std::span<const RankRun> runs, const Exponent& exponent,
                      random::LazyUniform uniform, random::BitSource& bits) {
  while (true) {
    const BigSums sums = big_sums(runs, exponent, uniform.bits() + 64);
    const BigInt from = uniform.digits() * sums.low.back();
    const BigInt to = (uniform.digits() + 1) * sums.high.back();
    std::size_t index = 0;
    while (index + 1 < runs.size() && (sums.low[index] << uniform.bits()) < to) ++index;
    if (index == 0 || from >= (sums.high[index - 1] << uniform.bits())) return index;
    uniform.extend(bits);
  }
}

}  // namespace

RankRuns rank_runs(std::span<const LeafCount> leaves, const StepRange& range,
                   const TargetRank& target, UInt128 reach) {
  const std::int64_t total = checked_total(leaves, range);
  const Int128 all = static_cast<Int128>(total) + target.more_at_lower + target.more_at_upper;
  SHOAL_CHECK(target.rank >= 0 && target.rank <= all * target.denominator);
  RankRuns runs;
  std::int64_t next = range.lower;
  Int128 below = 0;  // values below `next`
  const auto add = [&](std::int64_t length, Int128 count) {
    const Int128 over = below * target.denominator - target.rank;
    const Int128 under = target.rank - (below + count) * target.denominator;
    const auto error = static_cast<UInt128>(std::max<Int128>({0, over, under}));
    if (error <= reach) {
      runs.near.push_back({next, length, error});
    } else {
      (over > 0 ? runs.after : runs.before) += length;
    }
    next += length;
    below += count;
  };
  const auto add_step = [&](std::int64_t step, Int128 count) {
    if (step == range.lower) count += target.more_at_lower;
    if (step == range.upper) count += target.more_at_upper;
    if (step > next) add(step - next, 0);
    add(1, count);
  };
  const bool at_lower = !leaves.empty() && leaves.front().step == range.lower;
  if (target.more_at_lower > 0 && !at_lower) add_step(range.lower, 0);
  for (const LeafCount& leaf : leaves) add_step(leaf.step, leaf.count);
  if (target.more_at_upper > 0 && next <= range.upper) add_step(range.upper, 0);
  if (next <= range.upper) add(range.upper - next + 1, 0);
  return runs;
}

RankRun choose_run(const RankRuns& runs, std::int64_t denominator, double scale,
                   random::BitSource& bits, int first_bits) {
  SHOAL_CHECK(runs.before == 0 && runs.after == 0 && first_bits >= 1 && first_bits <= 64);
  const Exponent exponent(denominator, scale);
  const std::uint64_t word = bits.next_bits(first_bits);
  const Sums sums = quick_sums(runs, denominator, exponent);
  if (const auto index = quick_look(runs, sums, word, first_bits)) return runs.near[*index];
  const random::LazyUniform uniform(word, first_bits);
  return runs.near[long_look(runs.near, exponent, uniform, bits)];
}

std::int64_t choose_step(std::span<const LeafCount> leaves, const StepRange& range,
                         const TargetRank& target, double scale, random::BitSource& bits) {
  const auto step_of = [&](const RankRun& run) {
    const auto length = static_cast<std::uint64_t>(run.length);
    return run.first + static_cast<std::int64_t>(random::uniform_below(length, bits));
  };
  const Exponent exponent(target.denominator, scale);
  // e^-kReach is below a unit. Most steps of a large group are further off; they are looked at one
  // by one only if the word points at them.
  constexpr unsigned kReach = 70;
  const UInt128 reach = ((exponent.divisor * kReach) >> exponent.shift) + 1;
  const RankRuns near = rank_runs(leaves, range, target, reach);
  const std::uint64_t word = bits.next_u64();
  const Sums sums = quick_sums(near, target.denominator, exponent);
  if (const auto index = quick_look(near, sums, word, 64)) return step_of(near.near[*index]);
  const RankRuns all = rank_runs(leaves, range, target);
  return step_of(all.near[long_look(all.near, exponent, random::LazyUniform(word, 64), bits)]);
}

}  // namespace shoal::mechanism
