#include "learn/passes.hpp"

#include "learn/logistic_kernel.hpp"
#include "learn/parallel.hpp"
#include "learn/pointwise.hpp"
#include "learn/row_view.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>

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

// Rows first to last of a block times the weights.
template <typename Real>
void multiply_rows(const RowBlock& block, std::size_t first, std::size_t last,
                   const double* weights, Real* products) {
  if (block.layout == RowLayout::dense) {
    for (std::size_t i = first; i < last; ++i)
      products[i - first] = product<Real>(row_of(block, i), weights);
    return;
  }
  const std::uint32_t* columns = block.columns;
  const double* values = block.values;
  for (std::size_t i = first; i < last; ++i) {
    Real even = 0;
    Real odd = 0;
    std::uint32_t k = block.begins[i];
    const std::uint32_t end = block.begins[i + 1];
    for (; k + 1 < end; k += 2) {
      even += static_cast<Real>(values[k]) * static_cast<Real>(weights[columns[k]]);
      odd += static_cast<Real>(values[k + 1]) * static_cast<Real>(weights[columns[k + 1]]);
    }
    if (k < end) even += static_cast<Real>(values[k]) * static_cast<Real>(weights[columns[k]]);
    products[i - first] = even + odd;
  }
}

// Adds rows first to last, each times its factor.
template <typename Real>
void add_rows(const RowBlock& block, std::size_t first, std::size_t last, const Real* factors,
              Real* sums) {
  if (block.layout == RowLayout::dense) {
    for (std::size_t i = first; i < last; ++i) {
      const double* values = block.values + i * block.dimension;
      for (std::size_t k = 0; k < block.dimension; ++k)
        sums[k] += factors[i - first] * static_cast<Real>(values[k]);
    }
    return;
  }
  const std::uint32_t* columns = block.columns;
  const double* values = block.values;
  for (std::size_t i = first; i < last; ++i) {
    const Real factor = factors[i - first];
    const std::uint32_t end = block.begins[i + 1];
    for (std::uint32_t k = block.begins[i]; k < end; ++k)
      sums[columns[k]] += factor * static_cast<Real>(values[k]);
  }
}

// Slopes in place of predictions; returns the sum of the losses, if asked for.
template <typename Real, bool with_value, typename One>
Real slopes_of(const One& loss, const double* labels, std::size_t count, Real* predictions) {
  if constexpr (std::is_same_v<One, Logistic> && std::is_same_v<Real, double> && !with_value) {
    logistic_slopes(predictions, labels, count);
    return 0;
  } else {
    Real value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto at =
          derivatives<Real, with_value>(loss, predictions[i], static_cast<Real>(labels[i]));
      predictions[i] = at.slope;
      if constexpr (with_value) value += at.value;
    }
    return value;
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
    multiply_rows<Real>(block, first, last, weights.data(), slopes.data());
    const Real value =
        slopes_of<Real, with_value>(loss, block.labels + first, last - first, slopes.data());
    add_rows<Real>(block, first, last, slopes.data(), chunk_sum.data());
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
  multiply_rows<double>(block, first, last, weights, curvatures);
  if constexpr (std::is_same_v<One, Logistic>) {
    logistic_curvatures(curvatures, block.labels + first, last - first);
  } else {
    for (std::size_t i = first; i < last; ++i)
      curvatures[i - first] =
          derivatives<double, false>(loss, curvatures[i - first], block.labels[i]).curvature;
  }
}

// The lower triangle of a symmetric matrix, column after column, for sparse rows: half the memory
// of a square one, so that a hundred columns still fit into the nearest cache.
class Triangle {
 public:
  explicit Triangle(std::size_t dimension) : starts_(dimension) {
    // Entry (b, a) stands at starts_[a] + b.
    std::size_t size = 0;
    for (std::size_t a = 0; a < dimension; ++a) {
      starts_[a] = size - a;
      size += dimension - a;
    }
    sums_.assign(size, 0.0);
  }

  // Adds curvature * x x'. Columns ascend, so a later one is the row of the lower triangle.
  void add_square(const RowBlock& block, std::size_t i, double curvature) {
    const std::uint32_t* columns = block.columns;
    const double* values = block.values;
    const std::uint32_t end = block.begins[i + 1];
    for (std::uint32_t a = block.begins[i]; a < end; ++a) {
      const double factor = curvature * values[a];
      const std::size_t start = starts_[columns[a]];
      for (std::uint32_t b = a; b < end; ++b) sums_[start + columns[b]] += factor * values[b];
    }
  }
  void add_to(Eigen::MatrixXd& matrix) const {
    for (std::size_t a = 0; a < starts_.size(); ++a) {
      for (std::size_t b = a; b < starts_.size(); ++b)
        matrix(static_cast<Eigen::Index>(b), static_cast<Eigen::Index>(a)) += sums_[starts_[a] + b];
    }
  }

 private:
  std::vector<std::size_t> starts_;
  std::vector<double> sums_;
};

// One part's share of a Hessian.
struct HessianSum {
  std::optional<Triangle> sparse;
  Eigen::MatrixXd dense;
  Eigen::MatrixXd scaled;  // memory for dense rows

  void add_to(Eigen::MatrixXd& total) const {
    if (sparse) sparse->add_to(total);
    if (dense.size() > 0) total += dense;
  }
};

template <typename One>
void add_block_hessian(const RowBlock& block, const One& loss, const double* weights,
                       HessianSum& sum) {
  const auto d = static_cast<Eigen::Index>(block.dimension);
  const bool sparse = block.layout == RowLayout::sparse;
  if (sparse && !sum.sparse) sum.sparse.emplace(block.dimension);
  if (!sparse && sum.dense.size() == 0) sum.dense = Eigen::MatrixXd::Zero(d, d);
  for (std::size_t first = 0; first < block.rows; first += kChunkRows) {
    const std::size_t last = std::min(first + kChunkRows, block.rows);
    std::array<double, kChunkRows> curvatures;
    chunk_curvatures(block, loss, weights, first, last, curvatures.data());
    if (sparse) {
      for (std::size_t i = first; i < last; ++i)
        sum.sparse->add_square(block, i, curvatures[i - first]);
      continue;
    }
    sum.scaled.resize(d, static_cast<Eigen::Index>(last - first));
    for (std::size_t i = first; i < last; ++i) {
      sum.scaled.col(static_cast<Eigen::Index>(i - first)) =
          std::sqrt(curvatures[i - first]) *
          Eigen::Map<const Eigen::VectorXd>(block.values + i * block.dimension, d);
    }
    sum.dense.selfadjointView<Eigen::Lower>().rankUpdate(sum.scaled);
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
  std::vector<HessianSum> sums(parts);
  in_parallel(parts, threads_, [&](std::size_t part) {
    BlockBuffer buffer;
    visit_pointwise(loss_, [&](const auto& one) {
      for (std::size_t b = part * blocks / parts; b < (part + 1) * blocks / parts; ++b)
        add_block_hessian(rows_.block(b * scope.stride, buffer), one, weights.data(), sums[part]);
    });
  });
  Eigen::MatrixXd total = Eigen::MatrixXd::Zero(d, d);
  for (const HessianSum& part : sums) part.add_to(total);
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
    std::array<double, kChunkRows> products;
    sums[part] = Eigen::VectorXd::Zero(d);
    visit_pointwise(loss_, [&](const auto& one) {
      for (std::size_t b = part * blocks / parts; b < (part + 1) * blocks / parts; ++b) {
        const RowBlock block = rows_.block(b, buffer);
        for (std::size_t first = 0; first < block.rows; first += kChunkRows) {
          const std::size_t last = std::min(first + kChunkRows, block.rows);
          chunk_curvatures(block, one, weights.data(), first, last, curvatures.data());
          multiply_rows<double>(block, first, last, direction.data(), products.data());
          for (std::size_t i = 0; i < last - first; ++i) curvatures[i] *= products[i];
          add_rows<double>(block, first, last, curvatures.data(), sums[part].data());
        }
      }
    });
  });
  Eigen::VectorXd total = Eigen::VectorXd::Zero(d);
  for (const Eigen::VectorXd& part : sums) total += part;
  return total;
}

}  // namespace shoal::learn
