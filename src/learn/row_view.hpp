// One row of a block, dense or sparse, and its product with weights.
#pragma once

#include <shoal/learn/rows.hpp>

#include <Eigen/Core>

#include <cstdint>
#include <type_traits>

namespace shoal::learn {

// One row: where its values are, and in which columns.
struct Row {
  const std::uint32_t* columns;  // null: the values are those of columns 0, 1, ...
  const double* values;
  std::size_t size;
};

inline Row row_of(const RowBlock& block, std::size_t i) {
  if (!block.columns) return {nullptr, block.values + i * block.dimension, block.dimension};
  const std::uint32_t begin = block.begins[i];
  return {block.columns + begin, block.values + begin, block.begins[i + 1] - begin};
}

template <typename Real, typename Weight>
inline Real product(const Row& row, const Weight* weights) {
  Real sum = 0;
  if (row.columns) {
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
