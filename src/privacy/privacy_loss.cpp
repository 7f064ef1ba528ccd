#include "privacy/lattice_sum.hpp"
#include "privacy/mixture_law.hpp"
#include "privacy/two_way.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/privacy/privacy_loss.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

namespace shoal::privacy {
namespace {

using namespace numeric;  // directed arithmetic reads better bare

constexpr std::size_t kLargestWindow = std::size_t{1} << 20;
// What a table may leave out at each end.
constexpr double kUnseen = 1e-9;

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments moments_of(const LossLaw& law) {
  const NodeTable nodes = law.nodes(0.25, 0, 1e-12);
  double mass = 0;
  Moments result;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double p = std::exp(nodes.log_mass[i]);
    mass += p;
    result.mean += p * nodes.loss[i];
  }
  const double mean = result.mean / std::max(mass, 1e-300);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double offset = nodes.loss[i] - mean;
    result.variance += std::exp(nodes.log_mass[i]) * offset * offset;
  }
  return result;
}

// The distance of neighbouring losses if all laws have finitely many, equally far apart (or at
// multiples of the smallest distance); 0 if not.
double equal_distance(const std::vector<CountedLaw>& laws) {
  double step = HUGE_VAL;
  for (const CountedLaw& part : laws) {
    if (!part.law->only_atoms()) return 0;
    const std::vector<double> atoms = part.law->atoms();
    for (std::size_t i = 1; i < atoms.size(); ++i) {
      const double distance = atoms[i] - atoms[i - 1];
      if (distance > 1e-9) step = std::min(step, distance);
    }
  }
  if (!std::isfinite(step)) return 1;  // one loss each
  for (const CountedLaw& part : laws) {
    const std::vector<double> atoms = part.law->atoms();
    for (const double atom : atoms) {
      const double steps = (atom - atoms.front()) / step;
      if (std::abs(steps - std::round(steps)) > 1e-7) return 0;
    }
  }
  return step;
}

double anchor_of(const LossLaw& law) {
  const std::vector<double> atoms = law.atoms();
  return atoms.empty() ? 0 : atoms.back();
}

}  // namespace

struct PrivacyLoss::Parts {
  Parts(const Event& event, Neighbors neighbors, Direction way, const ProfileOptions& options)
      : direction(way),
        components(take_apart(event, neighbors, way)),
        sides(event, neighbors, options) {
    if (components.rho > 0 || !components.tables.empty()) {
      throw Error(ErrorCode::unsupported,
                  "zcdp and rdp events state moments of the privacy loss, not its law; ask for "
                  "their profile instead, or state the mechanism itself (such as gaussian)");
    }
    for (const Component& part : components.parts) laws.push_back({part.upper, part.count});
    if (components.variance_up > 0) {
      laws.push_back(
          {std::make_shared<MixtureLaw>(std::sqrt(components.variance_up),
                                        std::vector<double>{0, 1}, std::vector<double>{1}),
           1});
    }
    double kept_up = 0;
    double kept_down = 0;
    for (const Component& part : components.parts) {
      const auto kept = [](double gone) { return std::log1p(-std::min(gone, 1.0)); };
      if (part.lower) kept_up += part.count * kept(part.lower->infinite_down());
      kept_down += part.count * kept(part.upper->infinite());
    }
    infinite = {std::max(0.0, -std::expm1(kept_up) * (1 - 1e-14)),
                std::min(1.0, -std::expm1(kept_down) * (1 + 1e-14) + components.infinite_slack)};
  }

  Bounds delta(double epsilon) const { return sides.delta(direction, epsilon); }

  Direction direction;
  Components components;
  std::vector<CountedLaw> laws;
  Bounds infinite;
  // The engines keep tables between questions: one question at a time.
  mutable std::mutex mutex;
  mutable TwoWay sides;
};

PrivacyLoss::PrivacyLoss(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
PrivacyLoss::~PrivacyLoss() = default;
PrivacyLoss::PrivacyLoss(PrivacyLoss&&) noexcept = default;
PrivacyLoss& PrivacyLoss::operator=(PrivacyLoss&&) noexcept = default;

PrivacyLoss PrivacyLoss::removed(const Event& event, Neighbors neighbors, ProfileOptions options) {
  static_cast<void>(Profile(event, neighbors, options));  // for its checks
  return PrivacyLoss(std::make_unique<const Parts>(event, neighbors, Direction::removed, options));
}

PrivacyLoss PrivacyLoss::added(const Event& event, Neighbors neighbors, ProfileOptions options) {
  static_cast<void>(Profile(event, neighbors, options));  // for its checks
  return PrivacyLoss(std::make_unique<const Parts>(event, neighbors, Direction::added, options));
}

Bounds PrivacyLoss::infinite() const { return parts_->infinite; }

// With g = e^x, delta(g) = P(L > x) - g Q(L > x) and -delta'(g) lies between Q(L > x) and
// Q(L >= x); delta is convex in g, so chords to the left and right bound its slope.
Bounds PrivacyLoss::tail(double x) const {
  if (!std::isfinite(x) || std::abs(x) > 600) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the loss asked for is {}; it must be from -600 to 600", x));
  }
  const std::lock_guard lock(parts_->mutex);
  const Bounds here = parts_->delta(x);
  Bounds best{here.lower, 1};
  for (const double h : {1.0, 0.1, 0.01, 0.003, 0.001, 1e-4}) {
    // From above: (g delta(g0) - g0 delta(g)) / (g - g0), with g0 = g e^-h.
    const double shrink_up = exp_up(-h);
    const double shrink_down = exp_down(-h);
    const Bounds less = parts_->delta(x - h);
    const double most = subtract_up(less.upper, multiply_down(shrink_down, here.lower));
    best.upper = std::min(best.upper, divide_up(most, subtract_down(1, shrink_up)));
    // From below: (g1 delta(g) - g delta(g1)) / (g1 - g), with g = g1 e^-h.
    const Bounds more = parts_->delta(x + h);
    const double least = subtract_down(here.lower, multiply_up(shrink_up, more.upper));
    if (least > 0)
      best.lower = std::max(best.lower, divide_down(least, subtract_up(1, shrink_down)));
  }
  return {best.lower, std::max(best.lower, std::min(1.0, best.upper))};
}

double PrivacyLoss::mean() const {
  if (parts_->infinite.lower > 0) return HUGE_VAL;
  double sum = parts_->components.variance_up / 2;
  for (const Component& part : parts_->components.parts) {
    sum += part.count * moments_of(*part.upper).mean;
  }
  return sum;
}

double PrivacyLoss::variance() const {
  if (parts_->infinite.lower > 0) return HUGE_VAL;
  double sum = parts_->components.variance_up;
  for (const Component& part : parts_->components.parts) {
    sum += part.count * moments_of(*part.upper).variance;
  }
  return sum;
}

namespace {

// The sum on a lattice of this step, raised nowhere: masses of P.
std::optional<std::vector<LossPoint>> on_lattice(const std::vector<CountedLaw>& laws, double step) {
  std::vector<LatticePair> pairs;
  pairs.reserve(laws.size());
  std::vector<LatticePart> parts;
  for (const CountedLaw& part : laws) {
    const double tail = 1e-12 / part.count;
    const double range = part.law->highest_loss(tail) - part.law->lowest_loss(tail);
    if (range / step > static_cast<double>(kLargestWindow)) return std::nullopt;
    pairs.push_back(put_on_lattice(*part.law, step, anchor_of(*part.law), tail, tail));
    parts.push_back({&pairs.back().upper, part.count});
  }
  const auto sum = LatticeSum::compose(parts, 0, Side::upper, kLargestWindow);
  if (!sum) return std::nullopt;
  std::vector<LossPoint> points;
  for (std::size_t i = 0; i < sum->points(); ++i) {
    points.push_back({sum->loss(i), std::max(0.0, sum->tilted()[i] * std::exp(sum->log_scale()))});
  }
  return points;
}

// The loss of Gaussian noise of mean variance / 2, in cells over 6.5 standard deviations either
// way.
std::vector<LossPoint> normal_points(double variance, std::size_t count) {
  const double deviation = std::sqrt(variance);
  const double step = 13 / static_cast<double>(count);
  std::vector<LossPoint> points;
  for (std::size_t i = 0; i < count; ++i) {
    const double z = -6.5 + step * (static_cast<double>(i) + 0.5);
    const double mass =
        (std::erfc((z - step / 2) / std::sqrt(2.0)) - std::erfc((z + step / 2) / std::sqrt(2.0))) /
        2;
    points.push_back({variance / 2 + z * deviation, mass});
  }
  return points;
}

void drop_ends(std::vector<LossPoint>& points) {
  double seen = 0;
  std::size_t first = 0;
  while (first < points.size() && (seen += points[first].mass) < kUnseen) ++first;
  seen = 0;
  std::size_t last = points.size();
  while (last > first && (seen += points[last - 1].mass) < kUnseen) --last;
  points.erase(points.begin() + static_cast<std::ptrdiff_t>(last), points.end());
  points.erase(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(first));
}

// Neighbours put together, so that about `wanted` are left.
double put_together(std::vector<LossPoint>& points, std::size_t wanted, double step) {
  const std::size_t block = std::max<std::size_t>(1, (points.size() + wanted - 1) / wanted);
  if (block == 1) return step;
  std::vector<LossPoint> fewer;
  for (std::size_t i = 0; i < points.size(); i += block) {
    const std::size_t end = std::min(points.size(), i + block);
    LossPoint sum{points[i].loss + step * static_cast<double>(block - 1) / 2, 0};
    for (std::size_t k = i; k < end; ++k) sum.mass += points[k].mass;
    fewer.push_back(sum);
  }
  points = std::move(fewer);
  return step * static_cast<double>(block);
}

}  // namespace

LossTable PrivacyLoss::table(std::size_t points) const {
  if (points < 10 || points > 100000) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} points were asked for; it must be from 10 to 100000", points));
  }
  LossTable table;
  table.infinite = parts_->infinite.upper;
  const std::vector<CountedLaw>& laws = parts_->laws;
  if (laws.empty()) return {{{0, 1}}, 0, table.infinite, true};
  if (parts_->components.parts.empty())
    return {normal_points(parts_->components.variance_up, points),
            13 * std::sqrt(parts_->components.variance_up) / static_cast<double>(points),
            table.infinite, false};
  double step = equal_distance(laws);
  const bool countable = step > 0;
  if (!countable) {
    double variance = parts_->components.variance_up;
    step = variance > 0 ? std::sqrt(variance) / 8 : HUGE_VAL;
    for (const Component& part : parts_->components.parts) {
      const double own = moments_of(*part.upper).variance;
      const double range = part.upper->highest_loss(1e-6) - part.upper->lowest_loss(1e-6);
      variance += part.count * own;
      // A spread over one step adds a sixth of its square to the variance.
      if (range > 0) step = std::min({step, range / 64, std::sqrt(own) / 8});
    }
    step = std::min(step, std::sqrt(variance) * 12 / static_cast<double>(points));
  }
  auto found = on_lattice(laws, step);
  bool widened = false;
  for (int turn = 0; !found && turn < 20; ++turn) {
    step *= 2;
    widened = true;
    found = on_lattice(laws, step);
  }
  if (!found) {
    throw Error(ErrorCode::unsupported,
                "the losses of the parts are of too different sizes for one table; ask for the "
                "parts one by one");
  }
  table.points = std::move(*found);
  drop_ends(table.points);
  table.exact = countable && !widened && table.points.size() <= points;
  table.step = put_together(table.points, points, step);
  if (table.exact) {
    table.step = 0;
    std::erase_if(table.points, [](const LossPoint& point) { return point.mass < 1e-15; });
  }
  return table;
}

}  // namespace shoal::privacy
