#include "compare_sums.hpp"

#include "measure.hpp"

#include <shoal/numeric/grid_sum.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <span>

namespace shoal::bench {
namespace {

// The loop that the exact sum replaces. Neither exact nor the same in another order.
[[gnu::noinline]] double naive_sum(std::span<const double> values, double low, double high) {
  double sum = 0;
  for (const double value : values) sum += std::clamp(value, low, high);
  return sum;
}

}  // namespace

void compare_sums(int rounds) {
  const numeric::GridBounds grid{-40, -(std::int64_t{1} << 40), std::int64_t{1} << 40};
  const numeric::GridBounds whole{0, -1000, 1000};
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> uniform(-2, 2);
  // 16 KiB stay in the first cache; 128 MiB are in none.
  for (const std::size_t size : {std::size_t{1} << 11, std::size_t{1} << 24}) {
    std::vector<double> reals(size);
    std::vector<std::int64_t> integers(size);
    for (double& value : reals) value = uniform(generator);
    for (std::int64_t& value : integers) value = static_cast<std::int64_t>(generator()) >> 50;
    std::vector<Contestant> contestants;
    const auto enter = [&](const char* name, std::function<void()> work) {
      contestants.push_back({"sum", static_cast<double>(size), name, size, std::move(work)});
    };
    enter("Shoal, exact, reals", [&] {
      const Int128 sum = numeric::sum_on_grid(reals, grid);
      keep(&sum);
    });
    enter("Shoal, exact, whole numbers", [&] {
      const Int128 sum = numeric::sum_on_grid(integers, whole);
      keep(&sum);
    });
    enter("clamped sum of doubles", [&] {
      const double sum = naive_sum(reals, -1, 1);
      keep(&sum);
    });
    race(contestants, size > (1 << 20) ? std::max(3, rounds / 10) : rounds);
    for (const Contestant& one : contestants)
      fmt::print("{}\t{}\t{:.17g}\t{:.6g}\n", one.group, one.name, one.scale, one.nanoseconds);
  }
}

}  // namespace shoal::bench
