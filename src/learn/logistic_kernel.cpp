#include "learn/logistic_kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace shoal::learn {
namespace {

#define SHOAL_INLINE __attribute__((always_inline)) inline

// Four numbers at a time, by the compilers' vector types: with AVX2 one register, else two. GCC
// would not make vectors of the loops by itself, since comparisons may trap.
constexpr std::size_t kLanes = 4;
using Four = double __attribute__((vector_size(32)));
using FourWords = std::uint64_t __attribute__((vector_size(32)));

constexpr double kLog2E = 0x1.71547652b82fep+0;
// ln 2 in two parts: the first has 42 bits, so that its product with a whole number below 2^11 is
// exact.
constexpr double kLn2High = 0x1.62e42fefa38p-1;
constexpr double kLn2Low = 0x1.ef35793c7673p-45;
// Added to a number, its nearest whole number stands in the last bits.
constexpr double kWhole = 0x1.8p52;
constexpr double kFarthest = 700;

SHOAL_INLINE void load(const double* from, Four& to) { std::memcpy(&to, from, sizeof to); }
SHOAL_INLINE void store(const Four& from, double* to) { std::memcpy(to, &from, sizeof from); }

// In place of t, e^-t.
SHOAL_INLINE void exponential(Four& t) {
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

SHOAL_INLINE void absolute(Four& x) { x = (Four)((FourWords)x & ~(std::uint64_t{1} << 63)); }

enum class Wanted { slopes, curvatures };

template <Wanted wanted>
SHOAL_INLINE void derive_four(Four& z, const Four& y) {
  Four small = y * z;
  const Four margin = small;
  absolute(small);
  exponential(small);
  if constexpr (wanted == Wanted::slopes) {
    z = -y * ((margin > 0.0 ? small : Four{} + 1.0) / (1.0 + small));
  } else {
    const Four inverse = 1.0 / (1.0 + small);
    z = small * inverse * inverse;
  }
}

// Derivatives in place of predictions.
template <Wanted wanted>
SHOAL_INLINE void derive(double* z, const double* y, std::size_t count) {
  Four at;
  Four labels;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    load(z + i, at);
    load(y + i, labels);
    derive_four<wanted>(at, labels);
    store(at, z + i);
  }
  if (i == count) return;
  double rest[2][kLanes] = {};
  std::copy(z + i, z + count, rest[0]);
  std::copy(y + i, y + count, rest[1]);
  load(rest[0], at);
  load(rest[1], labels);
  derive_four<wanted>(at, labels);
  store(at, rest[0]);
  std::copy(rest[0], rest[0] + (count - i), z + i);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void slopes_avx2(double* z, const double* y, std::size_t count) {
  derive<Wanted::slopes>(z, y, count);
}
__attribute__((target("avx2"))) void curvatures_avx2(double* z, const double* y,
                                                     std::size_t count) {
  derive<Wanted::curvatures>(z, y, count);
}
bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

}  // namespace

double exp_of_minus(double t) {
  Four four = Four{} + t;
  exponential(four);
  return four[0];
}

void logistic_slopes(double* z, const double* y, std::size_t count) {
#if defined(__x86_64__)
  if (has_avx2()) return slopes_avx2(z, y, count);
#endif
  derive<Wanted::slopes>(z, y, count);
}

void logistic_curvatures(double* z, const double* y, std::size_t count) {
#if defined(__x86_64__)
  if (has_avx2()) return curvatures_avx2(z, y, count);
#endif
  derive<Wanted::curvatures>(z, y, count);
}

}  // namespace shoal::learn
