// Passes over the rows: sums of values, gradients and Hessians at given weights, by several
// threads.
//
// Invariant: rows are split into fixed parts, each part is added up in a fixed order and the parts
// are joined in theirs, so a sum does not depend on the number of threads. Within a part rows are
// added in chunks of kChunkRows, chunks to a block, and blocks in long double: kSumDepth bounds how
// many roundings of the pass's own floating point a summand goes through.
#pragma once

#include <shoal/learn/loss.hpp>
#include <shoal/learn/rows.hpp>

#include <Eigen/Core>

#include <span>
#include <vector>

namespace shoal::learn {

inline constexpr std::size_t kChunkRows = 128;
inline constexpr std::size_t kSumDepth = kChunkRows + kBlockRows / kChunkRows + 2;

// Which blocks a pass looks at: every `stride`-th. The sums are of those rows alone.
struct PassScope {
  std::size_t stride = 1;
};

struct PassSums {
  std::vector<long double> gradient;  // sum of slope * x
  long double value = 0;              // sum of values, if asked for
};

class RowPasses {
 public:
  // The loss must be pointwise and smooth.
  RowPasses(const RowSource& rows, const Loss& loss, unsigned threads);

  const RowSource& rows() const { return rows_; }
  const Loss& loss() const { return loss_; }
  // Rows that a scope covers.
  std::uint64_t row_count(PassScope scope) const;

  PassSums gradient(std::span<const double> weights, bool with_value = false,
                    PassScope scope = {}) const;
  // The same, all of it in long double.
  PassSums long_gradient(std::span<const double> weights) const;

  // Sum of curvature * x x', the lower triangle.
  Eigen::MatrixXd hessian(std::span<const double> weights, PassScope scope = {}) const;
  // Its product with a direction.
  Eigen::VectorXd hessian_product(std::span<const double> weights,
                                  std::span<const double> direction) const;

 private:
  const RowSource& rows_;
  Loss loss_;
  unsigned threads_;
};

}  // namespace shoal::learn
