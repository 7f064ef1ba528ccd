// A law of integer noise, prepared for one scale, however it is sampled.
#pragma once

#include "random/kernel.hpp"

#include <shoal/base/int128.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace shoal::random {

class NoiseLaw {
 public:
  NoiseLaw() = default;
  NoiseLaw(const NoiseLaw&) = delete;
  NoiseLaw& operator=(const NoiseLaw&) = delete;
  virtual ~NoiseLaw() = default;

  // Independent values. The same bits give the same values on every kernel.
  virtual void fill(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const = 0;

  Int128 sample(BitSource& bits) const {
    std::int64_t value = 0;
    fill({&value, 1}, bits, best_kernel());
    return value;
  }
};

enum class LaplaceKind { geometric, discrete, rounded };
enum class GaussianKind { discrete, rounded };

// Digits up to this scale, trials above: fewer words then.
inline constexpr double kLargestDigitScale = 1024;
// One word against the whole law below this sigma (discrete only), trials from it on.
inline constexpr double kFoldedSigma = 36;

// Throw invalid_argument unless kMinScale <= scale, sigma <= kMaxScale.
std::shared_ptr<const NoiseLaw> make_laplace_law(double scale, LaplaceKind kind);
std::shared_ptr<const NoiseLaw> make_gaussian_law(double sigma, GaussianKind kind);

}  // namespace shoal::random
