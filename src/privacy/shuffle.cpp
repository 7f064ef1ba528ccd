#include "privacy/binomial_window.hpp"
#include "privacy/composition_checks.hpp"
#include "privacy/falling_inverse.hpp"
#include "privacy/half_binomial.hpp"
#include "privacy/positive_range.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/mills_ratio.hpp>
#include <shoal/privacy/composition.hpp>
#include <shoal/privacy/shuffle.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::privacy {
namespace {

using namespace numeric;  // directed arithmetic reads better bare

constexpr long double kNegligible = 0x1p-66L;
// Up to here the sum itself is cheap enough to search with.
constexpr std::int64_t kFewUsers = 1000;
// ln 2, rounded down.
constexpr double kLog2Down = 0x1.62e42fefa39efp-1;

// The chance that another person's report is a clone, and that it is not.
struct CloneChance {
  PositiveRange clone;
  PositiveRange other;
};

CloneChance general_clones(double local) {
  return {exp_minus(exactly(local)), one_minus_exp_minus(exactly(local))};
}

// 2 / (e^l + 1) and (e^l - 1) / (e^l + 1).
CloneChance restricted_clones(double local) {
  const PositiveRange inverse = exp_minus(exactly(local));
  const PositiveRange norm = exactly(1) + inverse;
  return {exactly(2) * inverse / norm, one_minus_exp_minus(exactly(local)) / norm};
}

// What does not depend on the number of clones. With T = C + 1 and X ~ Bin(T, 1/2), the divergence
// given C is scale E(X - theta T)_+ / T, theta = 1/2 + deviation (shuffle.proof.md).
struct Threshold {
  PositiveRange deviation;
  PositiveRange theta;
  PositiveRange room;  // 1 - theta
  PositiveRange scale;
  double rate;  // at most ln 2 + theta ln theta + (1 - theta) ln(1 - theta): P(X >= theta T) <=
                // e^-rate T

  Threshold(double local, double epsilon) {
    const PositiveRange e = exp_minus(exactly(epsilon));
    const PositiveRange l = exp_minus(exactly(local));
    const PositiveRange less_l = one_minus_exp_minus(exactly(local));
    const PositiveRange one = exactly(1);
    const PositiveRange norm = (one + e) * less_l;
    deviation = exactly(0.5L) * one_minus_exp_minus(exactly(epsilon)) * (one + l) / norm;
    room = e * one_minus_exp_minus(subtract(exactly(local), exactly(epsilon))) / norm;
    theta = intersect(subtract(one, room), exactly(0.5L) + deviation);
    scale = exactly(2) * less_l / (one + l) * (one + e) / e;
    const Bounds theta_double = to_bounds(theta);
    const Bounds room_double = to_bounds(room);
    const double entropy = add_up(multiply_up(theta_double.lower, -log_down(theta_double.lower)),
                                  multiply_up(room_double.upper, -log_down(room_double.lower)));
    const double deviation_down = to_bounds(deviation).lower;
    rate = std::max(0.0, std::max(subtract_down(kLog2Down, entropy),
                                  multiply_down(2 * deviation_down, deviation_down)));
  }
};

PositiveRange quotient(std::int64_t a, std::int64_t b) {
  return exactly(static_cast<long double>(a)) / exactly(static_cast<long double>(b));
}

// The laws of C and of X given C, walked downwards together.
class CloneSum {
 public:
  CloneSum(const CloneChance& chance, std::int64_t users, const Threshold& threshold)
      : others_(users - 1), odds_(chance.clone / chance.other), threshold_(threshold) {}

  PositiveRange divergence() {
    const auto log_odds = static_cast<double>(std::log(odds_.high));
    // Given T the divergence is about e^-rate T: with that factor the law of C is again binomial,
    // and it says which C matter.
    const double tilted = log_odds - threshold_.rate;
    const std::int64_t mode = binomial_mode_near(others_, tilted);
    const std::int64_t first = binomial_high_end(others_, tilted, mode, kDrop);
    PositiveRange total = exactly(1) + weights_above(first);
    PositiveRange sum{0, rest_above(first, total.high)};
    HalfBinomialTail tail(first + 1, place_above(first + 1));
    PositiveRange weight = exactly(1);
    const PositiveRange inverse_odds = exactly(1) / odds_;
    for (std::int64_t clones = first;; --clones) {
      const PositiveRange excess = mean_excess(tail);
      const long double inverse = 1 / static_cast<long double>(clones + 1);
      sum = {(sum.low + weight.low * excess.low * inverse) * kDown,
             (sum.high + weight.high * excess.high * inverse) * kUp};
      if (clones == 0) break;
      if (weight.high <= kNegligible * sum.low && rest_is_small(clones, weight, sum, total)) break;
      const long double back =
          static_cast<long double>(clones) / static_cast<long double>(others_ - clones + 1);
      weight = {weight.low * (back * inverse_odds.low) * kDown,
                weight.high * (back * inverse_odds.high) * kUp};
      total = {(total.low + weight.low) * kDown, (total.high + weight.high) * kUp};
      if (place_above(clones) == tail.from()) {
        tail.drop_trial();
      } else {
        tail.drop_trial_and_place();
      }
    }
    return threshold_.scale * sum / total;
  }

 private:
  static constexpr double kDrop = 60;
  // Outwards by this much covers all roundings of one line above, six at most. Nothing comes near
  // underflow: weights, chances and inverse odds stay above 2^-4000 each, or delta would have been
  // found negligible before.
  static constexpr long double kDown = 1 - 4 * range_detail::Limits::epsilon();
  static constexpr long double kUp = 1 + 4 * range_detail::Limits::epsilon();

  // The first place above theta T, or its neighbour if that cannot be told.
  std::int64_t place_above(std::int64_t trials) const {
    const long double place = std::floor(threshold_.theta.low * static_cast<long double>(trials));
    return std::min(static_cast<std::int64_t>(place) + 1, trials);
  }

  // E(X - theta T)_+ = (a / 2) P(X = a) - (theta - 1/2) T P(X >= a), a the first place above
  // theta T. Where a is T there is one term only, and no difference. A wrong neighbour would be
  // worth less than |a - theta T| P(X = a).
  PositiveRange mean_excess(const HalfBinomialTail& tail) const {
    const auto trials = static_cast<long double>(tail.trials());
    const PositiveRange& chance = tail.chance();
    PositiveRange excess;
    if (tail.from() == tail.trials()) {
      excess = {chance.low * threshold_.room.low * trials * kDown,
                chance.high * threshold_.room.high * trials * kUp};
    } else {
      const long double half = static_cast<long double>(tail.from()) / 2;
      const long double first_low = chance.low * half * kDown;
      const long double first_high = chance.high * half * kUp;
      const long double second_low = threshold_.deviation.low * trials * tail.tail().low * kDown;
      const long double second_high = threshold_.deviation.high * trials * tail.tail().high * kUp;
      excess = {std::max(0.0L, (first_low - second_high) * kDown),
                std::max(0.0L, (first_high - second_low) * kUp)};
    }
    const long double doubt =
        (threshold_.theta.high - threshold_.theta.low + 4 * range_detail::Limits::epsilon()) *
        trials * 2;
    const long double over = static_cast<long double>(tail.from()) - threshold_.theta.low * trials;
    if (over < doubt || over > 1 - doubt) excess.high = (excess.high + doubt * chance.high) * kUp;
    return excess;
  }

  // The weights of more clones than `first`, relative to its own.
  PositiveRange weights_above(std::int64_t first) const {
    PositiveRange weight = exactly(1);
    PositiveRange sum;
    for (std::int64_t clones = first; clones < others_; ++clones) {
      const PositiveRange forward = quotient(others_ - clones, clones + 1) * odds_;
      if (forward.high < 1 && weight.high <= kNegligible * (1 + sum.low)) {
        const PositiveRange rest = weight * forward / subtract(exactly(1), forward);
        if (rest.high <= kNegligible * (1 + sum.low)) {
          sum.high = (sum + exactly(rest.high)).high;
          break;
        }
      }
      weight = weight * forward;
      sum = sum + weight;
    }
    return sum;
  }

  // At most the sum over more clones than `first` of weight times E(X - theta T)_+ / T, which is at
  // most e^-rate T.
  long double rest_above(std::int64_t first, long double total) const {
    if (first == others_) return 0;
    const long double rate = threshold_.rate;
    const PositiveRange decay = exp_minus(exactly(rate));
    const PositiveRange base =
        exp_minus(exactly(rate * static_cast<long double>(first + 1) * range_detail::kDown));
    const PositiveRange forward = quotient(others_ - first, first + 1) * odds_ * decay;
    if (!(forward.high < 1)) return (base * exactly(total)).high;
    return (base * forward / subtract(exactly(1), forward)).high;
  }

  // Given fewer clones the divergence is larger, and largest, scale (1 - theta) / 2, without any.
  bool rest_is_small(std::int64_t clones, const PositiveRange& weight, PositiveRange& sum,
                     PositiveRange& total) const {
    const PositiveRange back = quotient(clones, others_ - clones + 1) / odds_;
    if (!(back.high < 1)) return false;
    const PositiveRange rest = weight * back / subtract(exactly(1), back);
    const PositiveRange share = rest * exactly(0.5L) * threshold_.room;
    if (share.high > kNegligible * sum.low) return false;
    sum.high = (sum + share).high;
    total.high = (total + rest).high;
    return true;
  }

  std::int64_t others_;
  PositiveRange odds_;
  const Threshold& threshold_;
};

// At most ln(scale E e^-(rate (C + 1))), an upper bound of ln delta.
double log_delta_up(const CloneChance& chance, std::int64_t users, const Threshold& threshold) {
  const double lost = multiply_down(to_bounds(chance.clone).lower, -expm1_up(-threshold.rate));
  const double power = multiply_up(static_cast<double>(users - 1), log1p_up(-lost));
  return add_up(subtract_up(log_bounds(scaled(threshold.scale)).upper, threshold.rate), power);
}

// The same divergence from the normal approximation of X given T, summed over some tens of T: a
// model for searches.
double delta_model(const CloneChance& chance, std::int64_t users, const Threshold& threshold) {
  constexpr int kNodes = 48;
  const auto log_odds = static_cast<double>(std::log(chance.clone.high / chance.other.low));
  const double tilted = log_odds - threshold.rate;
  const std::int64_t mode = binomial_mode_near(users - 1, tilted);
  const auto low = static_cast<double>(binomial_low_end(users - 1, tilted, mode, 40));
  const auto high = static_cast<double>(binomial_high_end(users - 1, tilted, mode, 40));
  const auto deviation = static_cast<double>(threshold.deviation.high);
  double total = 0;
  double sum = 0;
  for (int node = 0; node <= kNodes; ++node) {
    const double clones = low + (high - low) * node / kNodes;
    const double weight = std::exp(log_binomial_near(users - 1, tilted, clones) -
                                   log_binomial_near(users - 1, tilted, static_cast<double>(mode)));
    const double z = 2 * deviation * std::sqrt(clones + 1);
    // phi(z) - z Q(z), without the factor e^(-z^2 / 2): that is in the tilted law.
    total += weight;
    sum += weight * (1 - z * mills_ratio(z)) / std::sqrt(clones + 1);
  }
  return sum / total * std::exp(log_delta_up(chance, users, threshold));
}

using Clones = CloneChance (*)(double);

// At epsilon >= 0.
Bounds delta_at(Clones clones, double local, std::int64_t users, double epsilon) {
  if (epsilon >= local) return {};
  const Bounds alone = optimal_composition_delta({local, 0}, 1, epsilon);
  if (users == 1) return alone;
  const Threshold threshold(local, epsilon);
  const CloneChance chance = clones(local);
  Bounds bounds{0, std::numeric_limits<double>::denorm_min()};
  if (log_delta_up(chance, users, threshold) > -760) {
    bounds = to_bounds(CloneSum(chance, users, threshold).divergence());
  }
  return {std::min(bounds.lower, alone.lower), std::min(bounds.upper, alone.upper)};
}

void check_users(std::int64_t users) {
  if (users < 1 || users > kMaxUsers) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the number of users is {}; it must be from 1 to {}", users, kMaxUsers));
  }
}

Bounds delta_of(Clones clones, Epsilon local, std::int64_t users, double epsilon) {
  check_users(users);
  check_finite("epsilon", epsilon);
  const double size = std::fabs(epsilon);
  const Bounds delta = delta_at(clones, local.value(), users, size);
  if (epsilon >= 0) return delta;
  // The pair is its own mirror image: delta(-e) = 1 - e^-e + e^-e delta(e).
  const double down = add_down(-expm1_up(-size), multiply_down(exp_down(-size), delta.lower));
  const double up = add_up(-expm1_down(-size), multiply_up(exp_up(-size), delta.upper));
  return {std::min(down, 1.0), std::min(up, 1.0)};
}

Bounds epsilon_of(Clones clones, Epsilon local, std::int64_t users, Delta delta) {
  check_users(users);
  if (local.value() == 0) return {0, 0};
  if (delta.value() == 0) return {local.value(), local.value()};
  const Bounds alone = optimal_composition_epsilon({local.value(), 0}, 1, delta);
  if (users == 1 || alone.upper == 0) return alone;
  const auto bounds = [&](double at) { return delta_at(clones, local.value(), users, at); };
  const auto near = [&](double at) {
    if (users <= kFewUsers || at >= local.value()) return bounds(at).upper;
    return delta_model(clones(local.value()), users, Threshold(local.value(), at));
  };
  const Bounds found = falling_inverse({bounds, near}, delta.value(), alone.upper, 1e-10);
  return {std::min(found.lower, alone.lower), std::min(found.upper, alone.upper)};
}

}  // namespace

Bounds shuffle_delta(Epsilon local, std::int64_t users, double epsilon) {
  return delta_of(general_clones, local, users, epsilon);
}

Bounds shuffle_epsilon(Epsilon local, std::int64_t users, Delta delta) {
  return epsilon_of(general_clones, local, users, delta);
}

Bounds shuffle_delta_of_restricted_class(Epsilon local, std::int64_t users, double epsilon) {
  return delta_of(restricted_clones, local, users, epsilon);
}

Bounds shuffle_epsilon_of_restricted_class(Epsilon local, std::int64_t users, Delta delta) {
  return epsilon_of(restricted_clones, local, users, delta);
}

std::optional<double> shuffle_closed_form_up(Epsilon local, std::int64_t users, Delta delta) {
  check_users(users);
  if (delta.value() == 0) return std::nullopt;
  const auto n = static_cast<double>(users);
  const double l = local.value();
  const double log_term = log_up(divide_up(4, delta.value()));
  const double grown = exp_up(l);
  if (!(grown <= divide_down(n, multiply_up(16, log_term)))) return std::nullopt;
  const double root = sqrt_up(divide_up(multiply_up(grown, log_term), n));
  const double sum = add_up(multiply_up(8, root), divide_up(multiply_up(8, grown), n));
  const double mixed = add_down(1, divide_down(exp_down(-l), add_up(1, sum)));
  return log1p_up(multiply_up(divide_up(-expm1_down(-l), mixed), sum));
}

}  // namespace shoal::privacy
