#include "privacy/concave_supremum.hpp"

#include <shoal/numeric/directed.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::privacy {
namespace {

using namespace numeric;  // directed arithmetic reads better bare

// The slope from a to b is at most this, whatever the two values within their bounds.
double slope_up(const ConcaveSample& a, const ConcaveSample& b) {
  const double rise = subtract_up(b.value.upper, a.value.lower);
  const double least = subtract_down(b.x.lower, a.x.upper);
  if (!(least > 0)) return HUGE_VAL;
  return rise >= 0 ? divide_up(rise, least) : divide_up(rise, subtract_up(b.x.upper, a.x.lower));
}

// And at least that.
double slope_down(const ConcaveSample& a, const ConcaveSample& b) {
  const double rise = subtract_down(b.value.lower, a.value.upper);
  const double least = subtract_down(b.x.lower, a.x.upper);
  if (!(least > 0)) return -HUGE_VAL;
  return rise <= 0 ? divide_down(rise, least)
                   : divide_down(rise, subtract_up(b.x.upper, a.x.lower));
}

// An upper bound of what a line of slope at most `slope` reaches at x, to the right of `from`.
double right_of(const ConcaveSample& from, double slope, double x) {
  const double most = std::max(0.0, subtract_up(x, from.x.lower));
  const double least = std::max(0.0, subtract_down(x, from.x.upper));
  const double way = slope >= 0 ? most : least;
  return way == 0 ? from.value.upper : add_up(from.value.upper, multiply_up(slope, way));
}

// The same to the left of `from`, where the slope is at least `slope`.
double left_of(const ConcaveSample& from, double slope, double x) {
  const double most = std::max(0.0, subtract_up(from.x.upper, x));
  const double least = std::max(0.0, subtract_down(from.x.lower, x));
  const double way = slope <= 0 ? most : least;
  return way == 0 ? from.value.upper : add_up(from.value.upper, multiply_up(-slope, way));
}

double middle(const Bounds& bounds) { return bounds.lower + (bounds.upper - bounds.lower) / 2; }

// Where the two lines meet, near enough: every place between gives a bound.
double meeting(const ConcaveSample& a, double rise, const ConcaveSample& b, double fall) {
  const double left = middle(a.x);
  const double right = middle(b.x);
  if (!std::isfinite(rise) && !std::isfinite(fall)) return left + (right - left) / 2;
  if (!std::isfinite(rise)) return a.x.lower;
  if (!std::isfinite(fall)) return b.x.upper;
  if (!(rise > fall)) return left + (right - left) / 2;
  const double at = (b.value.upper - a.value.upper + rise * left - fall * right) / (rise - fall);
  return std::clamp(at, left, right);
}

}  // namespace

Supremum concave_supremum(const std::vector<ConcaveSample>& samples, const EndSlopes& slopes) {
  Supremum best{{-HUGE_VAL, -HUGE_VAL}, 0, 0};
  const auto width = [](const ConcaveSample& s) { return s.value.upper - s.value.lower; };
  for (const ConcaveSample& sample : samples) {
    best.value.lower = std::max(best.value.lower, sample.value.lower);
    if (sample.value.upper > best.value.upper) {
      best.value.upper = sample.value.upper;
      best.where = middle(sample.x);
      best.floor = width(sample);
    }
  }
  const std::size_t last = samples.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    const ConcaveSample& a = samples[i];
    const ConcaveSample& b = samples[i + 1];
    const double rise = i == 0 ? slopes.first : slope_up(samples[i - 1], a);
    const double fall = i + 1 == last ? slopes.last : slope_down(b, samples[i + 2]);
    const double at = meeting(a, rise, b, fall);
    // Left of the meeting place the one line is an upper bound, right of it the other; each is
    // largest at one of its ends, and the ends at the samples are counted already.
    const double over = std::max(right_of(a, rise, at), left_of(b, fall, at));
    if (over > best.value.upper) {
      best.value.upper = over;
      best.where = at;
      best.floor = std::min(width(a), width(b));
    }
  }
  return best;
}

}  // namespace shoal::privacy
