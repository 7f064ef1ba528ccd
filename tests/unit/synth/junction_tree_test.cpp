// Junction trees: every set lies in a clique, every column's cliques hang together, and parents
// come first.
#include "synth/junction_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace shoal::synth {
namespace {

using data::AttributeSet;

void expect_valid(const std::vector<std::uint32_t>& sizes, const std::vector<AttributeSet>& sets) {
  const JunctionTree tree = make_junction_tree(sizes, sets);
  for (const AttributeSet set : sets) {
    EXPECT_TRUE(std::any_of(tree.cliques.begin(), tree.cliques.end(),
                            [&](AttributeSet clique) { return set.within(clique); }));
  }
  for (std::size_t c = 1; c < tree.cliques.size(); ++c) {
    ASSERT_LT(tree.parents[c], c);
    EXPECT_EQ(tree.separators[c], tree.cliques[c] & tree.cliques[tree.parents[c]]);
  }
  // A column's cliques form a subtree: all but one of them share it with their parent.
  for (std::size_t column = 0; column < sizes.size(); ++column) {
    int tops = 0;
    for (std::size_t c = 0; c < tree.cliques.size(); ++c) {
      if (tree.cliques[c].contains(column) && !tree.separators[c].contains(column)) ++tops;
    }
    EXPECT_EQ(tops, 1) << "column " << column;
  }
  std::int64_t cells = 0;
  for (const AttributeSet clique : tree.cliques) cells += data::cell_count(sizes, clique);
  EXPECT_EQ(cells, junction_tree_cells(sizes, sets));
}

TEST(JunctionTreeTest, HoldsForRandomSets) {
  std::uint64_t state = 7;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::uint32_t> sizes;
    for (int j = 0; j < 10; ++j)
      sizes.push_back(2 + static_cast<std::uint32_t>((trial + j * j) % 5));
    std::vector<AttributeSet> sets;
    for (int s = 0; s < 1 + trial % 12; ++s) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      sets.push_back(
          AttributeSet::of({(state >> 20) % 10, (state >> 30) % 10, (state >> 40) % 10}));
    }
    expect_valid(sizes, sets);
  }
}

TEST(JunctionTreeTest, ACycleNeedsOneFill) {
  const std::vector<std::uint32_t> sizes = {2, 50, 3, 50};
  const std::vector<AttributeSet> cycle = {AttributeSet::of({0, 1}), AttributeSet::of({1, 2}),
                                           AttributeSet::of({2, 3}), AttributeSet::of({0, 3})};
  // The small columns 0 and 2 are joined, not the large ones.
  EXPECT_EQ(junction_tree_cells(sizes, cycle), 2 * (2 * 3 * 50));
  expect_valid(sizes, cycle);
}

TEST(JunctionTreeTest, ColumnsOfNoSetStandAlone) {
  const std::vector<std::uint32_t> sizes = {2, 5, 3};
  EXPECT_EQ(make_junction_tree(sizes, {}).cliques.size(), 3u);
  EXPECT_EQ(junction_tree_cells(sizes, {}), 10);
}

TEST(JunctionTreeTest, SixtyFourColumns) {
  const std::vector<std::uint32_t> sizes(64, 2);
  std::vector<AttributeSet> chain;
  for (std::size_t j = 0; j + 1 < 64; ++j) chain.push_back(AttributeSet::of({j, j + 1}));
  EXPECT_EQ(junction_tree_cells(sizes, chain), 63 * 4);
  expect_valid(sizes, chain);
}

}  // namespace
}  // namespace shoal::synth
