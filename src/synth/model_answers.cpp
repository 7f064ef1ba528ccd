#include "synth/model_answers.hpp"

#include <algorithm>

namespace shoal::synth {

using data::AttributeSet;

namespace {

// Of the messages that are kept: 32 megabytes, or twice the tables of the cliques.
constexpr std::size_t kLeastKeptCells = std::size_t{1} << 22;

}  // namespace

ModelAnswers::ModelAnswers(const BeliefTree& tree)
    : tree_(tree),
      max_kept_cells_(std::max(kLeastKeptCells, 2 * static_cast<std::size_t>(tree.cells()))) {
  const JunctionTree& shape = tree.tree();
  children_.resize(shape.cliques.size());
  below_ = shape.cliques;
  for (std::size_t c = shape.cliques.size(); c-- > 1;) {
    const std::size_t parent = shape.parents[c];
    children_[parent].push_back(c);
    below_[parent] = below_[parent] | below_[c];
    below_[c] = below_[c].without(shape.separators[c]);
  }
}

std::vector<std::size_t> ModelAnswers::asked_below(std::size_t clique, AttributeSet set) const {
  std::vector<std::size_t> asked;
  for (const std::size_t child : children_[clique]) {
    if (!(set & below_[child]).empty()) asked.push_back(child);
  }
  return asked;
}

ModelAnswers::Table ModelAnswers::reduced(std::size_t clique, AttributeSet to) {
  Table& place = reduced_[{clique, to}];
  if (!place) {
    const TableProjection projection(tree_.sizes(), tree_.tree().cliques[clique], to);
    ColumnTable table{to, std::vector<double>(projection.small_cells())};
    projection.add_up(tree_.belief(clique), table.cells);
    place = std::make_shared<const ColumnTable>(std::move(table));
  }
  return place;
}

ColumnTable ModelAnswers::joint(std::size_t clique, AttributeSet set, AttributeSet also) {
  const JunctionTree& tree = tree_.tree();
  const std::vector<std::size_t> asked = asked_below(clique, set);
  AttributeSet needed = (set & tree.cliques[clique]) | also;
  for (const std::size_t child : asked) needed = needed | tree.separators[child];
  const Table own = reduced(clique, needed);
  if (asked.empty()) return *own;
  ColumnTable table;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    AttributeSet kept = set | also;
    for (std::size_t later = i + 1; later < asked.size(); ++later) {
      kept = kept | tree.separators[asked[later]];
    }
    const Table told = message(asked[i], set & below_[asked[i]]);
    table = contract(tree_.sizes(), i == 0 ? *own : table, *told, kept);
  }
  return table;
}

ModelAnswers::Table ModelAnswers::message(std::size_t clique, AttributeSet set) {
  if (const auto known = messages_.find({clique, set}); known != messages_.end()) {
    return known->second;
  }
  const AttributeSet separator = tree_.tree().separators[clique];
  ColumnTable table = joint(clique, set, separator);
  std::vector<double> inverse(tree_.separator(clique).begin(), tree_.separator(clique).end());
  for (double& cell : inverse) cell = cell > 1e-280 ? 1 / cell : 0;  // smaller ones overflow
  TableProjection(tree_.sizes(), table.set, separator).multiply(inverse, table.cells);
  const std::size_t cells = table.cells.size();
  const auto result = std::make_shared<const ColumnTable>(std::move(table));
  if (cells <= max_kept_cells_ - kept_cells_) {
    kept_cells_ += cells;
    messages_.emplace(Key{clique, set}, result);
  }
  return result;
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
  if (holder < tree.cliques.size()) return reduced(holder, set)->cells;
  // The lowest clique such that what is asked is in it or below it.
  std::size_t top = 0;
  while (true) {
    const std::vector<std::size_t> asked = asked_below(top, set);
    if (asked.size() != 1 || !(set & tree.cliques[top]).within(tree.separators[asked[0]])) break;
    top = asked[0];
  }
  return std::move(joint(top, set, {}).cells);
}

}  // namespace shoal::synth
