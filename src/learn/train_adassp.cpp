// Training by AdaSSP: noise first, then exact sums; what follows sees their noisy values alone.
#include "learn/exact_sums.hpp"
#include "learn/methods.hpp"
#include "learn/noisy_sums.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/rounded_normal.hpp>

#include <Eigen/Eigenvalues>

#include <cmath>

namespace shoal::learn {
namespace {

using Eigen::Index;

// The norm of the noise matrix stays below the bound but for this chance.
constexpr double kNormFailure = 0.05;

}  // namespace

NoisySums noisy_sums(const AdaSsp& method, const RowSource& rows, random::BitSource& bits,
                     unsigned threads) {
  const std::size_t d = rows.dimension();
  // An off-diagonal entry stands for two of the matrix, so sigma / sqrt(2) gives the matrix as a
  // whole the noise sigma.
  const random::RoundedNormalSampler diagonal(method.matrix_sigma);
  const random::RoundedNormalSampler beside(
      numeric::divide_up(method.matrix_sigma, numeric::sqrt_down(2)));
  const random::RoundedNormalSampler labels(method.vector_sigma);
  std::vector<Int128> matrix_noise;
  std::vector<Int128> vector_noise;
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t k = 0; k < j; ++k) matrix_noise.push_back(beside.sample(bits));
    matrix_noise.push_back(diagonal.sample(bits));
    vector_noise.push_back(labels.sample(bits));
  }
  const ProductSums sums = product_sums(rows, method.row_exponent, method.label_exponent, threads);
  NoisySums noisy{Eigen::MatrixXd(static_cast<Index>(d), static_cast<Index>(d)),
                  Eigen::VectorXd(static_cast<Index>(d))};
  const auto released = [](Int128 sum, Int128 noise, int exponent) {
    return std::ldexp(static_cast<double>(saturating_add(sum, noise)), exponent);
  };
  std::size_t at = 0;
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t k = 0; k <= j; ++k, ++at) {
      const double entry = released(sums.matrix[at], matrix_noise[at], 2 * method.row_exponent);
      noisy.matrix(static_cast<Index>(j), static_cast<Index>(k)) = entry;
      noisy.matrix(static_cast<Index>(k), static_cast<Index>(j)) = entry;
    }
    noisy.vector[static_cast<Index>(j)] =
        released(sums.vector[j], vector_noise[j], method.row_exponent + method.label_exponent);
  }
  return noisy;
}

namespace {

// The ridge brings the least eigenvalue of the noisy matrix up to half of what the noise may add to
// it, or more if l2 is more; all that is made of noisy sums.
std::vector<double> weights_of(const NoisySums& noisy, const AdaSsp& method) {
  const double d = static_cast<double>(noisy.vector.size());
  const double sigma = std::ldexp(method.matrix_sigma, 2 * method.row_exponent);
  const double norm = sigma * (std::sqrt(2 * d) + std::sqrt(2 * std::log(2 / kNormFailure)));
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(noisy.matrix);
  SHOAL_CHECK(solver.info() == Eigen::Success);
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
