#include "synth/model_answers.hpp"

#include <algorithm>

namespace shoal::synth {

using data::AttributeSet;

// A leaf goes if its neighbour has all that it has of the set.
std::vector<std::size_t> ModelAnswers::part_for(AttributeSet set) const {
  const JunctionTree& tree = tree_.tree();
  const std::size_t cliques = tree.cliques.size();
  std::vector<std::size_t> children(cliques, 0);
  std::vector<bool> in(cliques, true);
  for (std::size_t c = 1; c < cliques; ++c) ++children[tree.parents[c]];
  for (std::size_t c = cliques; c-- > 1;) {
    if (children[c] > 0 || !(set & tree.cliques[c]).within(tree.separators[c])) continue;
    in[c] = false;
    --children[tree.parents[c]];
  }
  // What is left hangs together at the root, which may itself be a leaf that is not needed.
  std::vector<std::size_t> part;
  for (std::size_t c = 0; c < cliques; ++c) {
    if (in[c]) part.push_back(c);
  }
  while (part.size() > 1) {
    const std::size_t root = part[0];
    const auto below = std::count_if(part.begin() + 1, part.end(),
                                     [&](std::size_t c) { return tree.parents[c] == root; });
    if (below != 1 || !(set & tree.cliques[root]).within(tree.separators[part[1]])) break;
    part.erase(part.begin());
  }
  return part;
}

const ColumnTable& ModelAnswers::reduced(std::size_t clique, AttributeSet to) {
  const auto [at, fresh] = reduced_.try_emplace({clique, to});
  if (fresh) {
    const TableProjection projection(tree_.sizes(), tree_.tree().cliques[clique], to);
    at->second = {to, std::vector<double>(projection.small_cells())};
    projection.add_up(tree_.belief(clique), at->second.cells);
  }
  return at->second;
}

std::vector<double> ModelAnswers::marginal(AttributeSet set) {
  const JunctionTree& tree = tree_.tree();
  std::size_t holder = tree.cliques.size();
  for (std::size_t c = 0; c < tree.cliques.size(); ++c) {
    if (!set.within(tree.cliques[c])) continue;
    if (holder == tree.cliques.size() || tree_.belief(c).size() < tree_.belief(holder).size()) {
      holder = c;
    }
  }
  if (holder < tree.cliques.size()) return reduced(holder, set).cells;

  const std::vector<std::size_t> part = part_for(set);
  std::map<std::size_t, std::vector<ColumnTable>> messages;  // by the clique that receives them
  for (std::size_t i = part.size(); i-- > 0;) {
    const std::size_t c = part[i];
    const AttributeSet upward = i == 0 ? AttributeSet() : tree.separators[c];
    AttributeSet needed = (set & tree.cliques[c]) | upward;
    std::vector<ColumnTable>& incoming = messages[c];
    for (const ColumnTable& message : incoming) {
      needed = needed | (message.set & tree.cliques[c]);
    }
    ColumnTable table = reduced(c, needed);
    for (std::size_t m = 0; m < incoming.size(); ++m) {
      AttributeSet kept = set | upward;
      for (std::size_t later = m + 1; later < incoming.size(); ++later) {
        kept = kept | (incoming[later].set & tree.cliques[c]);
      }
      table = contract(tree_.sizes(), table, incoming[m], kept);
    }
    incoming.clear();
    if (i == 0) return table.cells;
    // What goes up is conditional on the separator, which the parent's table has already.
    std::vector<double> inverse(tree_.separator(c).begin(), tree_.separator(c).end());
    for (double& cell : inverse) cell = cell > 1e-280 ? 1 / cell : 0;  // smaller ones overflow
    TableProjection(tree_.sizes(), table.set, upward).multiply(inverse, table.cells);
    messages[tree.parents[c]].push_back(std::move(table));
  }
  return {};
}

}  // namespace shoal::synth
