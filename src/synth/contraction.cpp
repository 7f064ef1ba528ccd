#include "synth/contraction.hpp"

#include "synth/table_projection.hpp"

#include <algorithm>

namespace shoal::synth {
namespace {

using data::AttributeSet;

// A table whose axes come in the order of the groups given, each group in ascending order.
std::vector<double> arranged(std::span<const std::uint32_t> sizes, const ColumnTable& table,
                             std::span<const AttributeSet> groups) {
  const std::vector<std::size_t> columns = table.set.members();
  std::vector<std::size_t> extents;
  for (const std::size_t column : columns) extents.push_back(sizes[column]);
  std::vector<std::size_t> order;
  for (const AttributeSet group : groups) {
    for (const std::size_t column : group.members()) {
      const auto at = std::find(columns.begin(), columns.end(), column);
      order.push_back(static_cast<std::size_t>(at - columns.begin()));
    }
  }
  if (std::is_sorted(order.begin(), order.end())) return table.cells;
  return transpose(table.cells, extents, order);
}

// Back from the order of the groups to ascending columns.
std::vector<double> restored(std::span<const std::uint32_t> sizes, std::vector<double> cells,
                             std::span<const AttributeSet> groups) {
  std::vector<std::size_t> columns;
  for (const AttributeSet group : groups) {
    for (const std::size_t column : group.members()) columns.push_back(column);
  }
  if (std::is_sorted(columns.begin(), columns.end())) return cells;
  std::vector<std::size_t> extents;
  std::vector<std::size_t> order(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    extents.push_back(sizes[columns[i]]);
    order[i] = i;
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t x, std::size_t y) { return columns[x] < columns[y]; });
  return transpose(cells, extents, order);
}

ColumnTable trimmed(std::span<const std::uint32_t> sizes, const ColumnTable& table,
                    AttributeSet needed) {
  const AttributeSet rest = table.set & needed;
  if (rest == table.set) return table;
  const TableProjection projection(sizes, table.set, rest);
  ColumnTable smaller{rest, std::vector<double>(projection.small_cells())};
  projection.add_up(table.cells, smaller.cells);
  return smaller;
}

}  // namespace

ColumnTable contract(std::span<const std::uint32_t> sizes, const ColumnTable& a,
                     const ColumnTable& b, AttributeSet kept) {
  const ColumnTable left = trimmed(sizes, a, kept | b.set);
  const ColumnTable right = trimmed(sizes, b, kept | a.set);
  const AttributeSet shared = left.set & right.set;
  const AttributeSet batch = shared & kept;
  const AttributeSet inner = shared.without(kept);
  const AttributeSet rows = left.set.without(shared);
  const AttributeSet columns = right.set.without(shared);
  const std::vector<double> x = arranged(sizes, left, std::vector{batch, rows, inner});
  const std::vector<double> y = arranged(sizes, right, std::vector{batch, inner, columns});
  const auto count = [&](AttributeSet set) {
    return static_cast<std::size_t>(data::cell_count(sizes, set));
  };
  const std::size_t many = count(inner);
  const std::size_t height = count(rows);
  const std::size_t width = count(columns);
  std::vector<double> product(count(batch) * height * width);
  for (std::size_t block = 0; block < count(batch); ++block) {
    for (std::size_t i = 0; i < height; ++i) {
      double* __restrict to = product.data() + (block * height + i) * width;
      for (std::size_t k = 0; k < many; ++k) {
        const double factor = x[(block * height + i) * many + k];
        if (factor == 0) continue;
        const double* __restrict from = y.data() + (block * many + k) * width;
        for (std::size_t j = 0; j < width; ++j) to[j] += factor * from[j];
      }
    }
  }
  return {batch | rows | columns,
          restored(sizes, std::move(product), std::vector{batch, rows, columns})};
}

}  // namespace shoal::synth
