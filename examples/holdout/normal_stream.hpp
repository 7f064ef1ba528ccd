// Normal numbers for made-up data, fast and reproducible: a ziggurat (Marsaglia and Tsang 2000) on
// splitmix64. For data that stand for a population, never for noise that protects anybody.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace shoal::example {

class NormalStream {
 public:
  explicit NormalStream(std::uint64_t seed) : state_(seed * 0xD1342543DE82EF95u + 1) {}

  std::uint64_t next_bits() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  double uniform() { return (static_cast<double>(next_bits() >> 12) + 0.5) * 0x1p-52; }

  double next() {
    static const Tables tables;
    for (;;) {
      const std::uint64_t bits = next_bits();
      const std::size_t layer = bits & 127;
      const double x = static_cast<double>(static_cast<std::int64_t>(bits) >> 11) * 0x1p-52 *
                       tables.width[layer];
      if (std::abs(x) < tables.width[layer + 1]) return x;
      if (layer == 0) return tail(x > 0);
      const double low = tables.height[layer];
      const double high = tables.height[layer + 1];
      if (low + uniform() * (high - low) < std::exp(-x * x / 2)) return x;
    }
  }

 private:
  static constexpr double kEdge = 3.442619855899;
  static constexpr double kArea = 9.91256303526217e-3;

  // 128 layers of one area; layer 0 holds the tail.
  struct Tables {
    std::array<double, 129> width{};
    std::array<double, 129> height{};
    Tables() {
      width[0] = kArea / std::exp(-kEdge * kEdge / 2);
      width[1] = kEdge;
      for (std::size_t i = 2; i < 128; ++i) {
        const double before = width[i - 1];
        width[i] = std::sqrt(-2 * std::log(kArea / before + std::exp(-before * before / 2)));
      }
      width[128] = 0;
      for (std::size_t i = 0; i < 129; ++i) height[i] = std::exp(-width[i] * width[i] / 2);
    }
  };

  double tail(bool positive) {
    for (;;) {
      const double x = -std::log(uniform()) / kEdge;
      const double y = -std::log(uniform());
      if (y + y > x * x) return positive ? kEdge + x : -kEdge - x;
    }
  }

  std::uint64_t state_;
};

}  // namespace shoal::example
