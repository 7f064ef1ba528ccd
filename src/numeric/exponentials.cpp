#include <shoal/numeric/exponentials.hpp>
#include <shoal/numeric/four_numbers.hpp>

#include <algorithm>

namespace shoal::numeric {
namespace {

SHOAL_INLINE void four_at(double* at, double largest) {
  Four below;
  load(at, below);
  below = largest - below;
  Four result = below;
  exponential_of_minus(result);
  result = below < kFarthest ? result : Four{};
  store(result, at);
}

SHOAL_INLINE void all_of(double* values, std::size_t count, double largest) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) four_at(values + i, largest);
  if (i == count) return;
  double rest[kLanes] = {largest, largest, largest, largest};
  std::copy(values + i, values + count, rest);
  four_at(rest, largest);
  std::copy(rest, rest + (count - i), values + i);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void all_avx2(double* values, std::size_t count, double largest) {
  all_of(values, count, largest);
}
#endif

}  // namespace

void exponentials(std::span<double> values, double largest) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return all_avx2(values.data(), values.size(), largest);
#endif
  all_of(values.data(), values.size(), largest);
}

}  // namespace shoal::numeric
