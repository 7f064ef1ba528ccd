// Training by private Frank-Wolfe.
#include "learn/methods.hpp"
#include "learn/parallel.hpp"
#include "learn/row_view.hpp"
#include "learn/step_scores.hpp"

#include <shoal/mechanism/exponential_mechanism.hpp>
#include <shoal/mechanism/selector.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

// A whole number of steps within the bound, cut towards zero; not a number is 0.
std::int64_t steps_of(double value, double bound, int exponent) {
  if (std::isnan(value)) return 0;
  return static_cast<std::int64_t>(std::ldexp(std::clamp(value, -bound, bound), -exponent));
}

}  // namespace

std::vector<Int128> corner_scores(const FrankWolfe& method, const Problem& problem,
                                  const RowSource& rows, std::span<const double> weights,
                                  unsigned threads) {
  std::vector<Int128> scores(2 * problem.dimension);
  std::mutex guard;
  in_parallel(rows.block_count(), usable_threads(threads), [&](std::size_t b) {
    BlockBuffer buffer;
    const RowBlock block = rows.block(b, buffer);
    // 4096 products below 2^32.
    std::vector<std::int64_t> sums(problem.dimension);
    for (std::size_t i = 0; i < block.rows; ++i) {
      const Row row = row_of(block, i);
      double z = 0;
      for (std::size_t k = 0; k < row.size; ++k) z += row.values[k] * weights[row.column(k)];
      const std::int64_t slope_steps = steps_of(slope(problem.loss, z, block.labels[i]),
                                                method.slope_bound, method.slope_exponent);
      for (std::size_t k = 0; k < row.size; ++k) {
        sums[row.column(k)] +=
            slope_steps * steps_of(row.values[k], method.feature_bound, method.feature_exponent);
      }
    }
    const std::lock_guard lock(guard);
    for (std::size_t j = 0; j < sums.size(); ++j) {
      scores[2 * j] -= sums[j];
      scores[2 * j + 1] += sums[j];
    }
  });
  return scores;
}

std::vector<double> train(const FrankWolfe& method, const Problem& problem, const RowSource& rows,
                          random::BitSource& bits, const FitOptions& options) {
  const double radius = std::get<L1Ball>(problem.set).radius;
  const mechanism::ExponentialMechanism choice{method.scale};
  std::vector<double> weights(problem.dimension, 0.0);
  for (int step = 0; step < method.steps; ++step) {
    const std::size_t corner =
        mechanism::select(choice, corner_scores(method, problem, rows, weights, options.threads),
                          bits)
            .at(0);
    const double share = 2.0 / (step + 2);
    for (double& w : weights) w *= 1 - share;
    weights[corner / 2] += (corner % 2 == 0 ? radius : -radius) * share;
    if (options.progress) options.progress(step + 1, method.steps);
  }
  return weights;
}

}  // namespace shoal::learn
