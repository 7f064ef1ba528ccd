// Training by AdaSSP: noise first, then exact sums; what follows sees their noisy values alone.
#include "learn/exact_sums.hpp"
#include "learn/methods.hpp"
#include "learn/noisy_sums.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/norm_noise.hpp>
#include <shoal/random/rounded_normal.hpp>

#include <Eigen/Eigenvalues>

#include <cmath>

namespace shoal::learn {
namespace {

using Eigen::Index;

// The norm of the noise matrix stays below the bound but for this chance.
constexpr double kNormFailure = 0.05;

struct SumNoise {
  std::vector<Int128> matrix;  // the lower triangle
  std::vector<Int128> vector;
};

SumNoise gaussian_noise(const AdaSsp& method, std::size_t d, random::BitSource& bits) {
  // An off-diagonal entry stands for two of the matrix, so sigma / sqrt(2) gives the matrix as a
  // whole the noise sigma.
  const random::RoundedNormalSampler diagonal(method.matrix_sigma);
  const random::RoundedNormalSampler beside(
      numeric::divide_up(method.matrix_sigma, numeric::sqrt_down(2)));
  const random::RoundedNormalSampler labels(method.vector_sigma);
  SumNoise noise;
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t k = 0; k < j; ++k) noise.matrix.push_back(beside.sample(bits));
    noise.matrix.push_back(diagonal.sample(bits));
    noise.vector.push_back(labels.sample(bits));
  }
  return noise;
}

SumNoise norm_noise(const AdaSsp& method, std::size_t d, random::BitSource& bits) {
  const std::size_t entries = d * (d + 1) / 2;
  const std::vector<Int128> drawn =
      random::sample_norm_noise(method.matrix_sigma, static_cast<std::int64_t>(entries + d), bits);
  const auto middle = drawn.begin() + static_cast<std::ptrdiff_t>(entries);
  return {{drawn.begin(), middle}, {middle, drawn.end()}};
}

// What the noise adds to the matrix at most, in norm, but for a small chance. Norm noise is spread
// over all sums: about sqrt(count) scales each.
double noise_norm(const AdaSsp& method, double d) {
  const double scale = std::ldexp(method.matrix_sigma, 2 * method.row_exponent);
  const double sums = d * (d + 3) / 2;
  const double sigma = method.shape == NoiseShape::norm ? scale * std::sqrt(sums) : scale;
  return sigma * (std::sqrt(2 * d) + std::sqrt(2 * std::log(2 / kNormFailure)));
}

}  // namespace

NoisySums noisy_sums(const AdaSsp& method, const RowSource& rows, random::BitSource& bits,
                     unsigned threads) {
  const std::size_t d = rows.dimension();
  const SumNoise noise = method.shape == NoiseShape::norm ? norm_noise(method, d, bits)
                                                          : gaussian_noise(method, d, bits);
  const ProductSums sums = product_sums(rows, method.row_exponent, method.label_exponent, threads);
  NoisySums noisy{Eigen::MatrixXd(static_cast<Index>(d), static_cast<Index>(d)),
                  Eigen::VectorXd(static_cast<Index>(d))};
  const auto released = [](Int128 sum, Int128 drawn, int exponent) {
    return std::ldexp(static_cast<double>(saturating_add(sum, drawn)), exponent);
  };
  std::size_t at = 0;
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t k = 0; k <= j; ++k, ++at) {
      const double entry = released(sums.matrix[at], noise.matrix[at], 2 * method.row_exponent);
      noisy.matrix(static_cast<Index>(j), static_cast<Index>(k)) = entry;
      noisy.matrix(static_cast<Index>(k), static_cast<Index>(j)) = entry;
    }
    noisy.vector[static_cast<Index>(j)] =
        released(sums.vector[j], noise.vector[j], method.row_exponent + method.label_exponent);
  }
  return noisy;
}

namespace {

// The ridge brings the least eigenvalue of the noisy matrix up to half of what the noise may add to
// it, or more if l2 is more; all that is made of noisy sums. Where their eigenvalues are not found,
// the weights are those of no rows at all.
std::vector<double> weights_of(const NoisySums& noisy, const AdaSsp& method) {
  const double norm = noise_norm(method, static_cast<double>(noisy.vector.size()));
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(noisy.matrix);
  if (solver.info() != Eigen::Success)
    return std::vector<double>(static_cast<std::size_t>(noisy.vector.size()), 0.0);
  const double ridge = std::fmax(method.l2, norm / 2 - solver.eigenvalues()[0]);
  const Eigen::VectorXd weights =
      solver.eigenvectors() * ((solver.eigenvectors().transpose() * noisy.vector).array() /
                               (solver.eigenvalues().array() + ridge).max(norm / 2))
                                  .matrix();
  return {weights.begin(), weights.end()};
}

}  // namespace

std::vector<double> train(const AdaSsp& method, const Problem& problem, const RowSource& rows,
                          random::BitSource& bits, const FitOptions& options) {
  return project(problem.set, weights_of(noisy_sums(method, rows, bits, options.threads), method));
}

}  // namespace shoal::learn
