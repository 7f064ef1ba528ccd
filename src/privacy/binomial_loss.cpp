#include "privacy/binomial_loss.hpp"

#include "privacy/binomial_window.hpp"

#include <algorithm>
#include <cmath>

namespace shoal::privacy {
namespace {

// Weights are scaled back by 2^-kScaleStep when they exceed 2^kScaleStep.
constexpr int kScaleStep = 4096;
constexpr long double kScaleLimit = 0x1p4096L;
constexpr long double kScaleBack = 0x1p-4096L;

// What is left out is aimed at e^-kDrop of what is kept; 2^-80 at the upper end.
constexpr double kDrop = 90;
constexpr long double kNegligible = 0x1p-80L;
constexpr std::int64_t kLongestWalk = 1 << 24;

PositiveRange quotient(std::int64_t a, std::int64_t b) {
  return exactly(static_cast<long double>(a)) / exactly(static_cast<long double>(b));
}

// For the search of a start only.
double log_odds_near(const BinomialLoss& law) {
  return static_cast<double>(std::log(law.odds.high));
}

std::int64_t mode_near(const BinomialLoss& law) {
  if (!(law.odds.high > 0)) return 0;
  return binomial_mode_near(law.trials, log_odds_near(law));
}

std::int64_t start_near(const BinomialLoss& law, std::int64_t index, double drop) {
  const std::int64_t reference = std::min(index, mode_near(law));
  if (reference <= 0) return 0;
  return binomial_low_end(law.trials, log_odds_near(law), reference, drop);
}

PositiveRange widened(PositiveRange x, long double more) {
  x.high = (x + exactly(more)).high;
  return x;
}

// The walk whose total is known, with the total.
struct Total {
  PositiveRange value;
  std::int64_t exponent = 0;
};

Total finish(BinomialLossWalk& walk) {
  while (!walk.ended() && !walk.rest_is_small()) walk.step();
  return {walk.total_with_rest(), walk.exponent()};
}

// (target - a) / b, within [0, 1].
Bounds fraction(long double target, long double a, long double b) {
  if (!(target > a)) return {};
  const Bounds value = to_bounds(subtract(exactly(target), exactly(a)) / exactly(b));
  return {std::min(1.0, value.lower), std::min(1.0, value.upper)};
}

// Hoeffding's bound of P(M <= index), for an index too far below the mode to walk from.
ScaledRange far_tail(const BinomialLoss& law, std::int64_t distance) {
  const auto n = static_cast<double>(law.trials);
  const auto d = static_cast<double>(distance - 2);
  ScaledRange bound = scaled_exp(-1.99 * d * (d / n));
  bound.value.low = 0;
  return bound;
}

}  // namespace

BinomialLossWalk::BinomialLossWalk(const BinomialLoss& law, std::int64_t index, double drop)
    : law_(law) {
  at_ = start_near(law, index, drop);
  weight_ = weighted_ = total_ = exactly(1);
  if (at_ == 0) return;
  // Chances fall at least geometrically away from the mode: w_{j-1} / w_j rises with j.
  const PositiveRange back = quotient(at_, law.trials - at_ + 1) / law.odds;
  if (!(back.high < 0.999L)) {
    at_ = 0;
    return;
  }
  const PositiveRange left = subtract(exactly(1), exactly(back.high));
  const PositiveRange sum = exactly(back.high) / left;
  weighted_ = widened(weighted_, sum.high);
  total_ = widened(total_, sum.high);
  // sum of b^i (1 - r^i) is at most the sum of b^i and, as 1 - r^i <= i (1 - r), at most
  // (1 - r) b / (1 - b)^2.
  above_.high = std::min(sum.high, (law.gap * sum / left).high);
}

// PositiveRange written out, for speed: the factors outwards cover all roundings of a line at once
// (five at most, for weight_), and nothing here is near underflow, as every number is at least the
// gap (2^-1073 or more) times a weight, and weights lie between 2^-8000 and 2^4200.
void BinomialLossWalk::step() {
  constexpr long double kDown = 1 - 4 * range_detail::Limits::epsilon();
  constexpr long double kUp = 1 + 4 * range_detail::Limits::epsilon();
  const long double factor =
      static_cast<long double>(law_.trials - at_) / static_cast<long double>(at_ + 1);
  above_ = {(above_.low + law_.gap.low * weighted_.low) * kDown,
            (above_.high + law_.gap.high * weighted_.high) * kUp};
  weight_ = {weight_.low * (factor * law_.odds.low) * kDown,
             weight_.high * (factor * law_.odds.high) * kUp};
  weighted_ = {(weight_.low + law_.ratio.low * weighted_.low) * kDown,
               (weight_.high + law_.ratio.high * weighted_.high) * kUp};
  total_ = {(total_.low + weight_.low) * kDown, (total_.high + weight_.high) * kUp};
  ++at_;
  if (total_.high > kScaleLimit) rescale();
}

// Powers of two: exact, and what falls below the smallest range becomes [0, tiny].
void BinomialLossWalk::rescale() {
  for (PositiveRange* value : {&weight_, &above_, &weighted_, &total_}) {
    *value = *value * exactly(kScaleBack);
  }
  exponent_ += kScaleStep;
}

bool BinomialLossWalk::rest_is_small() const {
  if (ended()) return true;
  if (weight_.high > total_.low * kNegligible) return false;
  return rest().high < total_.low * kNegligible;
}

PositiveRange BinomialLossWalk::rest() const {
  if (ended()) return {};
  const PositiveRange forward = quotient(law_.trials - at_, at_ + 1) * law_.odds;
  if (!(forward.high < 1)) return {0, range_detail::Limits::infinity()};
  const PositiveRange sum = exactly(forward.high) / subtract(exactly(1), exactly(forward.high));
  return {0, (weight_ * sum).high};
}

PositiveRange BinomialLossWalk::total_with_rest() const { return widened(total_, rest().high); }

ScaledRange binomial_loss_divergence(const BinomialLoss& law, std::int64_t index,
                                     const PositiveRange& excess) {
  const std::int64_t distance = mode_near(law) - index;
  if (distance > kLongestWalk) return far_tail(law, distance);
  BinomialLossWalk walk(law, index, kDrop);
  while (walk.at() < index && !walk.rest_is_small()) walk.step();
  PositiveRange above = walk.above();
  PositiveRange weighted = walk.weighted();
  if (walk.at() < index) {
    // All that matters lies below: A_{m+n} = A_m + (1 - r^n) B_m and B_{m+n} = r^n B_m, but for the
    // weights in between, which are part of the rest.
    const Failures far = repeated({law.gap, law.ratio}, index - walk.at());
    const long double rest = walk.rest().high;
    above = widened(above + far.some * weighted, (far.some * exactly(rest)).high);
    weighted = widened(far.none * weighted, rest);
  }
  const PositiveRange sum = above + excess * weighted;
  const std::int64_t exponent = walk.exponent();
  const Total total = finish(walk);
  return {sum / total.value, exponent - total.exponent};
}

LossInverse binomial_loss_inverse(const BinomialLoss& law, std::int64_t last,
                                  const ScaledRange& target) {
  const double drop = kDrop - log_bounds(target).lower;
  const std::int64_t mode = mode_near(law);
  BinomialLossWalk first(law, mode, drop);
  const Total total = finish(first);
  const PositiveRange mass = target.value * total.value;

  // The last place at which each side of A was still within the target.
  struct Side {
    bool open = true;
    std::int64_t index = 0;
    long double target = 0;
    PositiveRange above;
    PositiveRange weighted = exactly(1);
  };
  Side upper;
  Side lower;
  std::int64_t scaled_for = -1;
  long double low = 0;
  long double high = 0;
  for (BinomialLossWalk walk(law, mode, drop);; walk.step()) {
    if (walk.exponent() != scaled_for) {
      scaled_for = walk.exponent();
      const std::int64_t shift = total.exponent + target.exponent - scaled_for;
      const auto places = static_cast<int>(std::clamp<std::int64_t>(shift, -40000, 40000));
      low = std::ldexp(mass.low, places) * range_detail::kDown;
      high = std::max(range_detail::kTiny, std::ldexp(mass.high, places) * range_detail::kUp);
    }
    upper.open = upper.open && walk.above().high <= low;
    lower.open = lower.open && walk.above().low <= high;
    if (upper.open) upper = {true, walk.at(), low, walk.above(), walk.weighted()};
    if (lower.open) lower = {true, walk.at(), high, walk.above(), walk.weighted()};
    if (walk.at() >= last || walk.ended() || !(upper.open || lower.open)) break;
  }
  const Bounds at_most = fraction(upper.target, upper.above.high, upper.weighted.high);
  const Bounds at_least = fraction(lower.target, lower.above.low, lower.weighted.low);
  return {{upper.index, at_most.lower}, {lower.index, at_least.upper}};
}

}  // namespace shoal::privacy
