// The last step of every method whose solver is not exact: the weights are put on a grid and get
// exact rounded noise, which covers how far two solvers may be apart at the same ideal result.
// Proof: src/learn/output_noise.proof.md.
#pragma once

#include <shoal/base/quantity.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace shoal::learn {

// Noise of each coordinate (Gaussian) or of the whole vector (norm: density falls with the
// Euclidean norm, for pure differential privacy).
enum class NoiseShape { gaussian, norm };

struct OutputNoise {
  NoiseShape shape = NoiseShape::gaussian;
  int exponent = 0;  // weights are multiples of 2^exponent
  double scale = 0;  // sigma, or the norm noise's scale, in steps of that grid
  bool operator==(const OutputNoise&) const = default;
};

// How far weights on the grid move, in steps, if the weights themselves move by `distance`; rounded
// up.
double grid_sensitivity(double distance, int exponent, std::size_t dimension);

// Of a grid so fine that rounding to it adds less than a fiftieth to `distance`.
int fine_exponent(double distance, std::size_t dimension);

// The least noise that hides a move of `distance` within (epsilon, delta), on that grid. A delta of
// 0 asks for norm noise. Throws invalid_argument if there is no such noise.
OutputNoise calibrate_output_noise(double distance, std::size_t dimension, Epsilon epsilon,
                                   Delta delta);

// The epsilon (norm noise) or the delta at epsilon (Gaussian) of hiding a move of `distance`,
// rounded up.
double output_epsilon_up(const OutputNoise& noise, double distance, std::size_t dimension);
double output_delta_up(const OutputNoise& noise, double distance, std::size_t dimension,
                       double epsilon);

// The weights on the grid, with noise. The noise is drawn before the weights are looked at.
std::vector<double> add_output_noise(std::span<const double> weights, const OutputNoise& noise,
                                     random::BitSource& bits);
std::vector<double> add_output_noise(std::span<const long double> weights, const OutputNoise& noise,
                                     random::BitSource& bits);

}  // namespace shoal::learn
