// Where the nodes of a quantile tree lie: the root has up to 17 children, all others up to 16, and
// the nodes on the last level are the steps.
#pragma once

#include <shoal/mechanism/quantile_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace shoal::mechanism {

inline constexpr std::int64_t kTreeArity = 16;
inline constexpr std::int64_t kRootArity = 17;

// A node whose children lie on `level` (0 below the root), from the leaf `start` on.
struct TreeNode {
  int level = 0;
  std::int64_t start = 0;
};

class TreeShape {
 public:
  explicit TreeShape(std::int64_t leaves) : leaves_(leaves), levels_(tree_levels(leaves)) {}

  std::int64_t leaves() const { return leaves_; }
  int levels() const { return levels_; }
  bool at_leaves(const TreeNode& node) const { return node.level == levels_ - 1; }

  // Leaves of a child, the last one apart.
  std::int64_t width(const TreeNode& node) const {
    std::int64_t width = 1;
    for (int level = node.level; level + 1 < levels_; ++level) width *= kTreeArity;
    return width;
  }

  std::size_t children(const TreeNode& node) const {
    const std::int64_t each = width(node);
    const std::int64_t arity = node.level == 0 ? kRootArity : kTreeArity;
    const std::int64_t end = std::min(node.start + arity * each, leaves_);
    return static_cast<std::size_t>((end - node.start + each - 1) / each);
  }

  TreeNode child(const TreeNode& node, std::size_t j) const {
    return {node.level + 1, first_leaf(node, j)};
  }

  // The first leaf of child j; for j beyond the last child, the first leaf after the node.
  std::int64_t first_leaf(const TreeNode& node, std::size_t j) const {
    return std::min(node.start + static_cast<std::int64_t>(j) * width(node), leaves_);
  }

 private:
  std::int64_t leaves_;
  int levels_;
};

// How far the rank of a boundary may be off: its noise exceeds the result, upwards and likewise
// downwards, with chance at most beta. Chernoff's bound, rounded up.
double rank_deviation(const QuantileTree& tree, double variance, double largest, double beta);

// The chance that each test of a boundary may fail with, so that an interval holds.
double boundary_beta(int levels, Confidence confidence);

}  // namespace shoal::mechanism
