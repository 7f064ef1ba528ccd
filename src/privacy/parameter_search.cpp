#include "privacy/parameter_search.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace shoal::privacy {

void require_epsilon(const Target& target) {
  if (target.epsilon.value() > 0) return;
  throw Error(ErrorCode::invalid_argument,
              "epsilon is 0; it must be above 0 and at most 1000, as no finite noise hides "
              "everything: take a small one, such as 0.01");
}

void require_reachable(NoiseLaw law, const Target& target) {
  require_epsilon(target);
  if (!is_gaussian(law) || target.delta.value() > 0) return;
  throw Error(ErrorCode::invalid_argument,
              "delta is 0; Gaussian noise needs a delta above 0, such as 1e-6: give one, or use "
              "Laplace noise, which needs none");
}

Judge::Judge(const Target& target, double tolerance)
    : target_(target), pure_(target.delta.value() == 0) {
  require_epsilon(target);
  options_.tolerance = tolerance;
  if (pure_) {
    height_ = -std::log(target.epsilon.value());
  } else {
    log_delta_down_ = numeric::log_down(target.delta.value());
    log_delta_up_ = std::min(0.0, numeric::log_up(target.delta.value()));
    height_ = std::log(-log_delta_down_);
  }
}

// At a delta above 0 the question is whether delta at epsilon is small enough: one evaluation,
// where the inverse would need several. Its logarithm falls about as -sigma^2, so the logarithm of
// that is taken. Pure events have no delta that could be compared, and their epsilon falls as
// 1 / scale.
Verdict Judge::operator()(const Event& event) const {
  const Profile profile(event, target_.neighbors, options_);
  const double epsilon = target_.epsilon.value();
  if (pure_) {
    const Bounds bounds = profile.epsilon(Delta(0)).bounds;
    return {bounds.upper <= epsilon, bounds.lower > epsilon, -std::log(bounds.upper),
            -std::log(bounds.lower)};
  }
  const Bounds bounds = profile.log_delta(epsilon).bounds;
  return {bounds.upper <= log_delta_down_, bounds.lower > log_delta_up_, std::log(-bounds.upper),
          std::log(-bounds.lower)};
}

Certified Judge::epsilon_of_sufficient(const Event& event) const {
  Certified found = Profile(event, target_.neighbors, options_).epsilon(target_.delta);
  found.bounds.upper = std::min(found.bounds.upper, target_.epsilon.value());
  found.bounds.lower = std::min(found.bounds.lower, found.bounds.upper);
  return found;
}

namespace {

struct Point {
  double key = 0;
  double place = 0;
  Verdict verdict;
};

// Where the bound on one side crosses the target: the upper bound, of which we want the first point
// that passes, or the lower one, of which we want the last that fails.
enum class Side { upper, lower };

class Search {
 public:
  explicit Search(const SearchSpace& space)
      : space_(space), least_(space.place(space.least)), most_(space.place(space.most)) {}

  void visit(double key) {
    const double place = space_.place(key);
    if (place <= least_) key = space_.least;
    if (place >= most_) key = space_.most;
    if (!known(key)) points_.push_back({key, space_.place(key), space_.judge(key)});
  }

  void solve(Side side);
  Crossing crossing() const;

 private:
  struct Bracket {
    const Point* fails = nullptr;   // the last below `passes`
    const Point* passes = nullptr;  // the first
  };

  static bool passes(Side side, const Verdict& verdict) {
    return side == Side::upper ? verdict.sufficient : !verdict.insufficient;
  }
  static double height(Side side, const Verdict& verdict) {
    return side == Side::upper ? verdict.height_of_upper : verdict.height_of_lower;
  }
  bool known(double key) const {
    return std::any_of(points_.begin(), points_.end(),
                       [key](const Point& point) { return point.key == key; });
  }
  Bracket bracket(Side side) const;
  std::optional<double> crossing_of(Side side, const Point& a, const Point& b) const;
  std::optional<double> secant(Side side) const;
  double inwards(Side side, const Bracket& around, bool halfway) const;
  bool settled(Side side, const Bracket& around) const;
  double outwards(Side side, const Bracket& around, double longest) const;
  bool done() const;

  static constexpr int kMostVisits = 60;
  static constexpr double kLongestStep = 8;

  const SearchSpace& space_;
  double least_;
  double most_;
  std::vector<Point> points_;
};

Search::Bracket Search::bracket(Side side) const {
  Bracket result;
  for (const Point& point : points_) {
    if (passes(side, point.verdict) && (!result.passes || point.place < result.passes->place)) {
      result.passes = &point;
    }
  }
  for (const Point& point : points_) {
    if (passes(side, point.verdict)) continue;
    if (result.passes && point.place > result.passes->place) continue;
    if (!result.fails || point.place > result.fails->place) result.fails = &point;
  }
  return result;
}

// Where a line through two points has the target's height.
std::optional<double> Search::crossing_of(Side side, const Point& a, const Point& b) const {
  const double rise = height(side, b.verdict) - height(side, a.verdict);
  const double slope = rise / (b.place - a.place);
  if (!(slope > 0) || !std::isfinite(slope)) return {};
  return a.place + (space_.height - height(side, a.verdict)) / slope;
}

// Through the two points that are nearest to it in height.
std::optional<double> Search::secant(Side side) const {
  const Point* nearest = nullptr;
  const Point* second = nullptr;
  const auto distance = [&](const Point* point) {
    return point ? std::abs(height(side, point->verdict) - space_.height)
                 : std::numeric_limits<double>::infinity();
  };
  for (const Point& point : points_) {
    if (!std::isfinite(height(side, point.verdict))) continue;
    if (distance(&point) < distance(nearest)) {
      second = std::exchange(nearest, &point);
    } else if (distance(&point) < distance(second)) {
      second = &point;
    }
  }
  return second ? crossing_of(side, *nearest, *second) : std::nullopt;
}

// The next place between two points: by the secant, if that leads inside and not to where we are
// already, else by the line through the two, else halfway.
double Search::inwards(Side side, const Bracket& around, bool halfway) const {
  const double below = around.fails->place;
  const double above = around.passes->place;
  const double shift = std::min(space_.tolerance / 8, (above - below) / 4);
  const double edge = std::min(space_.tolerance / 4, (above - below) / 4);
  for (const std::optional<double> line :
       {secant(side), crossing_of(side, *around.fails, *around.passes)}) {
    if (halfway || !line || !(*line > below && *line < above)) continue;
    if ((side == Side::upper ? above - *line : *line - below) <= edge) continue;
    return side == Side::upper ? *line + shift : *line - shift;
  }
  return below + (above - below) / 2;
}

// Whether the point that is wanted is as near to the crossing as the tolerance asks, judging by the
// slope of the line to the other one.
bool Search::settled(Side side, const Bracket& around) const {
  const double width = around.passes->place - around.fails->place;
  if (width <= space_.tolerance / 4) return true;
  const std::optional<double> line = crossing_of(side, *around.fails, *around.passes);
  if (!line || width > 1e-2) return false;
  const double off =
      side == Side::upper ? around.passes->place - *line : *line - around.fails->place;
  return off <= space_.tolerance / 4;
}

// The next place while all points lie on one side: as far as the line says and a little more, so
// that the next is beyond.
double Search::outwards(Side side, const Bracket& around, double longest) const {
  const Point& from = around.passes ? *around.passes : *around.fails;
  const std::optional<double> line = secant(side);
  const double lacks = space_.height - height(side, from.verdict);
  double step = line ? *line - from.place : lacks / space_.slope;
  if (!std::isfinite(step)) step = longest;
  const double shortest = std::max(4 * space_.tolerance, 1e-3);
  step = std::clamp(1.05 * std::abs(step), shortest, longest);
  return around.passes ? from.place - step : from.place + step;
}

bool Search::done() const {
  const Crossing found = crossing();
  return found.sufficient && found.insufficient &&
         space_.close(*found.sufficient, *found.insufficient);
}

void Search::solve(Side side) {
  double longest = 0.5;
  double width = std::numeric_limits<double>::infinity();
  double lacked = width;
  int slow = 0;
  for (int visits = 0; visits < kMostVisits && !done(); ++visits) {
    const Bracket around = bracket(side);
    if (!around.passes || !around.fails) {
      const Point& from = around.passes ? *around.passes : *around.fails;
      if (from.key == (around.passes ? space_.least : space_.most)) return;
      // A lower bound that says nothing will not say more further down.
      if (side == Side::lower && visits > 12) return;
      const double next = outwards(side, around, longest);
      visit(around.passes ? space_.at_or_below(next) : space_.at_or_above(next));
      longest = std::min(2 * longest, kLongestStep);
      continue;
    }
    if (settled(side, around)) return;
    const double left = around.passes->place - around.fails->place;
    const double lacks = std::min(std::abs(height(side, around.passes->verdict) - space_.height),
                                  std::abs(height(side, around.fails->verdict) - space_.height));
    slow = left > 0.5 * width && !(lacks <= 0.5 * lacked) ? slow + 1 : 0;
    width = left;
    lacked = lacks;
    const double next = inwards(side, around, slow >= 3);
    if (slow >= 3) slow = 0;
    const bool upper = side == Side::upper;
    double key = upper ? space_.at_or_above(next) : space_.at_or_below(next);
    if (known(key)) key = upper ? space_.at_or_below(next) : space_.at_or_above(next);
    if (known(key)) return;
    visit(key);
  }
}

Crossing Search::crossing() const {
  const Point* sufficient = nullptr;
  const Point* insufficient = nullptr;
  for (const Point& point : points_) {
    if (!point.verdict.sufficient) continue;
    if (!sufficient || point.place < sufficient->place) sufficient = &point;
  }
  for (const Point& point : points_) {
    if (!point.verdict.insufficient) continue;
    if (sufficient && point.place > sufficient->place) continue;
    if (!insufficient || point.place > insufficient->place) insufficient = &point;
  }
  Crossing result;
  if (sufficient) result.sufficient = sufficient->key;
  if (insufficient) result.insufficient = insufficient->key;
  return result;
}

}  // namespace

Crossing find_crossing(const SearchSpace& space, double start) {
  Search search(space);
  search.visit(space.at_or_above(start));
  search.solve(Side::upper);
  if (!search.crossing().sufficient) return search.crossing();
  search.solve(Side::lower);
  // Where the accountant's upper bound is not monotone, that may have found better points.
  search.solve(Side::upper);
  return search.crossing();
}

}  // namespace shoal::privacy
