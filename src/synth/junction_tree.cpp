#include "synth/junction_tree.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace shoal::synth {
namespace {

using data::AttributeSet;

enum class Rule { least_cells, least_fill };

std::vector<AttributeSet> neighbours_of(std::size_t columns, std::span<const AttributeSet> sets) {
  std::vector<AttributeSet> neighbours(columns);
  for (std::size_t column = 0; column < columns; ++column) {
    neighbours[column] = AttributeSet::single(column);
    for (const AttributeSet set : sets) {
      if (set.contains(column)) neighbours[column] = neighbours[column] | set;
    }
  }
  return neighbours;
}

// How many pairs of the neighbours are not neighbours yet.
std::int64_t missing_edges(std::span<const AttributeSet> neighbours, std::size_t column) {
  std::int64_t missing = 0;
  for (std::uint64_t rest = neighbours[column].bits(); rest != 0; rest &= rest - 1) {
    const auto other = static_cast<std::size_t>(std::countr_zero(rest));
    missing += static_cast<std::int64_t>(neighbours[column].without(neighbours[other]).size());
  }
  return missing;
}

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

// The largest cliques of one elimination.
std::vector<AttributeSet> eliminate(std::span<const std::uint32_t> sizes,
                                    std::vector<AttributeSet> neighbours, Rule rule) {
  std::vector<AttributeSet> cliques;
  std::vector<std::int64_t> cells(sizes.size());
  std::vector<std::int64_t> fills(sizes.size());
  std::uint64_t stale = ~std::uint64_t{0};  // of which columns both are to be worked out
  std::uint64_t left =
      sizes.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << sizes.size()) - 1;
  while (left != 0) {
    std::size_t best = 0;
    std::pair<std::int64_t, std::int64_t> least{std::numeric_limits<std::int64_t>::max(), 0};
    bool found = false;
    for (std::uint64_t rest = left; rest != 0; rest &= rest - 1) {
      const auto column = static_cast<std::size_t>(std::countr_zero(rest));
      if ((stale >> column & 1) != 0) {
        cells[column] = data::cell_count(sizes, neighbours[column]);
        fills[column] = missing_edges(neighbours, column);
      }
      const auto cost = rule == Rule::least_cells ? std::pair{cells[column], fills[column]}
                                                  : std::pair{fills[column], cells[column]};
      if (!found || cost < least) {
        found = true;
        least = cost;
        best = column;
      }
    }
    const AttributeSet clique = neighbours[best];
    const bool covered = std::any_of(cliques.begin(), cliques.end(),
                                     [&](AttributeSet one) { return clique.within(one); });
    if (!covered) cliques.push_back(clique);
    const AttributeSet gone = AttributeSet::single(best);
    // Who has a neighbour whose neighbours change has another fill.
    stale = 0;
    for (std::uint64_t rest = clique.without(gone).bits(); rest != 0; rest &= rest - 1) {
      const auto other = static_cast<std::size_t>(std::countr_zero(rest));
      neighbours[other] = (neighbours[other] | clique).without(gone);
      stale |= neighbours[other].bits();
    }
    left &= ~gone.bits();
  }
  return cliques;
}

std::int64_t total_cells(std::span<const std::uint32_t> sizes,
                         std::span<const AttributeSet> cliques) {
  std::int64_t total = 0;
  for (const AttributeSet clique : cliques) {
    total = saturating_sum(total, data::cell_count(sizes, clique));
  }
  return total;
}

std::vector<AttributeSet> best_cliques(std::span<const std::uint32_t> sizes,
                                       std::span<const AttributeSet> sets) {
  const std::vector<AttributeSet> neighbours = neighbours_of(sizes.size(), sets);
  std::vector<AttributeSet> by_cells = eliminate(sizes, neighbours, Rule::least_cells);
  std::vector<AttributeSet> by_fill = eliminate(sizes, neighbours, Rule::least_fill);
  return total_cells(sizes, by_fill) < total_cells(sizes, by_cells) ? by_fill : by_cells;
}

}  // namespace

// A spanning tree with the largest separators connects the cliques of each column (Jensen and
// Jensen 1994).
JunctionTree make_junction_tree(std::span<const std::uint32_t> sizes,
                                std::span<const AttributeSet> sets) {
  std::vector<AttributeSet> waiting = best_cliques(sizes, sets);
  // From the largest table, so that most messages go towards it once.
  const auto root = std::max_element(waiting.begin(), waiting.end(), [&](auto a, auto b) {
    return data::cell_count(sizes, a) < data::cell_count(sizes, b);
  });
  JunctionTree tree{{*root}, {0}, {AttributeSet()}};
  waiting.erase(root);
  while (!waiting.empty()) {
    std::size_t next = 0;
    std::size_t parent = 0;
    std::size_t most = 0;
    bool found = false;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      for (std::size_t j = 0; j < tree.cliques.size(); ++j) {
        const std::size_t common = (waiting[i] & tree.cliques[j]).size();
        if (found && common <= most) continue;
        found = true;
        most = common;
        next = i;
        parent = j;
      }
    }
    tree.separators.push_back(waiting[next] & tree.cliques[parent]);
    tree.parents.push_back(parent);
    tree.cliques.push_back(waiting[next]);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return tree;
}

std::int64_t junction_tree_cells(std::span<const std::uint32_t> sizes,
                                 std::span<const AttributeSet> sets) {
  return total_cells(sizes, best_cliques(sizes, sets));
}

}  // namespace shoal::synth
