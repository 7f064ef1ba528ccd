// Junction trees: every set lies in a clique, every column's cliques hang together, and parents
// come first.
#include "synth/junction_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

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

// The cells of the cliques when the column that is cheapest at the time goes first, all costs
// worked out anew each time: by cells, then by edges that are missing among neighbours, or the
// other way.
std::int64_t greedy_cells(const std::vector<std::uint32_t>& sizes,
                          const std::vector<AttributeSet>& sets, bool cells_first) {
  std::vector<AttributeSet> neighbours(sizes.size());
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    neighbours[j] = AttributeSet::single(j);
    for (const AttributeSet set : sets) {
      if (set.contains(j)) neighbours[j] = neighbours[j] | set;
    }
  }
  std::vector<bool> gone(sizes.size());
  std::vector<AttributeSet> cliques;
  for (std::size_t step = 0; step < sizes.size(); ++step) {
    std::size_t best = sizes.size();
    std::pair<std::int64_t, std::int64_t> least;
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      if (gone[j]) continue;
      std::int64_t fill = 0;
      for (const std::size_t other : neighbours[j].members()) {
        fill += static_cast<std::int64_t>(neighbours[j].without(neighbours[other]).size());
      }
      std::pair cost{data::cell_count(sizes, neighbours[j]), fill};
      if (!cells_first) std::swap(cost.first, cost.second);
      if (best < sizes.size() && !(cost < least)) continue;
      best = j;
      least = cost;
    }
    gone[best] = true;
    const AttributeSet clique = neighbours[best];
    if (std::none_of(cliques.begin(), cliques.end(),
                     [&](AttributeSet one) { return clique.within(one); })) {
      cliques.push_back(clique);
    }
    const AttributeSet rest = clique.without(AttributeSet::single(best));
    for (const std::size_t other : rest.members()) {
      neighbours[other] = (neighbours[other] | rest).without(AttributeSet::single(best));
    }
  }
  std::int64_t cells = 0;
  for (const AttributeSet clique : cliques) cells += data::cell_count(sizes, clique);
  return cells;
}

TEST(JunctionTreeTest, EliminatesTheCheapestColumnFirst) {
  std::uint64_t state = 11;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::uint32_t> sizes;
    std::vector<AttributeSet> sets;
    for (int j = 0; j < 14; ++j) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      sizes.push_back(2 + static_cast<std::uint32_t>((state >> 50) % 20));
      sets.push_back(AttributeSet::of({(state >> 20) % 14, (state >> 30) % 14}));
      sets.push_back(AttributeSet::of({(state >> 35) % 14, (state >> 40) % 14}));
    }
    EXPECT_EQ(junction_tree_cells(sizes, sets),
              std::min(greedy_cells(sizes, sets, true), greedy_cells(sizes, sets, false)));
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
