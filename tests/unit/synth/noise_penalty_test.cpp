// What a fit keeps of noise, against tables that were drawn and kept from 0 and to their sum.
#include "synth/noise_penalty.hpp"

#include "support/seeded_source.hpp"

#include <shoal/random/rounded_normal.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace shoal::synth {
namespace {

// Less the same in each cell and never below 0, so that the sum is this: halved down to it.
std::vector<double> kept(std::vector<double> noisy, double total) {
  double low = -total;
  double high = *std::max_element(noisy.begin(), noisy.end());
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    double sum = 0;
    for (const double count : noisy) sum += std::max(0.0, count - middle);
    (sum > total ? low : high) = middle;
  }
  for (double& count : noisy) count = std::max(0.0, count - low);
  return noisy;
}

double drawn_norm(const std::vector<double>& counts, double sigma, std::uint64_t seed) {
  constexpr int kDraws = 100;
  test::SeededSource bits(seed);
  const random::RoundedNormalSampler sampler(0x1p30);
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  double sum = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<std::int64_t> noise(counts.size());
    sampler.fill(noise, bits);
    std::vector<double> noisy = counts;
    for (std::size_t i = 0; i < noisy.size(); ++i) {
      noisy[i] += sigma * static_cast<double>(noise[i]) * 0x1p-30;
    }
    const std::vector<double> left = kept(noisy, total);
    for (std::size_t i = 0; i < left.size(); ++i) sum += std::abs(left[i] - counts[i]);
  }
  return sum / kDraws;
}

struct Shape {
  const char* name;
  std::vector<double> counts;
};

std::vector<Shape> shapes() {
  std::vector<double> few(900, 0.0);
  few[7] = few[300] = few[801] = 2000 / 3.0;
  std::vector<double> falling(2000);
  for (std::size_t i = 0; i < falling.size(); ++i) {
    falling[i] = 1e5 / std::pow(static_cast<double>(i + 1), 1.5);
  }
  return {{"few", few}, {"falling", falling}, {"even", std::vector<double>(500, 40.0)}};
}

TEST(NoisePenaltyTest, IsWhatDrawnTablesKeep) {
  for (const Shape& shape : shapes()) {
    for (const double sigma : {3.0, 30.0, 300.0}) {
      const double drawn = drawn_norm(shape.counts, sigma, 5);
      EXPECT_NEAR(kept_noise_norm(shape.counts, sigma), drawn, 0.05 * drawn)
          << shape.name << " " << sigma;
    }
  }
}

TEST(NoisePenaltyTest, IsTheNoiseOfLargeCountsAndFarLessInEmptyCells) {
  const std::vector<double> large(500, 1e6);
  EXPECT_NEAR(kept_noise_norm(large, 10), noise_norm(500, 10), 1e-3 * noise_norm(500, 10));
  EXPECT_LT(kept_noise_norm(shapes()[0].counts, 30), 0.05 * noise_norm(900, 30));
}

TEST(NoisePenaltyTest, IsFiniteForTablesOfNothingAndOfOneCell) {
  EXPECT_NEAR(kept_noise_norm(std::vector<double>(10, 0.0), 5), 0, 1e-6);
  const double one = kept_noise_norm(std::vector<double>{100.0}, 5);
  EXPECT_GE(one, 0);
  EXPECT_LE(one, noise_norm(1, 5));
}

}  // namespace
}  // namespace shoal::synth
