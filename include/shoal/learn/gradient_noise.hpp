// Private sums of gradients: each row's gradient is clipped to a public norm and put on a grid by
// itself, the steps are added as integers, and every coordinate of the sum gets exact rounded
// Gaussian noise. Proof: src/learn/gradient_sums.proof.md.
#pragma once

#include <shoal/learn/problem.hpp>

#include <cstddef>
#include <optional>

namespace shoal::learn {

struct GradientNoise {
  double clip = 0;   // a row's gradient is scaled down to this norm; softmax: Frobenius norm
  int exponent = 0;  // then truncated to multiples of 2^exponent
  double sigma = 0;  // of the noise of each coordinate of a sum, in steps of that grid
  bool operator==(const GradientNoise&) const = default;
};

// How far the sum, as integers, moves in norm when a row comes or goes; rounded up. Replacing a row
// moves it by up to twice that.
double gradient_sensitivity(const GradientNoise& noise);

// A grid for gradients of norm `clip` and noise of `noise_ratio` times that: as fine as is useful,
// and so coarse that the noise can be drawn. Throws invalid_argument if there is none.
int gradient_exponent(double clip, double noise_ratio);

// The clip that is asked for or, without, the problem's own bound, at which nothing is lost. Throws
// invalid_argument if it is not positive and finite, or there is neither.
double clip_or_bound(const Problem& problem, std::optional<double> clip);

// Throws invalid_argument for parts out of range.
void validate(const GradientNoise& noise);

}  // namespace shoal::learn
