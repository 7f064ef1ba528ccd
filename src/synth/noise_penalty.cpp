#include "synth/noise_penalty.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace shoal::synth {
namespace {

constexpr double kRootHalf = 1 / std::numbers::sqrt2;

// Of a standard normal number.
double density(double x) { return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi * kRootHalf; }
double below(double x) { return std::erfc(-x * kRootHalf) / 2; }

// Cells of about the same count; all in units of sigma.
struct Alike {
  double cells = 0;
  double count = 0;  // of each, their mean
};

// By half powers of two, from 2^-16 to 2^16 sigma; what is beyond goes with the last.
std::vector<Alike> gather(std::span<const double> expected, double sigma) {
  constexpr int kMiddle = 32;
  std::array<Alike, 2 * kMiddle + 1> all{};
  for (const double one : expected) {
    const double count = one / sigma;
    int power = -kMiddle;
    const double fraction = count > 0 ? std::frexp(count, &power) : 0;
    const int half = fraction > kRootHalf ? 1 : 0;
    const int place = std::clamp(2 * power + half, -kMiddle, kMiddle) + kMiddle;
    Alike& alike = all[static_cast<std::size_t>(place)];
    alike.cells += 1;
    alike.count += count;
  }
  std::vector<Alike> some;
  for (const Alike& alike : all) {
    if (alike.cells > 0) some.push_back({alike.cells, alike.count / alike.cells});
  }
  return some;
}

// What is taken from all noisy counts: the sum of what is left falls in it and is convex, so
// Newton's steps from 0 never go beyond.
double taken_from(std::span<const Alike> table) {
  constexpr int kMaxSteps = 60;
  double total = 0;
  for (const Alike& alike : table) total += alike.cells * alike.count;
  double taken = 0;
  for (int step = 0; step < kMaxSteps; ++step) {
    double excess = -total;
    double slope = 0;
    for (const Alike& alike : table) {
      const double left = alike.count - taken;
      excess += alike.cells * (left * below(left) + density(left));
      slope += alike.cells * below(left);
    }
    if (!(slope > 0 && excess > 1e-6 * total)) break;
    taken += excess / slope;
  }
  return taken;
}

}  // namespace

double noise_norm(double cells, double sigma) {
  return std::sqrt(2 * std::numbers::inv_pi) * sigma * cells;
}

double kept_noise_norm(std::span<const double> expected, double sigma) {
  const std::vector<Alike> table = gather(expected, sigma);
  const double taken = taken_from(table);
  double sum = 0;
  for (const Alike& alike : table) {
    // The noise z of what is left is above this: then it is off by |z - taken|, else by the count.
    const double lowest = taken - alike.count;
    const double off =
        taken * (2 * below(taken) - below(lowest) - 1) + 2 * density(taken) - density(lowest);
    sum += alike.cells * (alike.count * below(lowest) + off);
  }
  return std::min(noise_norm(static_cast<double>(expected.size()), sigma), sigma * sum);
}

}  // namespace shoal::synth
