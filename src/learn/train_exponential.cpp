// Training by the exponential mechanism over a finite set: exact integer scores, an exact choice.
#include "learn/candidate_scores.hpp"
#include "learn/methods.hpp"
#include "learn/parallel.hpp"
#include "learn/row_view.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/exponential_mechanism.hpp>
#include <shoal/mechanism/selector.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

// What a row adds to each candidate's sum, in steps: from 0, at the row's best candidate, to the
// range. Floating point may put a loss off, but not outside.
class RowLosses {
 public:
  RowLosses(const ExponentialChoice& method, const Problem& problem)
      : method_(method),
        problem_(problem),
        most_(std::ceil(std::ldexp(method.range, -method.exponent))),
        losses_(method.candidates.size() / weight_count(problem)) {}

  void add(const RowBlock& block, std::size_t row, std::vector<std::int64_t>& sums) {
    const Row one = row_of(block, row);
    double least = INFINITY;
    for (std::size_t k = 0; k < losses_.size(); ++k) {
      const double* weights = method_.candidates.data() + k * block.dimension;
      double z = 0;
      for (std::size_t i = 0; i < one.size; ++i) z += one.values[i] * weights[one.column(i)];
      losses_[k] = loss_of(z, block.labels[row]);
      least = std::fmin(least, losses_[k]);
    }
    for (std::size_t k = 0; k < losses_.size(); ++k) {
      const double steps = std::nearbyint(std::ldexp(losses_[k] - least, -method_.exponent));
      // Not a number counts as the range.
      sums[k] += static_cast<std::int64_t>(steps >= 0 && steps <= most_ ? steps : most_);
    }
  }

 private:
  double loss_of(double z, double label) const {
    if (method_.what == CandidateLoss::mistakes) return (z > 0 ? 1 : -1) == label ? 0 : 1;
    return value(problem_.loss, z, label);
  }

  const ExponentialChoice& method_;
  const Problem& problem_;
  double most_;
  std::vector<double> losses_;
};

}  // namespace

std::vector<Int128> candidate_scores(const ExponentialChoice& method, const Problem& problem,
                                     const RowSource& rows, unsigned threads) {
  const std::size_t width = weight_count(problem);
  const std::size_t count = method.candidates.size() / width;
  std::vector<Int128> scores(count);
  std::mutex guard;
  in_parallel(rows.block_count(), usable_threads(threads), [&](std::size_t b) {
    BlockBuffer buffer;
    const RowBlock block = rows.block(b, buffer);
    RowLosses losses(method, problem);
    std::vector<std::int64_t> sums(count);
    for (std::size_t i = 0; i < block.rows; ++i) losses.add(block, i, sums);
    const std::lock_guard lock(guard);
    for (std::size_t k = 0; k < count; ++k) scores[k] -= sums[k];
  });
  // The regulariser is public: it moves no score between neighbours.
  for (std::size_t k = 0; k < count && method.l2 > 0; ++k) {
    double square = 0;
    for (std::size_t j = 0; j < width; ++j)
      square += method.candidates[k * width + j] * method.candidates[k * width + j];
    const double steps = std::ldexp(method.l2 / 2 * square, -method.exponent);
    scores[k] -= static_cast<Int128>(std::fmin(steps, 0x1p90));
  }
  return scores;
}

std::vector<double> train(const ExponentialChoice& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options) {
  const std::vector<Int128> scores = candidate_scores(method, problem, rows, options.threads);
  const std::size_t chosen =
      mechanism::select(mechanism::ExponentialMechanism{method.scale}, scores, bits).at(0);
  const auto first =
      method.candidates.begin() + static_cast<std::ptrdiff_t>(chosen * problem.dimension);
  return {first, first + static_cast<std::ptrdiff_t>(problem.dimension)};
}

}  // namespace shoal::learn
