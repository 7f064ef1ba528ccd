// Intervals of numbers: every operation gives an interval that holds the exact result for any
// operands inside theirs, rounded outward.
//
// An end may be infinite, which says nothing on that side. Where the result may be missing (a
// division by what may be zero, a root of what may be negative) the interval is the whole line:
// whoever substitutes something for the missing value must not be told a range that leaves it out.
#pragma once

#include <limits>

namespace shoal::plan {

struct Interval {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  static Interval point(double value) { return {value, value}; }
  bool contains(double value) const { return lower <= value && value <= upper; }
  bool is_finite() const;
  // Neither end known.
  bool is_everything() const;
  bool operator==(const Interval&) const = default;
};

// The smallest interval that holds both.
Interval hull(const Interval& a, const Interval& b);

Interval add(const Interval& a, const Interval& b);
Interval subtract(const Interval& a, const Interval& b);
Interval multiply(const Interval& a, const Interval& b);
Interval divide(const Interval& a, const Interval& b);
// The remainder that has the sign of a.
Interval modulo(const Interval& a, const Interval& b);
Interval negate(const Interval& a);
Interval absolute(const Interval& a);
Interval greatest(const Interval& a, const Interval& b);
Interval least(const Interval& a, const Interval& b);
Interval square_root(const Interval& a);
Interval natural_log(const Interval& a);
Interval log_base(const Interval& a, double base);
Interval exponential(const Interval& a);
Interval power(const Interval& base, const Interval& exponent);

}  // namespace shoal::plan
