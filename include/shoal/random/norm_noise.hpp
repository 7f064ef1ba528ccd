// Rotation-invariant noise on the grid, sampled exactly: the integer vector nearest to an ideal
// draw b of density proportional to exp(-|b| / scale), |b| the Euclidean norm, where the scale is
// the exact value of the double.
//
// The ideal draw is radius * direction: the radius is scale times the sum of `dimension`
// independent exponentials, the direction a vector of independent normals over its norm. All of
// them are drawn to a few dozen digits, every coordinate is evaluated with bounds on both sides,
// and if one of them does not round to a single integer yet, more digits are drawn. So the law is
// that of the rounded ideal draw, not of an approximation. Argument:
// src/mechanism/norm_noise.proof.md.
//
// The time of a draw depends on the noise drawn, never on any data: a sampler sees none.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <vector>

namespace shoal::random {

inline constexpr std::int64_t kMaxNormDimension = std::int64_t{1} << 20;

// Throws invalid_argument unless kMinScale <= scale <= kMaxScale and 1 <= dimension <=
// kMaxNormDimension.
void check_norm_noise(double scale, std::int64_t dimension);

// How many digits behind the point are drawn at first. As many as make a second look rare, unless a
// test asks for few: that makes no difference to the law, only to the time.
enum class FirstDigits { usual, few };

// `dimension` integers, never clamped. Throws as check_norm_noise does.
std::vector<Int128> sample_norm_noise(double scale, std::int64_t dimension, BitSource& bits,
                                      FirstDigits digits = FirstDigits::usual);

}  // namespace shoal::random
