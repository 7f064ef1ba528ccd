// Small made-up training sets.
#pragma once

#include "support/midpoint_convexity.hpp"

#include <shoal/learn/rows.hpp>

#include <cmath>
#include <memory>
#include <vector>

namespace shoal::test {

struct RowsShape {
  std::size_t rows = 500;
  std::size_t dimension = 5;
  bool sparse = false;
  learn::LabelKind kind = learn::LabelKind::sign;
  double row_norm = 1;
};

// Rows of norm at most row_norm, labels that a hidden direction decides, mostly.
inline std::unique_ptr<learn::MemoryRows> make_rows(const RowsShape& shape, std::uint64_t seed) {
  SeededSource bits(seed);
  auto rows = std::make_unique<learn::MemoryRows>(shape.dimension, shape.row_norm, 1.0, shape.kind);
  const std::vector<double> hidden = uniform_vector(bits, shape.dimension, 4);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    std::vector<double> x = uniform_vector(bits, shape.dimension, 1);
    double z = uniform(bits, -0.5, 0.5);
    std::vector<std::uint32_t> columns;
    std::vector<double> values;
    for (std::size_t j = 0; j < shape.dimension; ++j) {
      if (shape.sparse && bits.next_bits(2) != 0) continue;
      z += x[j] * hidden[j];
      columns.push_back(static_cast<std::uint32_t>(j));
      values.push_back(x[j]);
    }
    const double label = shape.kind == learn::LabelKind::sign ? z : std::tanh(z);
    if (shape.sparse) {
      rows->add_sparse(columns, values, label);
    } else {
      rows->add_dense(x, label);
    }
  }
  return rows;
}

}  // namespace shoal::test
