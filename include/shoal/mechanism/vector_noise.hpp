// Noise for a vector of integers, released as one: how far the vector can move (in three norms),
// the noise that this needs, the noise itself, what it costs and how far off it is. Proof note:
// src/mechanism/vector_noise.proof.md.
//
// Every coordinate gets independent noise of one spec of the registry. For noise that is not
// independent see norm_noise.hpp.
#pragma once

#include <shoal/base/quantity.hpp>
#include <shoal/mechanism/registry.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace shoal::mechanism {

inline constexpr std::int64_t kMaxVectorDimension = std::int64_t{1} << 40;

// How far a vector of integers moves between neighbours: at most so much in each norm. Made from a
// bound in one norm; the others follow, rounded up, and use that the coordinates are integers.
class VectorSensitivity {
 public:
  // Each throws invalid_argument unless 1 <= dimension <= kMaxVectorDimension.
  static VectorSensitivity from_l1(Sensitivity steps, std::int64_t dimension);
  static VectorSensitivity from_linf(Sensitivity steps, std::int64_t dimension);
  // Throws invalid_argument unless the norm is finite and at least 1: a smaller one moves nothing.
  static VectorSensitivity from_l2(double norm, std::int64_t dimension);

  // Both bounds hold: the smaller in each norm, and L2^2 <= L1 Linf. A histogram in which one row
  // is replaced is from_l1(2, d).and_also(from_linf(1, d)), with an L2 of sqrt 2. Throws
  // invalid_argument if the dimensions differ.
  VectorSensitivity and_also(const VectorSensitivity& other) const;

  double l1() const { return l1_; }
  double l2() const { return l2_; }
  double linf() const { return linf_; }
  std::int64_t dimension() const { return dimension_; }
  bool operator==(const VectorSensitivity&) const = default;

 private:
  VectorSensitivity(double l1, double l2, double linf, std::int64_t dimension);

  double l1_;
  double l2_;
  double linf_;
  std::int64_t dimension_;
};

// The least noise of its kind for the privacy asked, rounded up. Each throws invalid_argument if
// the privacy is 0 or the noise would be beyond 2^50 grid steps.
DiscreteLaplace calibrate_laplace(const VectorSensitivity& sensitivity, Epsilon epsilon);
RoundedGaussian calibrate_gaussian(const VectorSensitivity& sensitivity, Epsilon epsilon,
                                   Delta delta);
DiscreteGaussian calibrate_zcdp(const VectorSensitivity& sensitivity, Rho rho);

// The event of adding independent noise of this spec to every coordinate:
//   Laplace noise (discrete, rounded)   pure, L1 / scale
//   discrete Gaussian                   zcdp, L2^2 / (2 sigma^2)
//   rounded Gaussian                    gaussian{sigma, L2}
privacy::Event vector_event(const AnyMechanism& spec, const VectorSensitivity& sensitivity);

// `count` independent draws.
std::vector<Int128> sample_many(const AnyMechanism& spec, std::size_t count,
                                random::BitSource& bits);

// The vector with noise. All of the noise is drawn before a value is looked at, so neither the bits
// nor the time of drawing depend on the values; sums that leave 128 bits are saturated afterwards.
std::vector<Int128> add_noise(std::span<const Int128> values, const AnyMechanism& spec,
                              random::BitSource& bits);

// A w with P(|noise[i]| <= w for all i) >= confidence. For one coordinate it is error_interval.
// Throws invalid_argument for a dimension out of range, and for one so large that the share of a
// coordinate cannot be told from certainty.
Int128 simultaneous_interval(const AnyMechanism& spec, std::int64_t dimension,
                             Confidence confidence);

// A w with P(|noise| <= w) >= confidence, in Euclidean norm. For Gaussian noise close to the best
// (Laurent and Massart); for Laplace noise sqrt(dimension) times the simultaneous interval, which
// is wide by a logarithm of the dimension. Throws as simultaneous_interval does.
double norm_interval(const AnyMechanism& spec, std::int64_t dimension, Confidence confidence);

}  // namespace shoal::mechanism
