// Projections of tables, against sums cell by cell: with and without AVX2, in ranges, and in pieces
// on several threads.
#include "synth/table_projection.hpp"

#include "support/seeded_source.hpp"
#include "synth/cell_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::synth {
namespace {

using data::AttributeSet;

std::vector<double> random_cells(std::size_t many, std::uint64_t seed) {
  test::SeededSource bits(seed);
  std::vector<double> cells(many);
  for (double& cell : cells) {
    cell = std::ldexp(static_cast<double>(bits.next_bits(53)), -53) - 0.5;
  }
  return cells;
}

// The cell of the small table that a cell of the large one projects to.
std::size_t projected(std::size_t cell, const std::vector<std::uint32_t>& sizes, AttributeSet large,
                      AttributeSet small) {
  const std::vector<std::size_t> columns = large.members();
  std::size_t result = 0;
  std::size_t stride = 1;
  for (auto column = columns.rbegin(); column != columns.rend(); ++column) {
    if (small.contains(*column)) {
      result += stride * (cell % sizes[*column]);
      stride *= sizes[*column];
    }
    cell /= sizes[*column];
  }
  return result;
}

struct Shape {
  std::vector<std::uint32_t> sizes;
  AttributeSet small;
};

AttributeSet all_of(const Shape& shape) {
  return AttributeSet((std::uint64_t{1} << shape.sizes.size()) - 1);
}

// Lines of 1 to 40 cells, inside and outside of the small table, below up to four other axes.
std::vector<Shape> small_shapes() {
  std::vector<Shape> shapes;
  for (const std::uint32_t fastest : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 40U}) {
    for (std::uint64_t bits = 0; bits < 32; ++bits) {
      shapes.push_back({{3, 2, 1, 4, fastest}, AttributeSet(bits)});
    }
  }
  return shapes;
}

TEST(TableProjectionTest, SpreadsAddsSubtractsAndMultipliesInAnyRange) {
  for (const Shape& shape : small_shapes()) {
    const TableProjection projection(shape.sizes, all_of(shape), shape.small);
    const std::vector<double> small = random_cells(projection.small_cells(), 1);
    const std::vector<double> large = random_cells(projection.large_cells(), 2);
    const std::size_t cells = large.size();
    for (const CellRange range : {CellRange{0, cells}, CellRange{cells / 3, cells * 2 / 3},
                                  CellRange{1, cells}, CellRange{0, cells - 1}}) {
      std::vector<double> spread = large;
      std::vector<double> sum = large;
      std::vector<double> rest = large;
      std::vector<double> product = large;
      projection.spread(small, spread, range);
      projection.add(small, sum, range);
      projection.subtract(small, rest, range);
      projection.multiply(small, product, range);
      for (std::size_t i = 0; i < cells; ++i) {
        const bool in = range.begin <= i && i < range.end;
        const double by = small[projected(i, shape.sizes, all_of(shape), shape.small)];
        EXPECT_EQ(spread[i], in ? by : large[i]);
        EXPECT_EQ(sum[i], in ? large[i] + by : large[i]);
        EXPECT_EQ(rest[i], in ? large[i] - by : large[i]);
        EXPECT_EQ(product[i], in ? large[i] * by : large[i]);
      }
    }
  }
}

TEST(TableProjectionTest, AddsUpAndFindsTheLargest) {
  WorkerTeam alone(1);
  for (const Shape& shape : small_shapes()) {
    const TableProjection projection(shape.sizes, all_of(shape), shape.small);
    const std::vector<double> large = random_cells(projection.large_cells(), 3);
    std::vector<double> sums(projection.small_cells());
    std::vector<double> most(projection.small_cells(), -std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < large.size(); ++i) {
      const std::size_t at = projected(i, shape.sizes, all_of(shape), shape.small);
      sums[at] += large[i];
      most[at] = std::max(most[at], large[i]);
    }
    std::vector<double> small(projection.small_cells(), 7);
    projection.add_up(large, small);
    for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(small[i], sums[i], 1e-12);
    projection.add_up(large, small, alone);
    for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(small[i], sums[i], 1e-12);
    projection.largest(large, small, alone);
    EXPECT_EQ(small, most);
  }
}

TEST(TableProjectionTest, GivesTheSameNumbersWithoutAvx2) {
  WorkerTeam alone(1);
  for (const Shape& shape : small_shapes()) {
    const TableProjection projection(shape.sizes, all_of(shape), shape.small);
    const TableProjection portable = projection.portable();
    const std::vector<double> large = random_cells(projection.large_cells(), 4);
    const std::vector<double> small = random_cells(projection.small_cells(), 5);
    std::vector<double> one = large;
    std::vector<double> other = large;
    projection.add(small, one);
    portable.add(small, other);
    projection.multiply(small, one);
    portable.multiply(small, other);
    EXPECT_EQ(one, other);
    std::vector<double> sums(small.size());
    std::vector<double> other_sums(small.size());
    projection.add_up(large, sums);
    portable.add_up(large, other_sums);
    EXPECT_EQ(sums, other_sums);
    projection.largest(large, sums, alone);
    portable.largest(large, other_sums, alone);
    EXPECT_EQ(sums, other_sums);
  }
}

// More than 2^16 cells: what is inside first, last, in the middle, in short axes only, everywhere
// and nowhere.
TEST(TableProjectionTest, PiecesGiveTheSameNumbersForAnyNumberOfThreads) {
  const std::vector<std::uint32_t> sizes = {30, 2, 50, 3, 20};
  WorkerTeam alone(1);
  WorkerTeam two(2);
  WorkerTeam three(3);
  for (std::uint64_t bits = 0; bits < 32; ++bits) {
    const TableProjection projection(sizes, AttributeSet(31), AttributeSet(bits));
    ASSERT_GT(projection.large_cells(), std::size_t{1} << 17);
    const std::vector<double> large = random_cells(projection.large_cells(), 6 + bits);
    std::vector<double> whole(projection.small_cells());
    projection.add_up(large, whole);
    std::vector<double> first(projection.small_cells(), 7);
    projection.add_up(large, first, alone);
    for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(first[i], whole[i], 1e-9) << bits;
    for (WorkerTeam* team : {&two, &three}) {
      std::vector<double> small(projection.small_cells(), 7);
      projection.add_up(large, small, *team);
      EXPECT_EQ(small, first) << bits;
      std::vector<double> most(projection.small_cells());
      projection.largest(large, most, *team);
      projection.largest(large, small, alone);
      EXPECT_EQ(small, most) << bits;
    }
  }
}

TEST(CellKernelsTest, AddAndMultiplyVectorsOfAnyLength) {
  for (std::size_t many = 0; many < 20; ++many) {
    const std::vector<double> a = random_cells(many, 1);
    const std::vector<double> b = random_cells(many, 2);
    const std::vector<double> c = random_cells(many, 3);
    std::vector<double> sum = a;
    add_scaled(0.5, b, sum);
    double product = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < many; ++i) {
      EXPECT_EQ(sum[i], a[i] + 0.5 * b[i]);
      product += sum[i] * c[i];
      most = std::max(most, a[i]);
    }
    EXPECT_NEAR(dot(sum, c), product, 1e-14);
    std::vector<double> again = a;
    EXPECT_EQ(add_scaled_and_dot(0.5, b, again, c), dot(sum, c));
    EXPECT_EQ(again, sum);
    EXPECT_EQ(largest_of(a), most);
  }
}

}  // namespace
}  // namespace shoal::synth
