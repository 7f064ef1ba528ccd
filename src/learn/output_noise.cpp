#include <shoal/base/error.hpp>
#include <shoal/base/int128.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/output_noise.hpp>
#include <shoal/mechanism/gaussian_calibration.hpp>
#include <shoal/mechanism/norm_noise.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/random/norm_noise.hpp>
#include <shoal/random/rounded_normal.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

using numeric::add_up;
using numeric::multiply_up;
using numeric::sqrt_up;

// Weights beyond this many steps are clamped, which moves no two of them apart.
constexpr long double kMostSteps = 0x1p62L;

double root(std::size_t dimension) { return sqrt_up(static_cast<double>(dimension)); }

Int128 steps_of(long double weight, int exponent) {
  const long double scaled = std::ldexp(weight, -exponent);
  if (std::isnan(scaled)) return 0;
  return static_cast<Int128>(std::nearbyint(std::clamp(scaled, -kMostSteps, kMostSteps)));
}

std::vector<Int128> draw(const OutputNoise& noise, std::size_t dimension, random::BitSource& bits) {
  if (noise.shape == NoiseShape::norm) {
    return random::sample_norm_noise(noise.scale, static_cast<std::int64_t>(dimension), bits);
  }
  const random::RoundedNormalSampler sampler(noise.scale);
  std::vector<Int128> values(dimension);
  for (Int128& value : values) value = sampler.sample(bits);
  return values;
}

}  // namespace

double grid_sensitivity(double distance, int exponent, std::size_t dimension) {
  // Scaling by a power of two is exact but for underflow, which the step up covers.
  const double steps = numeric::step_up(std::ldexp(distance, -exponent));
  return add_up(steps, root(dimension));
}

int fine_exponent(double distance, std::size_t dimension) {
  return std::ilogb(distance / root(dimension)) - 6;
}

OutputNoise calibrate_output_noise(double distance, std::size_t dimension, Epsilon epsilon,
                                   Delta delta) {
  if (!(distance > 0 && std::isfinite(distance))) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("weights move by {}; noise needs a distance that is positive and finite",
                    format_number(distance)));
  }
  OutputNoise noise;
  noise.exponent = fine_exponent(distance, dimension);
  const double steps = grid_sensitivity(distance, noise.exponent, dimension);
  if (delta.value() > 0) {
    noise.shape = NoiseShape::gaussian;
    noise.scale = mechanism::analytic_gaussian_sigma(steps, epsilon, delta);
  } else {
    noise.shape = NoiseShape::norm;
    noise.scale =
        mechanism::calibrate_norm_noise(steps, static_cast<std::int64_t>(dimension), epsilon).scale;
  }
  random::check_scale(noise.scale, "noise of the released weights, in grid steps,");
  return noise;
}

double output_epsilon_up(const OutputNoise& noise, double distance, std::size_t dimension) {
  SHOAL_CHECK(noise.shape == NoiseShape::norm);
  return numeric::divide_up(grid_sensitivity(distance, noise.exponent, dimension), noise.scale);
}

double output_delta_up(const OutputNoise& noise, double distance, std::size_t dimension,
                       double epsilon) {
  SHOAL_CHECK(noise.shape == NoiseShape::gaussian);
  return numeric::gaussian_delta_up(noise.scale,
                                    grid_sensitivity(distance, noise.exponent, dimension), epsilon);
}

std::vector<double> add_output_noise(std::span<const double> weights, const OutputNoise& noise,
                                     random::BitSource& bits) {
  return add_output_noise(std::vector<long double>(weights.begin(), weights.end()), noise, bits);
}

std::vector<double> add_output_noise(std::span<const long double> weights, const OutputNoise& noise,
                                     random::BitSource& bits) {
  const std::vector<Int128> drawn = draw(noise, weights.size(), bits);
  std::vector<double> released;
  released.reserve(weights.size());
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const Int128 sum = saturating_add(steps_of(weights[j], noise.exponent), drawn[j]);
    released.push_back(std::ldexp(static_cast<double>(sum), noise.exponent));
  }
  return released;
}

}  // namespace shoal::learn
