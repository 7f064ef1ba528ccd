// Rotation-invariant noise for a vector on the grid: the integer vector nearest to an ideal draw b
// of density proportional to exp(-|b| / scale), |b| the Euclidean norm. It gives pure differential
// privacy for an L2 sensitivity, at an error of about dimension * scale in norm: the noise of
// output perturbation. Proof note: src/mechanism/norm_noise.proof.md.
//
// The claim is about a vector of integers to which this noise is added and which is then released.
// It is not about rounded noise inside an objective that is minimised afterwards: there rounding is
// no post-processing (see the proof note).
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::mechanism {

// The double stands for its exact value, in grid steps, from 2^-10 to 2^50; dimension from 1 to
// 2^20.
struct NormNoise {
  double scale = 0;            // to be set: 0 is refused
  std::int64_t dimension = 0;  // to be set: 0 is refused
  bool operator==(const NormNoise&) const = default;
};

// Throws invalid_argument if a parameter is out of range; so does every other function here.
void validate(const NormNoise& spec);

// Exact noise, `dimension` integers. Throws unavailable if there are no bits.
std::vector<Int128> sample(const NormNoise& spec, random::BitSource& bits);

// Natural logarithm of the ideal density at b, an approximation: for audits and tests. Throws
// invalid_argument if b has another dimension.
double log_density(const NormNoise& spec, std::span<const double> b);

// What adding this noise does to the data, for a vector of integers that moves by at most
// `l2_sensitivity` in L2 norm between neighbours: pure, l2_sensitivity / scale, rounded up. Throws
// invalid_argument unless the sensitivity is finite and not negative.
privacy::Event privacy_event(const NormNoise& spec, double l2_sensitivity);

// The smallest noise of this kind with privacy event at most epsilon. Throws invalid_argument if
// epsilon is 0, the sensitivity not positive, or the scale beyond 2^50.
NormNoise calibrate_norm_noise(double l2_sensitivity, std::int64_t dimension, Epsilon epsilon);

// A w with P(|noise| <= w) >= confidence, in Euclidean norm: the certified quantile of the radius
// (its mean, scale * dimension, if that is larger), and sqrt(dimension) / 2 for the rounding.
double norm_interval(const NormNoise& spec, Confidence confidence);

// A w with P(|noise[i]| <= w) >= confidence, for one coordinate and for all of them at once.
// Certified by a Chernoff bound (exact for dimension 1): at confidences from 0.9 on at most twice
// as wide as need be.
Int128 coordinate_interval(const NormNoise& spec, Confidence confidence);
Int128 simultaneous_interval(const NormNoise& spec, Confidence confidence);

std::string_view name(const NormNoise& spec);
std::string describe(const NormNoise& spec);

}  // namespace shoal::mechanism
