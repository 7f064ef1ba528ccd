#include "privacy/binomial_loss.hpp"
#include "privacy/composition_checks.hpp"
#include "privacy/falling_inverse.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/privacy/bounded_range.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::privacy {
namespace {

using namespace numeric;  // directed arithmetic reads better bare

// Logarithms below are compared with this margin. Their rounding errors are far smaller: below
// 1e-9 (bounded_range.proof.md).
constexpr double kMargin = 1e-6;
// From here on e^x - 1 - x is e^x but for one part in 10^11, and is taken in logarithms.
constexpr double kLarge = 30;

// ln(e^x - 1).
double log_expm1(double x) {
  return x > kLarge ? x + std::log1p(-std::exp(-x)) : std::log(std::expm1(x));
}

// Bounds of the logarithms of e^x - 1 - x and of x - 1 + e^-x. Up to 1/16 by the alternating or
// growing series, whose third term is the error; beyond, rounding costs less than 1e-12.
Bounds log_growth(double x) {
  if (x > kLarge) return Bounds{x - 1e-10, x};
  if (x > 0.0625) {
    const double value = std::log(std::expm1(x) - x);
    return {value - 1e-11, value + 1e-11};
  }
  const double value = 2 * std::log(x) - std::log(2.0) + std::log1p(x / 3);
  return {value, value + x * x / 10};
}

Bounds log_decay(double x) {
  if (x > 0.0625) {
    const double value = std::log(x + std::expm1(-x));
    return {value - 1e-11, value + 1e-11};
  }
  const double value = 2 * std::log(x) - std::log(2.0) + std::log1p(-x / 3);
  return {value, value + x * x / 10};
}

// k mechanisms at one threshold g >= 0, g < k epsilon. Candidates for the worst t are
// t_m = (g + (m + 1) epsilon) / (k + 1) for m = 0 .. last(), and epsilon - t_m = room(m).
class WorstShift {
 public:
  WorstShift(double epsilon, std::int64_t count, double threshold)
      : epsilon_(epsilon),
        count_(count),
        threshold_(threshold),
        ratio_(exp_minus(exactly(epsilon))),
        gap_(one_minus_exp_minus(exactly(epsilon))) {
    // The largest m with (k - m) epsilon > g, kept within what floating point may say of it.
    const double near = static_cast<double>(count) - threshold / epsilon;
    last_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(near) + 1, 0, count - 1);
    while (last_ > 0 && room(last_).high == 0) --last_;
  }

  std::int64_t last() const { return last_; }

  // The divergence at t_m.
  Bounds at(std::int64_t m) const {
    const PositiveRange slack = room(m);
    if (slack.high == 0) return {};
    const BinomialLoss law{count_, odds_under_p(m), ratio_, gap_};
    return to_bounds(binomial_loss_divergence(law, m, one_minus_exp_minus(slack)));
  }

  // Whether the value at t_(m+1) is certainly above, or below, that at t_m. The difference is
  // I - J, where I is an integral of K_(m+1) over [s, t_(m+1)] and J one of K_m over [t_m, s], with
  // the break point s between the two; each K is log-concave (bounded_range.proof.md).
  bool rises_after(std::int64_t m) const { return log_quotient(m).lower > kMargin; }
  bool falls_after(std::int64_t m) const { return log_quotient(m).upper < -kMargin; }

 private:
  // epsilon - t_m = ((k - m) epsilon - g) / (k + 1).
  PositiveRange room(std::int64_t m) const {
    return product_minus(count_ - m, epsilon_, threshold_) /
           exactly(static_cast<long double>(count_ + 1));
  }

  PositiveRange shift(std::int64_t m) const {
    const PositiveRange product = exactly(static_cast<long double>(m + 1)) * exactly(epsilon_);
    return (exactly(threshold_) + product) / exactly(static_cast<long double>(count_ + 1));
  }

  // Of the lower loss, t - epsilon: e^-(epsilon - t) (1 - e^-t) / (1 - e^-(epsilon - t)) under P.
  PositiveRange odds_under_p(std::int64_t m) const {
    const PositiveRange slack = room(m);
    return exp_minus(slack) * one_minus_exp_minus(shift(m)) / one_minus_exp_minus(slack);
  }

  // The derivative of ln K_m at t.
  double slope(std::int64_t m, double t) const {
    const auto rest = static_cast<double>(count_ - 1 - m);
    const double first = m == 0 ? 0 : static_cast<double>(m) / -std::expm1(-t);
    const double second = rest == 0 ? 0 : rest / std::expm1(epsilon_ - t);
    return first - second + 1;
  }

  // Bounds of ln(I / J), up to rounding.
  Bounds log_quotient(std::int64_t m) const {
    const auto k = static_cast<double>(count_);
    const auto next = static_cast<double>(m + 1);
    const double s = (threshold_ + next * epsilon_) / k;
    const double left = (k * epsilon_ - next * epsilon_ - threshold_) / k;  // epsilon - s
    // Where epsilon - s is small against epsilon its rounding counts: undecided.
    if (!(left > 1e-3 * epsilon_) || !(s > 0)) return {-1, 1};
    const double jump = std::log((k - next) / next) + std::log(-std::expm1(-s)) - log_expm1(left);
    const double step_up = left / (k + 1);  // t_(m+1) - s
    const double step_down = s / (k + 1);   // s - t_m
    const Bounds growth = log_growth(left);
    const Bounds decay = log_decay(s);
    const double most = std::max(0.0, slope(m + 1, s)) * step_up +
                        std::max(0.0, slope(m, s - step_down)) * step_down;
    const double least =
        std::min(0.0, slope(m + 1, s + step_up)) * step_up + std::min(0.0, slope(m, s)) * step_down;
    return {jump + growth.lower - decay.upper + least, jump + growth.upper - decay.lower + most};
  }

  double epsilon_;
  std::int64_t count_;
  double threshold_;
  PositiveRange ratio_;
  PositiveRange gap_;
  std::int64_t last_ = 0;
};

struct Found {
  std::int64_t index;
  double value;
};

// A good m by golden section, as if the values had one peak; for searches only.
Found best_near(const WorstShift& shifts) {
  std::int64_t low = 0;
  std::int64_t high = shifts.last();
  const auto value = [&](std::int64_t m) { return shifts.at(m).lower; };
  while (high - low > 8) {
    const auto third = static_cast<std::int64_t>(static_cast<double>(high - low) * 0.381966);
    const std::int64_t left = low + third;
    const std::int64_t right = high - third;
    if (value(left) < value(right)) {
      low = left;
    } else {
      high = right;
    }
  }
  Found best{low, value(low)};
  for (std::int64_t m = low + 1; m <= high; ++m) {
    const double here = value(m);
    if (here > best.value) best = {m, here};
  }
  return best;
}

// The supremum over t: all candidates that are not certainly below a neighbour.
Bounds supremum(double epsilon, std::int64_t count, double threshold) {
  const WorstShift shifts(epsilon, count, threshold);
  Bounds best;
  bool lower_than_last = false;
  for (std::int64_t m = 0; m <= shifts.last(); ++m) {
    const bool has_next = m < shifts.last();
    const bool lower_than_next = has_next && shifts.rises_after(m);
    if (!lower_than_last && !lower_than_next) {
      const Bounds here = shifts.at(m);
      best = {std::max(best.lower, here.lower), std::max(best.upper, here.upper)};
    }
    lower_than_last = has_next && shifts.falls_after(m);
  }
  return {std::min(best.lower, 1.0), std::min(best.upper, 1.0)};
}

// Whether delta is below the smallest double: exp(-(g - r)^2 / (4 r)) with r = k e^2 / 8 of
// zCDP bounds it.
bool vanishes(double epsilon, double count, double threshold) {
  const double rho = multiply_up(count, multiply_up(epsilon, epsilon / 8));
  const double over = subtract_down(threshold, rho);
  return over > 0 && divide_down(multiply_down(over, divide_down(over, rho)), 4) > 760;
}

// At g >= 0.
Bounds delta_at(double epsilon, std::int64_t count, double threshold) {
  if (count == 0 || epsilon == 0) return {};
  if (product_minus(count, epsilon, threshold).high == 0) return {};
  if (vanishes(epsilon, static_cast<double>(count), threshold)) {
    return {0, std::numeric_limits<double>::denorm_min()};
  }
  return supremum(epsilon, count, threshold);
}

void check_bounded_range_count(std::int64_t count) {
  if (count < 0 || count > kMaxBoundedRangeCount) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the count is {}; it must be from 0 to {} (beyond, charge each step as "
                            "epsilon^2 / 8 of zCDP)",
                            count, kMaxBoundedRangeCount));
  }
}

// The class is closed under exchange of the two laws: delta(-g) = 1 - e^-g + e^-g delta(g).
Bounds mirrored(const Bounds& delta, double size) {
  const double down = add_down(-expm1_up(-size), multiply_down(exp_down(-size), delta.lower));
  const double up = add_up(-expm1_down(-size), multiply_up(exp_up(-size), delta.upper));
  return {std::min(down, 1.0), std::min(up, 1.0)};
}

// (a - 1) t* + ln((1 - e^-ae) / (a (1 - e^-e))) over a - 1, with
// e^t* = (a - 1) (1 - e^-ae) / (a (e^-e - e^-ae)), for 1 < a < infinity: rounded up.
double renyi_of_order_up(double epsilon, double order) {
  const double less_up = subtract_up(order, 1);
  const double less_down = subtract_down(order, 1);
  const double whole_up = -expm1_down(-multiply_up(order, epsilon));
  // e^-e - e^-ae = e^-e (1 - e^-(a - 1) e).
  const double part_down = -expm1_up(-multiply_down(less_down, epsilon));
  const double quotient =
      divide_up(multiply_up(less_up, whole_up), multiply_down(order, part_down));
  const double shift = add_up(log_up(quotient), epsilon);
  const double one_down = -expm1_up(-epsilon);
  const double rest = log_up(divide_up(whole_up, multiply_down(order, one_down)));
  return add_up(shift, rest >= 0 ? divide_up(rest, less_down) : divide_up(rest, less_up));
}

// The order 1: ln((e^e - 1) / e) - 1 + e / (e^e - 1).
double divergence_up(double epsilon) {
  const double first = epsilon > kLarge ? subtract_up(epsilon, log_down(epsilon))
                                        : log_up(divide_up(expm1_up(epsilon), epsilon));
  return add_up(subtract_up(first, 1), divide_up(epsilon, expm1_down(epsilon)));
}

}  // namespace

Bounds bounded_range_delta(Epsilon epsilon, std::int64_t count, double at) {
  check_bounded_range_count(count);
  check_finite("epsilon", at);
  const Bounds delta = delta_at(epsilon.value(), count, std::fabs(at));
  return at < 0 ? mirrored(delta, -at) : delta;
}

Bounds bounded_range_epsilon(Epsilon epsilon, std::int64_t count, Delta delta) {
  check_bounded_range_count(count);
  if (count == 0 || epsilon.value() == 0) return {0, 0};
  const auto k = static_cast<double>(count);
  const Bounds most{multiply_down(k, epsilon.value()), multiply_up(k, epsilon.value())};
  if (delta.value() == 0) return most;
  const auto bounds = [&](double at) { return delta_at(epsilon.value(), count, at); };
  const auto near = [&](double at) {
    if (product_minus(count, epsilon.value(), at).high == 0) return 0.0;
    return best_near(WorstShift(epsilon.value(), count, at)).value;
  };
  return falling_inverse({bounds, near}, delta.value(), most.upper, 1e-10);
}

Bounds bounded_range_profile(Epsilon epsilon, double at) {
  check_finite("epsilon", at);
  const double size = std::fabs(at);
  Bounds delta;
  if (size < epsilon.value()) {
    // Half of a double is exact, and so is the difference up to its rounding.
    const PositiveRange half = subtract(exactly(epsilon.value()), exactly(size)) * exactly(0.5L);
    const PositiveRange root = one_minus_exp_minus(half);
    delta = to_bounds(root * root / one_minus_exp_minus(exactly(epsilon.value())));
    delta = {std::min(delta.lower, 1.0), std::min(delta.upper, 1.0)};
  }
  return at < 0 ? mirrored(delta, size) : delta;
}

double bounded_range_renyi_up(Epsilon epsilon, double order) {
  if (!(order >= 1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the Renyi order is {}; it must be at least 1", order));
  }
  const double e = epsilon.value();
  if (e == 0 || std::isinf(order)) return e;
  const double hoeffding = multiply_up(order, multiply_up(e, e / 8));
  const double exact = order == 1 ? divergence_up(e) : renyi_of_order_up(e, order);
  // Where epsilon is tiny the closed form cancels, and Hoeffding's lemma is the better bound.
  return std::min({e, hoeffding, std::isnan(exact) || exact < 0 ? hoeffding : exact});
}

}  // namespace shoal::privacy
