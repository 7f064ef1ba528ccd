// One row of a block, dense or sparse, and its product with weights.
#pragma once

#include <shoal/learn/rows.hpp>

#include <Eigen/Core>

#include <cstdint>
#include <type_traits>

namespace shoal::learn {

// One row: where its values are, and in which columns.
struct Row {
  RowLayout layout;
  const std::uint32_t* columns;  // of a sparse row; a dense one has columns 0, 1, ...
  const double* values;
  std::size_t size;

  std::size_t column(std::size_t i) const {
    return layout == RowLayout::sparse ? std::size_t{columns[i]} : i;
  }
};

inline Row row_of(const RowBlock& block, std::size_t i) {
  if (block.layout == RowLayout::dense)
    return {block.layout, nullptr, block.values + i * block.dimension, block.dimension};
  const std::uint32_t begin = block.begins[i];
  return {block.layout, block.columns + begin, block.values + begin, block.begins[i + 1] - begin};
}

template <typename Real, typename Weight>
inline Real product(const Row& row, const Weight* weights) {
  Real sum = 0;
  if (row.layout == RowLayout::sparse) {
    for (std::size_t k = 0; k < row.size; ++k)
      sum += static_cast<Real>(row.values[k]) * static_cast<Real>(weights[row.columns[k]]);
  } else if constexpr (std::is_same_v<Real, double>) {
    const auto size = static_cast<Eigen::Index>(row.size);
    sum = Eigen::Map<const Eigen::VectorXd>(row.values, size)
              .dot(Eigen::Map<const Eigen::VectorXd>(weights, size));
  } else {
    for (std::size_t k = 0; k < row.size; ++k)
      sum += static_cast<Real>(row.values[k]) * static_cast<Real>(weights[k]);
  }
  return sum;
}

}  // namespace shoal::learn
