// Four doubles at a time, by the compilers' vector types: with AVX2 one register, else two. For
// kernels whose loops compilers would not make vectors of by themselves, since comparisons may
// trap. A kernel that includes this is compiled twice, once of it for AVX2; both give the same
// numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#define SHOAL_INLINE __attribute__((always_inline)) inline

namespace shoal::numeric {

inline constexpr std::size_t kLanes = 4;
using Four = double __attribute__((vector_size(32)));
using FourWords = std::uint64_t __attribute__((vector_size(32)));

SHOAL_INLINE void load(const double* from, Four& to) { std::memcpy(&to, from, sizeof to); }
SHOAL_INLINE void store(const Four& from, double* to) { std::memcpy(to, &from, sizeof from); }

// Beyond this, e^-t is taken for e^-700.
inline constexpr double kFarthest = 700;

// In place of t >= 0, e^-t: off by at most 6 units of 2^-53 relatively up to t = 700, and e^-700
// beyond. Proof: src/learn/certificate.proof.md.
SHOAL_INLINE void exponential_of_minus(Four& t) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  // ln 2 in two parts: the first has 42 bits, so that its product with a whole number below 2^11 is
  // exact.
  constexpr double kLn2High = 0x1.62e42fefa38p-1;
  constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  // Added to a number, its nearest whole number stands in the last bits.
  constexpr double kWhole = 0x1.8p52;
  const Four far = t < kFarthest ? t : Four{} + kFarthest;
  const Four shifted = far * kLog2E + kWhole;
  const Four n = shifted - kWhole;
  const Four r = (far - n * kLn2High) - n * kLn2Low;
  // Taylor's series of e^-r for |r| <= 0.347.
  Four p = r * (-1.0 / 6227020800) + 1.0 / 479001600;
  p = p * r - 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r - 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r - 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r - 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r - 1.0 / 6;
  p = p * r + 0.5;
  p = p * r - 1.0;
  p = p * r + 1.0;
  // 2^-n: the last twelve bits of `shifted` are n.
  const FourWords power = (1023 - (FourWords)shifted) << 52;
  t = p * (Four)power;
}

}  // namespace shoal::numeric
