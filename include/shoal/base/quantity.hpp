// Strong types for the quantities that a guarantee is made of, so that two doubles cannot be
// swapped. Each is validated when made and immutable afterwards.
#pragma once

#include <compare>

namespace shoal {

// Largest epsilon that Shoal takes from anyone: beyond it the word "private" has no meaning left.
inline constexpr double kMaxEpsilon = 1000.0;

// A privacy loss bound, finite, in [0, kMaxEpsilon].
class Epsilon {
 public:
  explicit Epsilon(double value);
  double value() const { return value_; }
  auto operator<=>(const Epsilon&) const = default;

 private:
  double value_;
};

// The probability that the epsilon bound may fail, in [0, 1).
class Delta {
 public:
  explicit Delta(double value);
  double value() const { return value_; }
  auto operator<=>(const Delta&) const = default;

 private:
  double value_;
};

// Zero-concentrated differential privacy: finite, not negative.
class Rho {
 public:
  explicit Rho(double value);
  double value() const { return value_; }
  auto operator<=>(const Rho&) const = default;

 private:
  double value_;
};

// The chance with which an error interval covers, in (0, 1).
class Confidence {
 public:
  explicit Confidence(double value);
  double value() const { return value_; }
  auto operator<=>(const Confidence&) const = default;

 private:
  double value_;
};

// How far an integer statistic moves between neighbouring tables: a positive integer number of grid
// steps.
class Sensitivity {
 public:
  explicit Sensitivity(long long steps);
  long long steps() const { return steps_; }
  auto operator<=>(const Sensitivity&) const = default;

 private:
  long long steps_;
};

}  // namespace shoal
