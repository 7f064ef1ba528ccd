// Junction trees: cliques of columns in a tree, such that every given set lies within a clique, and
// the cliques that have a column in common are connected. Made by eliminating the columns one after
// the other, greedily; of two rules, the one that gives the smaller tables. Public facts only.
#pragma once

#include <shoal/data/attribute_set.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::synth {

struct JunctionTree {
  std::vector<data::AttributeSet> cliques;     // parents come before their children
  std::vector<std::size_t> parents;            // the first clique is its own
  std::vector<data::AttributeSet> separators;  // shared with the parent; the root's is empty
};

// Every column of `sizes` is in a clique, even if it is in none of the sets.
JunctionTree make_junction_tree(std::span<const std::uint32_t> sizes,
                                std::span<const data::AttributeSet> sets);

// The cells of all cliques together, without the tree; saturates.
std::int64_t junction_tree_cells(std::span<const std::uint32_t> sizes,
                                 std::span<const data::AttributeSet> sets);

}  // namespace shoal::synth
