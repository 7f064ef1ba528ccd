#include "learn/logistic_kernel.hpp"

#include <shoal/numeric/four_numbers.hpp>

#include <algorithm>
#include <cstdint>

namespace shoal::learn {
namespace {

using numeric::Four;
using numeric::FourWords;
using numeric::kLanes;
using numeric::load;
using numeric::store;

SHOAL_INLINE void absolute(Four& x) { x = (Four)((FourWords)x & ~(std::uint64_t{1} << 63)); }

enum class Wanted { slopes, curvatures };

template <Wanted wanted>
SHOAL_INLINE void derive_four(Four& z, const Four& y) {
  Four small = y * z;
  const Four margin = small;
  absolute(small);
  numeric::exponential_of_minus(small);
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
  numeric::exponential_of_minus(four);
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
