#include "learn/passes.hpp"

#include "learn/parallel.hpp"
#include "learn/pointwise.hpp"
#include "learn/row_view.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <array>

namespace shoal::learn {
namespace {

// Enough that threads share the work evenly, few enough that their sums fit into a cache.
constexpr std::size_t kGradientParts = 32;
constexpr std::size_t kHessianParts = 4;

template <typename Action>
void visit_pointwise(const Loss& loss, Action&& action) {
  std::visit(
      [&](const auto& one) {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, Softmax>) {
          SHOAL_CHECK(false);
        } else {
          action(one);
        }
      },
      loss);
}

template <typename Real>
inline void add_multiple(const Row& row, Real factor, Real* sums) {
  if (row.columns) {
    for (std::size_t k = 0; k < row.size; ++k)
      sums[row.columns[k]] += factor * static_cast<Real>(row.values[k]);
  } else {
    for (std::size_t k = 0; k < row.size; ++k) sums[k] += factor * static_cast<Real>(row.values[k]);
  }
}

template <typename Real, bool with_value, typename One>
void add_block_gradient(const RowBlock& block, const One& loss, std::span<const double> weights,
                        std::vector<Real>& chunk_sum, std::vector<Real>& block_sum,
                        PassSums& sums) {
  std::fill(block_sum.begin(), block_sum.end(), Real(0));
  for (std::size_t first = 0; first < block.rows; first += kChunkRows) {
    const std::size_t last = std::min(first + kChunkRows, block.rows);
    std::fill(chunk_sum.begin(), chunk_sum.end(), Real(0));
    std::array<Real, kChunkRows> slopes;
    Real value = 0;
    for (std::size_t i = first; i < last; ++i)
      slopes[i - first] = product<Real>(row_of(block, i), weights.data());
    for (std::size_t i = first; i < last; ++i) {
      const auto at = derivatives<Real, with_value>(loss, slopes[i - first],
                                                    static_cast<Real>(block.labels[i]));
      slopes[i - first] = at.slope;
      if constexpr (with_value) value += at.value;
    }
    for (std::size_t i = first; i < last; ++i)
      add_multiple<Real>(row_of(block, i), slopes[i - first], chunk_sum.data());
    for (std::size_t j = 0; j < block_sum.size(); ++j) block_sum[j] += chunk_sum[j];
    sums.value += static_cast<long double>(value);
  }
  for (std::size_t j = 0; j < block_sum.size(); ++j)
    sums.gradient[j] += static_cast<long double>(block_sum[j]);
}

// Curvatures of the rows of a chunk.
template <typename One>
void chunk_curvatures(const RowBlock& block, const One& loss, const double* weights,
                      std::size_t first, std::size_t last, double* curvatures) {
  for (std::size_t i = first; i < last; ++i)
    curvatures[i - first] = product<double>(row_of(block, i), weights);
  for (std::size_t i = first; i < last; ++i)
    curvatures[i - first] =
        derivatives<double, false>(loss, curvatures[i - first], block.labels[i]).curvature;
}

// Columns ascend, so a later one is the row of the lower triangle.
void add_sparse_square(const Row& row, double curvature, Eigen::MatrixXd& sum) {
  double* data = sum.data();
  const auto stride = static_cast<std::size_t>(sum.outerStride());
  for (std::size_t a = 0; a < row.size; ++a) {
    const double factor = curvature * row.values[a];
    double* column = data + stride * row.columns[a];
    for (std::size_t b = a; b < row.size; ++b) column[row.columns[b]] += factor * row.values[b];
  }
}

template <typename One>
void add_block_hessian(const RowBlock& block, const One& loss, const double* weights,
                       Eigen::MatrixXd& scaled, Eigen::MatrixXd& sum) {
  for (std::size_t first = 0; first < block.rows; first += kChunkRows) {
    const std::size_t last = std::min(first + kChunkRows, block.rows);
    std::array<double, kChunkRows> curvatures;
    chunk_curvatures(block, loss, weights, first, last, curvatures.data());
    if (block.columns) {
      for (std::size_t i = first; i < last; ++i)
        add_sparse_square(row_of(block, i), curvatures[i - first], sum);
      continue;
    }
    scaled.resize(static_cast<Eigen::Index>(block.dimension),
                  static_cast<Eigen::Index>(last - first));
    for (std::size_t i = first; i < last; ++i) {
      scaled.col(static_cast<Eigen::Index>(i - first)) =
          std::sqrt(curvatures[i - first]) *
          Eigen::Map<const Eigen::VectorXd>(block.values + i * block.dimension, scaled.rows());
    }
    sum.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
  }
}

template <typename Real, bool with_value>
PassSums gradient_pass(const RowSource& rows, const Loss& loss, std::span<const double> weights,
                       PassScope scope, unsigned threads) {
  const std::size_t blocks = (rows.block_count() + scope.stride - 1) / scope.stride;
  const std::size_t parts = std::min(blocks, kGradientParts);
  std::vector<PassSums> sums(parts);
  in_parallel(parts, threads, [&](std::size_t part) {
    BlockBuffer buffer;
    std::vector<Real> chunk_sum(rows.dimension());
    std::vector<Real> block_sum(rows.dimension());
    sums[part].gradient.assign(rows.dimension(), 0);
    visit_pointwise(loss, [&](const auto& one) {
      for (std::size_t b = part * blocks / parts; b < (part + 1) * blocks / parts; ++b)
        add_block_gradient<Real, with_value>(rows.block(b * scope.stride, buffer), one, weights,
                                             chunk_sum, block_sum, sums[part]);
    });
  });
  PassSums total;
  total.gradient.assign(rows.dimension(), 0);
  for (const PassSums& part : sums) {
    total.value += part.value;
    for (std::size_t j = 0; j < total.gradient.size(); ++j) total.gradient[j] += part.gradient[j];
  }
  return total;
}

}  // namespace

RowPasses::RowPasses(const RowSource& rows, const Loss& loss, unsigned threads)
    : rows_(rows), loss_(loss), threads_(usable_threads(threads)) {
  const LossBounds facts = bounds(loss);
  SHOAL_CHECK(facts.pointwise && facts.smooth);
}

std::uint64_t RowPasses::row_count(PassScope scope) const {
  if (scope.stride == 1) return rows_.row_count();
  std::uint64_t count = 0;
  BlockBuffer buffer;
  for (std::size_t b = 0; b < rows_.block_count(); b += scope.stride)
    count += rows_.block(b, buffer).rows;
  return count;
}

PassSums RowPasses::gradient(std::span<const double> weights, bool with_value,
                             PassScope scope) const {
  return with_value ? gradient_pass<double, true>(rows_, loss_, weights, scope, threads_)
                    : gradient_pass<double, false>(rows_, loss_, weights, scope, threads_);
}

PassSums RowPasses::long_gradient(std::span<const double> weights) const {
  return gradient_pass<long double, false>(rows_, loss_, weights, {}, threads_);
}

Eigen::MatrixXd RowPasses::hessian(std::span<const double> weights, PassScope scope) const {
  const auto d = static_cast<Eigen::Index>(rows_.dimension());
  const std::size_t blocks = (rows_.block_count() + scope.stride - 1) / scope.stride;
  const std::size_t parts = std::min(blocks, kHessianParts);
  std::vector<Eigen::MatrixXd> sums(parts);
  in_parallel(parts, threads_, [&](std::size_t part) {
    BlockBuffer buffer;
    Eigen::MatrixXd scaled;
    sums[part] = Eigen::MatrixXd::Zero(d, d);
    visit_pointwise(loss_, [&](const auto& one) {
      for (std::size_t b = part * blocks / parts; b < (part + 1) * blocks / parts; ++b)
        add_block_hessian(rows_.block(b * scope.stride, buffer), one, weights.data(), scaled,
                          sums[part]);
    });
  });
  Eigen::MatrixXd total = Eigen::MatrixXd::Zero(d, d);
  for (const Eigen::MatrixXd& part : sums) total += part;
  return total;
}

Eigen::VectorXd RowPasses::hessian_product(std::span<const double> weights,
                                           std::span<const double> direction) const {
  const auto d = static_cast<Eigen::Index>(rows_.dimension());
  const std::size_t blocks = rows_.block_count();
  const std::size_t parts = std::min(blocks, kGradientParts);
  std::vector<Eigen::VectorXd> sums(parts);
  in_parallel(parts, threads_, [&](std::size_t part) {
    BlockBuffer buffer;
    std::array<double, kChunkRows> curvatures;
    sums[part] = Eigen::VectorXd::Zero(d);
    visit_pointwise(loss_, [&](const auto& one) {
      for (std::size_t b = part * blocks / parts; b < (part + 1) * blocks / parts; ++b) {
        const RowBlock block = rows_.block(b, buffer);
        for (std::size_t first = 0; first < block.rows; first += kChunkRows) {
          const std::size_t last = std::min(first + kChunkRows, block.rows);
          chunk_curvatures(block, one, weights.data(), first, last, curvatures.data());
          for (std::size_t i = first; i < last; ++i) {
            const Row row = row_of(block, i);
            add_multiple<double>(row,
                                 curvatures[i - first] * product<double>(row, direction.data()),
                                 sums[part].data());
          }
        }
      }
    });
  });
  Eigen::VectorXd total = Eigen::VectorXd::Zero(d);
  for (const Eigen::VectorXd& part : sums) total += part;
  return total;
}

}  // namespace shoal::learn
