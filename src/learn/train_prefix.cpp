// Training in one pass with correlated noise.
#include "learn/gradient_sums.hpp"
#include "learn/known_rows.hpp"
#include "learn/methods.hpp"
#include "learn/poisson_sample.hpp"

#include <cmath>

namespace shoal::learn {
namespace {

// Row t of the factor times the batches so far, as whole numbers.
std::vector<Int128> factored_sum(const std::vector<std::vector<Int128>>& batches,
                                 const std::vector<std::int64_t>& factor) {
  std::vector<Int128> sum(batches.back().size());
  for (std::size_t s = 0; s < batches.size(); ++s) {
    const Int128 entry = factor[batches.size() - 1 - s];
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += entry * batches[s][j];
  }
  return sum;
}

// What the newest noisy sum says of the newest batch, given the estimates of all earlier ones: one
// row of a triangular system.
std::vector<double> newest_batch(std::vector<double> released,
                                 const std::vector<std::vector<double>>& estimates,
                                 const std::vector<std::int64_t>& factor) {
  for (std::size_t s = 0; s < estimates.size(); ++s) {
    const double entry = static_cast<double>(factor[estimates.size() - s]);
    for (std::size_t j = 0; j < released.size(); ++j) released[j] -= entry * estimates[s][j];
  }
  for (double& one : released) one /= static_cast<double>(factor[0]);
  return released;
}

}  // namespace

std::vector<double> train(const PrefixDescent& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options) {
  const auto steps = static_cast<std::uint64_t>(method.path.steps);
  const std::vector<std::int64_t> factor = prefix_factor(method.path.steps);
  const GradientSums sums(rows, problem.loss, method.noise, options.threads);
  Descent descent(problem, method.path,
                  known_rows(method.path.rows, method.count_sigma, rows, bits));
  const auto parts = random_parts(rows.row_count(), steps, bits);
  std::vector<std::vector<Int128>> batches;  // secret
  std::vector<std::vector<double>> estimates;
  for (std::uint64_t t = 0; t < steps; ++t) {
    const auto drawn = draw_gradient_noise(method.noise, weight_count(problem), bits);
    batches.push_back(sums.of(parts[t], descent.weights()));
    const auto released = noisy_gradient(factored_sum(batches, factor), drawn, method.noise);
    estimates.push_back(newest_batch(released, estimates, factor));
    // A batch has one row in `steps`.
    std::vector<double> gradient = estimates.back();
    for (double& g : gradient) g *= static_cast<double>(steps);
    descent.step(gradient);
    if (options.progress) options.progress(static_cast<std::int64_t>(t + 1), method.path.steps);
  }
  return descent.result();
}

}  // namespace shoal::learn
