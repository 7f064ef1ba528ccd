#include "privacy/concave_supremum.hpp"
#include "privacy/two_way.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/privacy/renyi_conversion.hpp>
#include <shoal/privacy/tradeoff.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace shoal::privacy {
namespace {

using namespace numeric;  // directed arithmetic reads better bare

void require_rate(double rate, const char* name) {
  if (!(rate >= 0 && rate <= 1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {}; it must be from 0 to 1", name, rate));
  }
}

void require_prior(double prior) {
  if (!(prior > 0 && prior < 1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the prior is {}; it must be above 0 and below 1", prior));
  }
}

// 1 - delta - e^epsilon a, for delta within its bounds.
Bounds line(const Bounds& delta, const Bounds& growth, double a) {
  return {subtract_down(subtract_down(1, delta.upper), multiply_up(growth.upper, a)),
          subtract_up(subtract_up(1, delta.lower), multiply_down(growth.lower, a))};
}

Bounds growth(double epsilon) { return {exp_down(epsilon), exp_up(epsilon)}; }

// Below this rate e^epsilon would overflow on the way; f there is taken between its neighbours.
constexpr double kSmallestRate = 1e-290;
constexpr int kMostLooks = 80;

// The curve of one direction. Remembers every delta that it asked for.
class Curve {
 public:
  Curve(TwoWay& sides, Direction direction, double infinite_down)
      : sides_(sides), direction_(direction), infinite_down_(infinite_down) {}

  Bounds at(double a, double gap) {
    if (a == 1) return {0, 0};
    // Nothing that a test could be right about but what is told outright.
    if (a == 0) return {at(kSmallestRate, gap).lower, subtract_up(1, infinite_down_)};
    if (a < kSmallestRate) return {at(kSmallestRate, gap).lower, at(0, gap).upper};
    if (deltas_.empty()) {
      for (const double epsilon : {-4.0, -1.0, -0.125, 0.125, 1.0, 4.0}) ask(epsilon);
    }
    Supremum best = known(a);
    for (int look = 0; look < kMostLooks; ++look) {
      const double open = best.value.upper - best.value.lower;
      if (open <= gap || open <= 2 * best.floor || !ask(next(best.where))) break;
      best = known(a);
    }
    return {std::max(0.0, best.value.lower), std::min(subtract_up(1, a), best.value.upper)};
  }

 private:
  bool ask(double epsilon) {
    const auto [place, fresh] = deltas_.try_emplace(epsilon);
    if (fresh) place->second = sides_.delta(direction_, epsilon);
    return fresh;
  }

  // As a function of e^epsilon, 1 - delta - e^epsilon a is concave; it starts at 0 with a slope of
  // at most 1 - a, is at most 0 from 1/a on, and its slope is never below -a.
  Supremum known(double a) const {
    std::vector<ConcaveSample> samples;
    samples.push_back({{0, 0}, {0, 0}});
    const Bounds end{divide_down(1, a), divide_up(1, a)};
    for (const auto& [epsilon, delta] : deltas_) {
      const Bounds x = growth(epsilon);
      if (!(x.lower > 0) || !(x.upper < end.lower)) continue;
      samples.push_back({x, line(delta, x, a)});
    }
    samples.push_back({end, {-1 - 1e-15, 1e-15}});
    return concave_supremum(samples, {subtract_up(1, a), -a});
  }

  // A place near this one that is not too near to any that is known already. On a dyadic grid, so
  // that neighbouring rates ask for the same ones.
  double next(double where) const {
    const double wanted = std::log(std::max(where, 1e-300));
    const auto after = deltas_.upper_bound(wanted);
    const double high = after == deltas_.end() ? deltas_.rbegin()->first * 2 + 8 : after->first;
    const double low = after == deltas_.begin() ? after->first * 2 - 8 : std::prev(after)->first;
    const double grid = std::exp2(std::floor(std::log2(high - low)) - 3);
    const double room = 0.15 * (high - low);
    const double near = std::clamp(wanted, low + room, high - room);
    return std::clamp(std::round(near / grid) * grid, -650.0, 680.0);
  }

  TwoWay& sides_;
  Direction direction_;
  double infinite_down_;
  std::map<double, Bounds> deltas_;
};

// At least the chance that a loss is infinite, for the worst case.
double infinite_down(const Event& event, Neighbors neighbors, Direction direction) {
  double kept = 0;
  for (const Component& part : take_apart(event, neighbors, direction).parts) {
    if (part.lower) kept += part.count * std::log1p(-std::min(1.0, part.lower->infinite_down()));
  }
  return std::max(0.0, -std::expm1(kept) * (1 - 1e-14));
}

}  // namespace

struct TradeOff::Parts {
  Parts(const Event& event, Neighbors relation, const ProfileOptions& options)
      : neighbors(relation),
        sides(event, relation, options),
        presence(sides, Direction::removed, infinite_down(event, relation, Direction::removed)) {
    if (!symmetric(event, relation)) {
      absence.emplace(sides, Direction::added, infinite_down(event, relation, Direction::added));
    }
  }

  Bounds find(bool present, double rate, double gap) const {
    require_rate(rate, "the false-positive rate");
    if (!(gap >= 1e-12 && gap <= 1)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the gap is {}; it must be from 1e-12 to 1", gap));
    }
    const std::lock_guard lock(mutex);
    return (present || !absence ? presence : *absence).at(rate, gap);
  }

  Neighbors neighbors;
  // The engines keep tables between questions: one question at a time.
  mutable std::mutex mutex;
  mutable TwoWay sides;
  mutable Curve presence;
  mutable std::optional<Curve> absence;  // empty if the same
};

TradeOff::TradeOff(const Event& event, Neighbors neighbors, ProfileOptions options) {
  static_cast<void>(Profile(event, neighbors, options));  // for its checks
  parts_ = std::make_unique<const Parts>(event, neighbors, options);
}

TradeOff::~TradeOff() = default;
TradeOff::TradeOff(TradeOff&&) noexcept = default;
TradeOff& TradeOff::operator=(TradeOff&&) noexcept = default;

Bounds TradeOff::finding_presence(double false_positive, double gap) const {
  return parts_->find(true, false_positive, gap);
}

Bounds TradeOff::finding_absence(double false_positive, double gap) const {
  return parts_->find(false, false_positive, gap);
}

Bounds TradeOff::false_negative(double false_positive, double gap) const {
  const Bounds presence = finding_presence(false_positive, gap);
  if (!parts_->absence) return presence;
  const Bounds absence = finding_absence(false_positive, gap);
  return {std::min(presence.lower, absence.lower), std::min(presence.upper, absence.upper)};
}

MembershipRisk TradeOff::membership(double prior) const {
  require_prior(prior);
  const double epsilon = std::log1p(-prior) - std::log(prior);
  const std::lock_guard lock(parts_->mutex);
  Bounds delta = parts_->sides.delta(Direction::removed, epsilon);
  if (parts_->neighbors == Neighbors::replace_one) {
    const Bounds other = parts_->sides.delta(Direction::added, epsilon);
    delta = {std::max(delta.lower, other.lower), std::max(delta.upper, other.upper)};
  }
  const double blind = std::max(prior, 1 - prior);
  // The rounding of epsilon moves the chances by a few units in the last place.
  const auto right = [&](double d) { return 1 - prior + prior * d; };
  return {prior,
          blind,
          {std::max(blind, right(delta.lower) * (1 - 1e-14)),
           std::min(1.0, right(delta.upper) * (1 + 1e-14))}};
}

Bounds epsilon_delta_tradeoff(const Guarantee& guarantee, double false_positive) {
  require_rate(false_positive, "the false-positive rate");
  static_cast<void>(basic_composition_up(guarantee, 1));  // for its checks
  const Bounds delta{guarantee.delta, guarantee.delta};
  const Bounds steep = line(delta, growth(guarantee.epsilon), false_positive);
  const Bounds rest = line(delta, {1, 1}, false_positive);
  const Bounds shrink = growth(-guarantee.epsilon);
  const auto scaled = [&](double value, bool up) {
    if (value <= 0) return 0.0;
    return up ? multiply_up(value, shrink.upper) : multiply_down(value, shrink.lower);
  };
  return {std::max({0.0, steep.lower, scaled(rest.lower, false)}),
          std::max({0.0, steep.upper, scaled(rest.upper, true)})};
}

double tradeoff_of_guarantees_down(std::span<const Guarantee> guarantees, double false_positive) {
  require_rate(false_positive, "the false-positive rate");
  double best = 0;
  for (const Guarantee& guarantee : guarantees) {
    best = std::max(best, epsilon_delta_tradeoff(guarantee, false_positive).lower);
  }
  return best;
}

Bounds gdp_tradeoff(double mu, double false_positive) {
  require_rate(false_positive, "the false-positive rate");
  const double a = false_positive;
  if (a == 0) return mu > 0 ? Bounds{gdp_tradeoff(mu, 1e-300).lower, 1} : Bounds{1, 1};
  if (a == 1) return {0, 0};
  // sqrt(2) lies between these neighbours.
  const double root_up = sqrt_up(2);
  const double root_down = sqrt_down(2);
  const auto above_up = [&](double z) {  // P(N(0, 1) > z), rounded up
    return erfc_up(z >= 0 ? divide_down(z, root_up) : divide_down(z, root_down)) / 2;
  };
  // The threshold z whose tail is a, from above: bisection down to neighbouring doubles, nearly.
  double low = -40;
  double high = 40;
  for (int turn = 0; turn < 100; ++turn) {
    const double z = low + (high - low) / 2;
    (above_up(z) <= a ? high : low) = z;
  }
  // The test "over the threshold" has at most a false positives: its false negatives bound f.
  const double upper = above_up(subtract_down(mu, high));
  // Its likelihood ratio at the threshold gives the best epsilon, nearly; any one gives a bound.
  const double epsilon = mu * high - mu * mu / 2;
  const double lower = line(gdp_delta(mu, epsilon), growth(epsilon), a).lower;
  return {std::max(0.0, lower), std::min(subtract_up(1, a), upper)};
}

Bounds delta_of_tradeoff(std::span<const TradeOffPoint> points, double epsilon) {
  if (points.empty() || !std::isfinite(epsilon)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there are {} points and epsilon is {}; give at least one point and a "
                            "finite epsilon",
                            points.size(), epsilon));
  }
  const Bounds slope = growth(epsilon);
  std::vector<ConcaveSample> samples;
  const auto add = [&](double a, const Bounds& b) {
    samples.push_back({{a, a}, line(b, slope, a)});
  };
  double before = -1;
  for (const TradeOffPoint& point : points) {
    require_rate(point.false_positive, "a false-positive rate");
    const Bounds& b = point.false_negative;
    if (!(b.lower <= b.upper && b.upper >= 0 && b.lower <= 1) || point.false_positive <= before) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("the point ({}, {} to {}) is out of order or upside down; list points "
                      "by increasing false-positive rate, lower bounds first",
                      point.false_positive, b.lower, b.upper));
    }
    // The curve falls, so before the first point it is at least as high as there.
    if (before < 0 && point.false_positive > 0) add(0, {std::max(0.0, b.lower), 1});
    before = point.false_positive;
    add(before, {std::max(0.0, b.lower), std::min(subtract_up(1, before), b.upper)});
  }
  if (before < 1) add(1, {0, 0});
  const double steepest = -slope.upper;
  const Bounds found = samples.size() == 1 ? samples.front().value
                                           : concave_supremum(samples, {HUGE_VAL, steepest}).value;
  return {std::clamp(found.lower, 0.0, 1.0), std::clamp(found.upper, 0.0, 1.0)};
}

double posterior_up(double prior, double epsilon) {
  require_rate(prior, "the prior");
  if (!(epsilon >= 0)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("epsilon is {}; it must not be negative", epsilon));
  }
  if (prior == 0) return 0;
  // p e^epsilon / (1 - p + p e^epsilon) = p / (p + (1 - p) e^-epsilon).
  const double rest = multiply_down(subtract_down(1, prior), exp_down(-epsilon));
  return std::min(1.0, divide_up(prior, add_down(prior, rest)));
}

double membership_up(const Guarantee& guarantee, double prior) {
  require_prior(prior);
  const double epsilon = std::log1p(-prior) - std::log(prior);
  const double delta = optimal_composition_delta(guarantee, 1, epsilon).upper;
  return std::min(1.0, (1 - prior + prior * delta) * (1 + 1e-14));
}

std::vector<std::string> in_words(const MembershipRisk& risk) {
  const auto percent = [](double chance, bool up) {
    // Rounded so that the sentence stays true, but for one part in 10^12: 50% is not 50.01%.
    const double scaled = up ? std::ceil(chance * 1e4 - 1e-8) : std::floor(chance * 1e4 + 1e-8);
    return format_rounded(scaled / 100, 4) + "%";
  };
  std::vector<std::string> words;
  words.push_back(fmt::format(
      "somebody who gives a person a chance of {} of being in the data, sees everything that was "
      "released and knows everything else is right about it with a chance of at most {}; blind "
      "guessing gives {}",
      format_rounded(risk.prior * 100, 4) + "%", percent(risk.right.upper, true),
      percent(risk.blind, false)));
  if (risk.right.lower > risk.blind + 0.01) {
    words.push_back(fmt::format("and there are tables where the best guess is right with {}",
                                percent(risk.right.lower, false)));
  }
  return words;
}

}  // namespace shoal::privacy
