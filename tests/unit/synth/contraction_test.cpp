// Products of tables, against sums over the whole domain.
#include "synth/contraction.hpp"

#include "unit/synth/whole_domain.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace shoal::synth {
namespace {

// Tables of any columns, those of both kept or not, with few cells next to each other and with
// many.
TEST(ContractionTest, IsASumOfProducts) {
  const std::vector<std::uint32_t> sizes = {2, 9, 4, 3, 5, 8};
  test::SeededSource bits(2);
  const auto table = [&](AttributeSet set) {
    ColumnTable one{set,
                    std::vector<double>(static_cast<std::size_t>(data::cell_count(sizes, set)))};
    for (double& cell : one.cells) cell = uniform(bits);
    return one;
  };
  for (int round = 0; round < 200; ++round) {
    const ColumnTable a = table(AttributeSet(bits.next_bits(6)));
    const ColumnTable b = table(AttributeSet(bits.next_bits(6)));
    const AttributeSet both = a.set | b.set;
    const AttributeSet kept = AttributeSet(bits.next_bits(6)) & both;
    const ColumnTable product = contract(sizes, a, b, kept);
    ASSERT_EQ(product.set, kept);
    EXPECT_EQ(contract(sizes, a, b, kept, false).cells, product.cells);
    std::vector<double> expected(product.cells.size());
    std::vector<std::uint32_t> taken = sizes;  // columns of neither are summed over once
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      if (!both.contains(j)) taken[j] = 1;
    }
    const auto cells = static_cast<std::size_t>(data::cell_count(sizes, both));
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const auto codes = codes_of(cell, taken);
      expected[project(codes, kept, sizes)] +=
          a.cells[project(codes, a.set, sizes)] * b.cells[project(codes, b.set, sizes)];
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(product.cells[i], expected[i], 1e-9);
    }
  }
}

// Larger than a panel in rows, in columns, in what is added up over and in all of them, with
// columns of the tables in any order.
TEST(ContractionTest, TakesLargeTablesByPanels) {
  const std::vector<std::vector<std::uint32_t>> many = {
      {70, 2, 9}, {2, 131, 9}, {3, 5, 300}, {67, 130, 290}, {66, 300, 131}, {300, 70, 3}};
  test::SeededSource bits(12);
  for (const std::vector<std::uint32_t>& sizes : many) {
    for (std::size_t inner = 0; inner < 3; ++inner) {
      const AttributeSet shared = AttributeSet::single(inner);
      const AttributeSet rows = AttributeSet::single((inner + 1) % 3);
      const AttributeSet columns = AttributeSet::single((inner + 2) % 3);
      const auto table = [&](AttributeSet set) {
        ColumnTable one{
            set, std::vector<double>(static_cast<std::size_t>(data::cell_count(sizes, set)))};
        for (double& cell : one.cells) cell = uniform(bits);
        return one;
      };
      const ColumnTable a = table(shared | rows);
      const ColumnTable b = table(shared | columns);
      const ColumnTable product = contract(sizes, a, b, rows | columns);
      EXPECT_EQ(contract(sizes, a, b, rows | columns, false).cells, product.cells);
      std::vector<double> expected(product.cells.size());
      for (std::size_t cell = 0; cell < std::size_t{sizes[0]} * sizes[1] * sizes[2]; ++cell) {
        const auto codes = codes_of(cell, sizes);
        expected[project(codes, rows | columns, sizes)] +=
            a.cells[project(codes, a.set, sizes)] * b.cells[project(codes, b.set, sizes)];
      }
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(product.cells[i], expected[i], 1e-9);
      }
    }
  }
}

TEST(ContractionTest, ASliceHasTheCellsOfItsCodes) {
  const std::vector<std::uint32_t> sizes = {2, 9, 4, 3, 12};
  test::SeededSource bits(13);
  std::vector<double> cells(2592);
  for (double& cell : cells) cell = uniform(bits);
  for (std::uint64_t held = 0; held < 32; ++held) {
    std::vector<std::uint32_t> codes;
    for (const std::uint32_t size : sizes) {
      codes.push_back(static_cast<std::uint32_t>(bits.next_bits(20) % size));
    }
    const AttributeSet fixed(held);
    const ColumnTable part = slice(sizes, AttributeSet(31), cells, fixed, codes);
    ASSERT_EQ(part.set, AttributeSet(31).without(fixed));
    ASSERT_EQ(static_cast<std::int64_t>(part.cells.size()), data::cell_count(sizes, part.set));
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      const auto all = codes_of(cell, sizes);
      const auto columns = fixed.members();
      if (std::ranges::all_of(columns, [&](std::size_t j) { return all[j] == codes[j]; })) {
        EXPECT_EQ(part.cells[project(all, part.set, sizes)], cells[cell]);
      }
    }
  }
}

}  // namespace
}  // namespace shoal::synth
