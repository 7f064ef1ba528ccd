#include "learn/gradient_sums.hpp"

#include "learn/certificate.hpp"
#include "learn/parallel.hpp"
#include "learn/pointwise.hpp"
#include "learn/row_view.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/rounded_normal.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

// What one thread adds up: blocks of rows in 64 bits, then 128.
struct PartSum {
  explicit PartSum(std::size_t count) : block(count), total(count) {}

  // No coordinate of a row has more than 2^31 steps, so kBlockRows of them fit easily.
  void finish_block() {
    for (std::size_t j = 0; j < block.size(); ++j) total[j] += block[j];
    std::fill(block.begin(), block.end(), 0);
    rows = 0;
  }
  void row_added() {
    if (++rows == kBlockRows) finish_block();
  }

  std::vector<std::int64_t> block;
  std::vector<Int128> total;
  std::size_t rows = 0;
};

struct RowGradient {
  const GradientNoise& noise;
  std::size_t dimension;
  double common_limit;
  double scale;  // 2^-exponent

  // The slopes' norm times the row's is at most the clip afterwards. Slopes that are no numbers are
  // 0, and so are those of a row without a non-zero value.
  void clip(const Row& row, std::span<double> slopes) const {
    const double size = slopes.size() == 1 ? std::fabs(slopes[0]) : norm_up(slopes);
    if (size <= common_limit) return;
    const double norm = norm_up(std::span(row.values, row.size));
    if (norm == 0) return std::fill(slopes.begin(), slopes.end(), 0.0);
    clip_row(slopes, std::max(common_limit, numeric::divide_down(noise.clip, norm)));
  }

  void add(const Row& row, std::span<double> slopes, std::vector<std::int64_t>& sum) const {
    clip(row, slopes);
    for (std::size_t k = 0; k < slopes.size(); ++k) {
      const double factor = slopes[k] * scale;
      if (factor == 0) continue;
      std::int64_t* part = sum.data() + k * dimension;
      if (row.layout == RowLayout::sparse) {
        for (std::size_t i = 0; i < row.size; ++i)
          part[row.columns[i]] += static_cast<std::int64_t>(factor * row.values[i]);
      } else {
        for (std::size_t i = 0; i < row.size; ++i)
          part[i] += static_cast<std::int64_t>(factor * row.values[i]);
      }
    }
  }
};

// In an order that depends on nothing but the number of values, not even on where they lie in
// memory: a neighbour's rows must give the same sums to the last bit.
double fixed_product(const Row& row, const double* weights) {
  double sums[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  if (row.layout == RowLayout::sparse) {
    for (; i < row.size; ++i) sums[0] += row.values[i] * weights[row.columns[i]];
    return sums[0];
  }
  for (; i + 4 <= row.size; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += row.values[i + k] * weights[i + k];
  }
  for (; i < row.size; ++i) sums[0] += row.values[i] * weights[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Slopes of a row by its predictions: of one, or of one a class.
template <typename One>
void slopes_of(const One& loss, const Row& row, double label, std::span<const double> weights,
               std::size_t dimension, std::vector<double>& z, std::vector<double>& slopes) {
  for (std::size_t k = 0; k < slopes.size(); ++k)
    slopes[k] = fixed_product(row, weights.data() + k * dimension);
  if constexpr (std::is_same_v<One, Softmax>) {
    // A label that names no class counts as the nearest one.
    const double most = static_cast<double>(loss.classes) - 1;
    const auto place = static_cast<std::size_t>(std::clamp(std::nearbyint(label), 0.0, most));
    z = slopes;
    softmax_gradient(z, place, slopes);
  } else {
    slopes[0] = derivatives<double, false>(loss, slopes[0], label).slope;
  }
}

std::vector<Int128> join(std::vector<PartSum>& parts, std::size_t count) {
  std::vector<Int128> sum(count);
  for (PartSum& part : parts) {
    part.finish_block();
    for (std::size_t j = 0; j < count; ++j) sum[j] += part.total[j];
  }
  return sum;
}

}  // namespace

GradientSums::GradientSums(const RowSource& rows, const Loss& loss, const GradientNoise& noise,
                           unsigned threads)
    : rows_(rows), loss_(loss), noise_(noise), threads_(usable_threads(threads)) {
  const auto* softmax = std::get_if<Softmax>(&loss);
  classes_ = softmax ? softmax->classes : 1;
  common_limit_ = numeric::divide_down(noise.clip, rows.row_norm());
}

std::vector<Int128> GradientSums::all(std::span<const double> weights) const {
  SHOAL_CHECK(weights.size() == weight_count());
  const std::size_t blocks = rows_.block_count();
  const std::size_t count = std::min<std::size_t>(blocks, threads_);  // integers: any split will do
  std::vector<PartSum> parts(count, PartSum(weight_count()));
  const RowGradient gradient{noise_, rows_.dimension(), common_limit_,
                             std::ldexp(1.0, -noise_.exponent)};
  in_parallel(count, threads_, [&](std::size_t p) {
    BlockBuffer buffer;
    std::vector<double> slopes(classes_);
    std::vector<double> z(classes_);
    std::visit(
        [&](const auto& one) {
          for (std::size_t b = p * blocks / count; b < (p + 1) * blocks / count; ++b) {
            const RowBlock block = rows_.block(b, buffer);
            for (std::size_t i = 0; i < block.rows; ++i) {
              const Row row = row_of(block, i);
              slopes_of(one, row, block.labels[i], weights, rows_.dimension(), z, slopes);
              gradient.add(row, slopes, parts[p].block);
              parts[p].row_added();
            }
          }
        },
        loss_);
  });
  return join(parts, weight_count());
}

std::vector<Int128> GradientSums::of(std::span<const std::uint64_t> chosen,
                                     std::span<const double> weights) const {
  SHOAL_CHECK(weights.size() == weight_count());
  SHOAL_CHECK(rows_.block_count() == (rows_.row_count() + kBlockRows - 1) / kBlockRows);
  const std::size_t count = std::clamp<std::size_t>(chosen.size() / 256, 1, threads_);
  std::vector<PartSum> parts(count, PartSum(weight_count()));
  const RowGradient gradient{noise_, rows_.dimension(), common_limit_,
                             std::ldexp(1.0, -noise_.exponent)};
  in_parallel(count, threads_, [&](std::size_t p) {
    BlockBuffer buffer;
    RowBlock block;
    std::uint64_t at = ~std::uint64_t{0};
    std::vector<double> slopes(classes_);
    std::vector<double> z(classes_);
    std::visit(
        [&](const auto& one) {
          const std::size_t last = (p + 1) * chosen.size() / count;
          for (std::size_t i = p * chosen.size() / count; i < last; ++i) {
            if (chosen[i] / kBlockRows != at) {
              at = chosen[i] / kBlockRows;
              block = rows_.block(at, buffer);
            }
            const std::size_t place = chosen[i] % kBlockRows;
            const Row row = row_of(block, place);
            slopes_of(one, row, block.labels[place], weights, rows_.dimension(), z, slopes);
            gradient.add(row, slopes, parts[p].block);
            parts[p].row_added();
          }
        },
        loss_);
  });
  return join(parts, weight_count());
}

std::vector<std::int64_t> draw_gradient_noise(const GradientNoise& noise, std::size_t count,
                                              random::BitSource& bits) {
  std::vector<std::int64_t> drawn(count);
  random::RoundedNormalSampler(noise.sigma).fill(drawn, bits);
  return drawn;
}

std::vector<double> noisy_gradient(std::span<const Int128> sum, std::span<const std::int64_t> drawn,
                                   const GradientNoise& noise) {
  std::vector<double> gradient(sum.size());
  for (std::size_t j = 0; j < sum.size(); ++j) {
    gradient[j] = std::ldexp(static_cast<double>(saturating_add(sum[j], drawn[j])), noise.exponent);
  }
  return gradient;
}

}  // namespace shoal::learn
