#include "synth/cell_kernels.hpp"

namespace shoal::synth {
namespace {

using numeric::Four;
using numeric::kLanes;
using numeric::load;
using numeric::store;

template <bool add, bool multiply>
SHOAL_INLINE void four_at(const Four& factors, const double* from, double* to, const double* with,
                          Four& sum) {
  Four at;
  Four by;
  load(to, at);
  if constexpr (add) {
    load(from, by);
    at += factors * by;
    store(at, to);
  }
  if constexpr (multiply) {
    load(with, by);
    sum += at * by;
  }
}

template <bool add, bool multiply>
SHOAL_INLINE double add_and_dot(double factor, const double* from, double* to, const double* with,
                                std::size_t many) {
  Four even{};
  Four odd{};
  const Four factors = Four{} + factor;
  std::size_t i = 0;
  for (; i + 2 * kLanes <= many; i += 2 * kLanes) {
    four_at<add, multiply>(factors, from + i, to + i, with + i, even);
    four_at<add, multiply>(factors, from + i + kLanes, to + i + kLanes, with + i + kLanes, odd);
  }
  const Four sum = even + odd;
  double rest = 0;
  for (; i < many; ++i) {
    if constexpr (add) to[i] += factor * from[i];
    if constexpr (multiply) rest += to[i] * with[i];
  }
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

#if defined(__x86_64__)
#define SHOAL_AVX2 __attribute__((target("avx2")))
SHOAL_AVX2 double largest_avx2(const double* from, std::size_t many) {
  return largest_of_cells(from, many);
}
template <bool add, bool multiply>
SHOAL_AVX2 double add_and_dot_avx2(double factor, const double* from, double* to,
                                   const double* with, std::size_t many) {
  return add_and_dot<add, multiply>(factor, from, to, with, many);
}
#endif

template <bool add, bool multiply>
double choose(double factor, const double* from, double* to, const double* with, std::size_t many) {
#if defined(__x86_64__)
  if (has_avx2()) return add_and_dot_avx2<add, multiply>(factor, from, to, with, many);
#endif
  return add_and_dot<add, multiply>(factor, from, to, with, many);
}

}  // namespace

bool has_avx2() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
#else
  return false;
#endif
}

double largest_of(std::span<const double> cells) {
#if defined(__x86_64__)
  if (has_avx2()) return largest_avx2(cells.data(), cells.size());
#endif
  return largest_of_cells(cells.data(), cells.size());
}

void add_scaled(double factor, std::span<const double> from, std::span<double> to) {
  choose<true, false>(factor, from.data(), to.data(), to.data(), to.size());
}

double dot(std::span<const double> a, std::span<const double> b) {
  // Nothing is written.
  return choose<false, true>(0, a.data(), const_cast<double*>(a.data()), b.data(), a.size());
}

double add_scaled_and_dot(double factor, std::span<const double> from, std::span<double> to,
                          std::span<const double> with) {
  return choose<true, true>(factor, from.data(), to.data(), with.data(), to.size());
}

}  // namespace shoal::synth
