// Training by noisy gradients: draw the noise, add up the rows' gradients exactly, step.
#include "learn/gradient_sums.hpp"
#include "learn/known_rows.hpp"
#include "learn/methods.hpp"
#include "learn/poisson_sample.hpp"

namespace shoal::learn {
namespace {

void tell(const FitOptions& options, std::int64_t done, const DescentPath& path) {
  if (options.progress) options.progress(done, path.steps);
}

}  // namespace

std::vector<double> train(const GradientDescent& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options) {
  const GradientSums sums(rows, problem.loss, method.noise, options.threads);
  Descent descent(problem, method.path,
                  known_rows(method.path.rows, method.count_sigma, rows, bits));
  for (std::int64_t t = 0; t < method.path.steps; ++t) {
    const auto drawn = draw_gradient_noise(method.noise, weight_count(problem), bits);
    descent.step(noisy_gradient(sums.all(descent.weights()), drawn, method.noise));
    tell(options, t + 1, method.path);
  }
  return descent.result();
}

// Nothing depends on how many rows a sample has: it is never divided by, and an empty one gets its
// noise as well.
std::vector<double> train(const SampledDescent& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options) {
  const GradientSums sums(rows, problem.loss, method.noise, options.threads);
  Descent descent(problem, method.path,
                  known_rows(method.path.rows, method.count_sigma, rows, bits));
  for (std::int64_t t = 0; t < method.path.steps; ++t) {
    const auto drawn = draw_gradient_noise(method.noise, weight_count(problem), bits);
    const auto chosen = poisson_sample(rows.row_count(), method.rate_units, bits);
    std::vector<double> gradient =
        noisy_gradient(sums.of(chosen, descent.weights()), drawn, method.noise);
    for (double& g : gradient) g /= rate(method);
    descent.step(gradient);
    tell(options, t + 1, method.path);
  }
  return descent.result();
}

}  // namespace shoal::learn
