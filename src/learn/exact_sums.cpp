#include "learn/exact_sums.hpp"

#include "learn/parallel.hpp"

#include <shoal/base/error.hpp>

#include <Eigen/Core>

#include <cmath>

namespace shoal::learn {
namespace {

// Blocks in a piece of work.
constexpr std::size_t kPieceBlocks = 16;
// Rows between two moves of a partial sum into the integers: 2^16 products below 2^36 stay below
// 2^52, so that no addition on the way rounds.
constexpr std::size_t kExactRows = std::size_t{1} << 16;
constexpr std::size_t kDenseRows = 128;

// One over a power of two: the product is exact, or so small that it is cut to 0.
double steps_of(double value, double factor) { return std::trunc(value * factor); }

// Whole numbers in doubles, for up to kExactRows rows.
class PartialSums {
 public:
  PartialSums(std::size_t dimension, ProductSums& total, std::mutex& guard)
      : matrix_(Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(dimension),
                                      static_cast<Eigen::Index>(dimension))),
        vector_(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(dimension))),
        total_(total),
        guard_(guard) {}

  void add_sparse(const RowBlock& block, double row_factor, double label_factor) {
    for (std::size_t i = 0; i < block.rows; ++i) {
      if (++rows_ > kExactRows) flush();
      const std::uint32_t begin = block.begins[i];
      const std::uint32_t size = block.begins[i + 1] - begin;
      const double label = steps_of(block.labels[i], label_factor);
      steps_.resize(size);
      for (std::uint32_t k = 0; k < size; ++k) {
        const auto row = static_cast<Eigen::Index>(block.columns[begin + k]);
        steps_[k] = steps_of(block.values[begin + k], row_factor);
        vector_[row] += steps_[k] * label;
        for (std::uint32_t m = 0; m <= k; ++m)
          matrix_(row, static_cast<Eigen::Index>(block.columns[begin + m])) +=
              steps_[k] * steps_[m];
      }
    }
  }

  void add_dense(const RowBlock& block, double row_factor, double label_factor) {
    for (std::size_t first = 0; first < block.rows; first += kDenseRows) {
      const std::size_t count = std::min(kDenseRows, block.rows - first);
      if ((rows_ += count) > kExactRows) flush(count);
      Eigen::MatrixXd part(vector_.size(), static_cast<Eigen::Index>(count));
      Eigen::VectorXd labels(static_cast<Eigen::Index>(count));
      for (std::size_t i = 0; i < count; ++i) {
        const auto column = static_cast<Eigen::Index>(i);
        labels[column] = steps_of(block.labels[first + i], label_factor);
        for (Eigen::Index j = 0; j < part.rows(); ++j) {
          part(j, column) =
              steps_of(block.values[(first + i) * block.dimension + static_cast<std::size_t>(j)],
                       row_factor);
        }
      }
      matrix_.selfadjointView<Eigen::Lower>().rankUpdate(part);
      vector_.noalias() += part * labels;
    }
  }

  // Into the total; `rows` of the next sum are counted already.
  void flush(std::size_t rows = 1) {
    const std::lock_guard lock(guard_);
    std::size_t at = 0;
    for (Eigen::Index j = 0; j < matrix_.rows(); ++j) {
      for (Eigen::Index k = 0; k <= j; ++k)
        total_.matrix[at++] += static_cast<Int128>(matrix_(j, k));
      total_.vector[static_cast<std::size_t>(j)] += static_cast<Int128>(vector_[j]);
    }
    matrix_.setZero();
    vector_.setZero();
    rows_ = rows;
  }

 private:
  Eigen::MatrixXd matrix_;
  Eigen::VectorXd vector_;
  std::vector<double> steps_;
  std::size_t rows_ = 0;
  ProductSums& total_;
  std::mutex& guard_;
};

}  // namespace

ProductSums product_sums(const RowSource& rows, int row_exponent, int label_exponent,
                         unsigned threads) {
  SHOAL_CHECK(std::ldexp(rows.row_norm(), -row_exponent) < kStepLimit);
  SHOAL_CHECK(std::ldexp(rows.label_bound(), -label_exponent) < kStepLimit);
  const double row_factor = std::ldexp(1.0, -row_exponent);
  const double label_factor = std::ldexp(1.0, -label_exponent);
  const std::size_t d = rows.dimension();
  ProductSums total{std::vector<Int128>(d * (d + 1) / 2), std::vector<Int128>(d)};
  std::mutex guard;
  const std::size_t pieces = (rows.block_count() + kPieceBlocks - 1) / kPieceBlocks;
  in_parallel(pieces, usable_threads(threads), [&](std::size_t piece) {
    PartialSums sums(d, total, guard);
    BlockBuffer buffer;
    const std::size_t last = std::min(rows.block_count(), (piece + 1) * kPieceBlocks);
    for (std::size_t b = piece * kPieceBlocks; b < last; ++b) {
      const RowBlock block = rows.block(b, buffer);
      if (block.layout == RowLayout::sparse) {
        sums.add_sparse(block, row_factor, label_factor);
      } else {
        sums.add_dense(block, row_factor, label_factor);
      }
    }
    sums.flush();
  });
  return total;
}

}  // namespace shoal::learn
