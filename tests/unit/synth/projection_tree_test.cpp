// Small tables of a large one by way of tables in between, against each projected by itself.
#include "synth/projection_tree.hpp"

#include "support/seeded_source.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::synth {
namespace {

using data::AttributeSet;

std::vector<double> random_cells(std::size_t many, test::SeededSource& bits) {
  std::vector<double> cells(many);
  for (double& cell : cells) {
    cell = 0.5 + std::ldexp(static_cast<double>(bits.next_bits(53)), -53);
  }
  return cells;
}

struct Case {
  std::vector<std::uint32_t> sizes;
  AttributeSet large;
  std::vector<AttributeSet> small;
};

// Up to forty sets of up to four columns, the empty set, the whole one and equal ones among them.
Case random_case(std::uint64_t seed) {
  test::SeededSource bits(seed);
  Case one;
  const std::size_t columns = 1 + bits.next_bits(3) % 7;
  for (std::size_t i = 0; i < columns + 2; ++i) {
    one.sizes.push_back(static_cast<std::uint32_t>(1 + bits.next_bits(8) % 5));
  }
  // Column 1 is not in it.
  one.large = AttributeSet(((std::uint64_t{1} << (columns + 1)) - 1) & ~std::uint64_t{2});
  const std::size_t many = bits.next_bits(8) % 40;
  for (std::size_t i = 0; i < many; ++i) {
    AttributeSet set;
    for (int j = 0; j < 4; ++j) {
      const AttributeSet column = AttributeSet::single(bits.next_bits(3) % (columns + 1));
      if (column.within(one.large)) set = set | column;
    }
    one.small.push_back(i == 7 ? one.large : set);
  }
  return one;
}

struct SmallTables {
  std::vector<std::vector<double>> cells;
  std::vector<std::span<double>> spans;
  std::vector<std::span<const double>> views;
};

SmallTables tables_of(const Case& one, test::SeededSource& bits) {
  SmallTables tables;
  for (const AttributeSet set : one.small) {
    tables.cells.push_back(
        random_cells(static_cast<std::size_t>(data::cell_count(one.sizes, set)), bits));
  }
  for (auto& cells : tables.cells) tables.spans.emplace_back(cells);
  for (const auto& cells : tables.cells) tables.views.emplace_back(cells);
  return tables;
}

TEST(ProjectionTreeTest, GivesWhatProjectionsGiveOneByOne) {
  WorkerTeam team(1);
  ProjectionTree::Scratch scratch;  // shared by all
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Case one = random_case(seed);
    test::SeededSource bits(seed + 1000);
    const ProjectionTree tree(one.sizes, one.large, one.small);
    const std::vector<double> large =
        random_cells(static_cast<std::size_t>(data::cell_count(one.sizes, one.large)), bits);
    SmallTables sums = tables_of(one, bits);
    tree.add_up(large, sums.spans, scratch, team);
    const SmallTables factors = tables_of(one, bits);
    std::vector<double> product(large.size(), 7);
    tree.multiply(factors.views, product, scratch, team);
    std::vector<double> sum(large.size(), 7);
    tree.add(factors.views, sum, scratch, team);

    std::vector<double> expected_product(large.size(), 1);
    std::vector<double> expected_sum(large.size(), 0);
    for (std::size_t i = 0; i < one.small.size(); ++i) {
      const TableProjection projection(one.sizes, one.large, one.small[i]);
      std::vector<double> expected(projection.small_cells());
      projection.add_up(large, expected);
      for (std::size_t cell = 0; cell < expected.size(); ++cell) {
        ASSERT_NEAR(sums.cells[i][cell], expected[cell], 1e-12 * expected[cell]) << seed;
      }
      projection.multiply(factors.cells[i], expected_product);
      projection.add(factors.cells[i], expected_sum);
    }
    for (std::size_t cell = 0; cell < large.size(); ++cell) {
      ASSERT_NEAR(product[cell], expected_product[cell], 1e-12 * expected_product[cell]) << seed;
      ASSERT_NEAR(sum[cell], expected_sum[cell], 1e-12 * (1 + expected_sum[cell])) << seed;
    }
  }
}

TEST(ProjectionTreeTest, IsTheSameForAnyNumberOfThreads) {
  const std::vector<std::uint32_t> sizes = {7, 6, 8, 5, 9, 4, 3};  // 181,440 cells
  Case one{sizes, AttributeSet(127), {}};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t j = i + 1; j < sizes.size(); ++j) {
      one.small.push_back(AttributeSet::of({i, j}));
    }
  }
  const ProjectionTree tree(one.sizes, one.large, one.small);
  std::vector<SmallTables> sums;
  std::vector<std::vector<double>> products;
  for (const int threads : {1, 2, 5}) {
    WorkerTeam team(threads);
    ProjectionTree::Scratch scratch;
    test::SeededSource bits(5);
    const std::vector<double> large = random_cells(181'440, bits);
    sums.push_back(tables_of(one, bits));
    tree.multiply(sums.back().views, products.emplace_back(large.size()), scratch, team);
    tree.add_up(large, sums.back().spans, scratch, team);
  }
  for (std::size_t i = 1; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i].cells, sums[0].cells);
    EXPECT_EQ(products[i], products[0]);
  }
}

// All pairs of seven columns: 21 readings of all cells if each is by itself.
TEST(ProjectionTreeTest, ReadsALargeTableAFewTimes) {
  const std::vector<std::uint32_t> sizes(7, 6);
  std::vector<AttributeSet> pairs;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t j = i + 1; j < sizes.size(); ++j) pairs.push_back(AttributeSet::of({i, j}));
  }
  const AttributeSet all(127);
  const auto cells = static_cast<std::size_t>(data::cell_count(sizes, all));
  EXPECT_LE(ProjectionTree(sizes, all, pairs).cells_read(), 5 * cells);
  // One alone is read at once.
  EXPECT_EQ(ProjectionTree(sizes, all, std::span(pairs).first(1)).cells_read(), cells);
}

}  // namespace
}  // namespace shoal::synth
