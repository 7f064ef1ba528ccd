// Geometric noise, sampled exactly: P(g) = (1 - q) q^g for g = 0, 1, 2, ..., q = e^(-1/scale),
// where the scale is the exact value of the double. It is also the integer part of scale times an
// exponential variable of mean one.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace shoal::random {

class NoiseLaw;

// One scale, prepared once. Immutable: threads may share it, each with its own source.
class GeometricSampler {
 public:
  // Throws invalid_argument unless kMinScale <= scale <= kMaxScale.
  explicit GeometricSampler(double scale);

  // Neither time nor bits depend on the values: trials that are rejected, at large scales, are
  // rejected independently of what is accepted. The exception is a word that falls on a threshold
  // or next to an acceptance, which is decided with more bits: probability below 2^-25 for each
  // value. Values beyond 64 bits have probability below e^-4096 and end in an internal error, never
  // in a wrong value.
  void fill(std::span<std::int64_t> values, BitSource& bits) const;
  Int128 sample(BitSource& bits) const;

 private:
  std::shared_ptr<const NoiseLaw> law_;
};

// One value. Who draws several of one scale is faster with a sampler.
Int128 sample_geometric(double scale, BitSource& bits);

}  // namespace shoal::random
