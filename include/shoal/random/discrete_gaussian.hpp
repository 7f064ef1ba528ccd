// Discrete Gaussian noise, sampled exactly: P(x) proportional to exp(-x^2 / (2 sigma^2)) on the
// integers, where sigma is the exact value of the double. Never clamped. Proof:
// src/random/exact_sampling.proof.md.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace shoal::random {

class NoiseLaw;

// One sigma, prepared once. Immutable: threads may share it, each with its own source.
class DiscreteGaussianSampler {
 public:
  // Throws invalid_argument unless kMinScale <= sigma <= kMaxScale.
  explicit DiscreteGaussianSampler(double sigma);

  // Neither time nor bits depend on the values: trials that are rejected are rejected independently
  // of what is accepted. The exception is a word too close to a threshold, which is decided with
  // more bits: probability below 2^-23 for each value. Values beyond 64 bits have probability below
  // e^-10000 and end in an internal error, never in a wrong value.
  void fill(std::span<std::int64_t> values, BitSource& bits) const;
  Int128 sample(BitSource& bits) const;

 private:
  std::shared_ptr<const NoiseLaw> law_;
};

// One value. Who draws several of one sigma is faster with a sampler.
Int128 sample_discrete_gaussian(double sigma, BitSource& bits);

}  // namespace shoal::random
