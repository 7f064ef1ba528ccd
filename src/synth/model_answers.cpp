#include "synth/model_answers.hpp"

#include <algorithm>

namespace shoal::synth {

using data::AttributeSet;

namespace {

// Of the messages that are kept, and of the sums of cliques: 16 megabytes, or as many as the
// cliques have.
std::size_t room_for(const BeliefTree& tree) {
  constexpr std::size_t kLeast = std::size_t{1} << 21;
  return std::max(kLeast, static_cast<std::size_t>(tree.cells()));
}

// Eight megabytes: two of them and what is added up to are near the processor.
constexpr std::size_t kOnTheWay = std::size_t{1} << 20;

}  // namespace

ModelAnswers::ModelAnswers(const BeliefTree& tree, std::size_t max_cells_on_the_way)
    : tree_(tree),
      max_cells_on_the_way_(
          static_cast<std::int64_t>(max_cells_on_the_way > 0 ? max_cells_on_the_way : kOnTheWay)),
      reduced_(room_for(tree)),
      messages_(room_for(tree)),
      codes_(tree.sizes().size()) {
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
  if (Table known = reduced_.find({clique, to})) return known;
  const TableProjection projection(tree_.sizes(), tree_.tree().cliques[clique], to);
  ColumnTable table{to, std::vector<double>(projection.small_cells())};
  projection.add_up(tree_.belief(clique), table.cells);
  return reduced_.keep({clique, to}, std::move(table));
}

AttributeSet ModelAnswers::needed_of(std::size_t clique, std::span<const std::size_t> asked,
                                     AttributeSet set, AttributeSet also) const {
  AttributeSet needed = (set & tree_.tree().cliques[clique]) | also;
  for (const std::size_t child : asked) needed = needed | tree_.tree().separators[child];
  return needed;
}

// Two cliques that both have a column that is held also have it in the separators between them, so
// all that a column is held in is taken at the same code.
ColumnTable ModelAnswers::joint(std::size_t clique, AttributeSet set, AttributeSet also) {
  const std::vector<std::size_t> asked = asked_below(clique, set);
  const Table own = reduced(clique, needed_of(clique, asked, set, also));
  if (asked.empty() && (own->set & held_).empty()) return *own;
  ColumnTable table;
  if (!(own->set & held_).empty()) {
    table = slice(tree_.sizes(), own->set, own->cells, held_, codes_);
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    AttributeSet kept = set | also;
    for (std::size_t later = i + 1; later < asked.size(); ++later) {
      kept = kept | tree_.tree().separators[asked[later]];
    }
    const Table told = message(asked[i], set & below_[asked[i]]);
    const bool whole = i == 0 && (own->set & held_).empty();
    table = contract(tree_.sizes(), whole ? *own : table, *told, kept.without(held_));
    most_cells_made_ = std::max(most_cells_made_, table.cells.size());
  }
  return table;
}

ModelAnswers::Table ModelAnswers::message(std::size_t clique, AttributeSet set) {
  const AttributeSet separator = tree_.tree().separators[clique];
  const bool for_later = ((below_[clique] | separator) & held_).empty();
  if (for_later) {
    if (Table known = messages_.find({clique, set})) return known;
  }
  ColumnTable table = joint(clique, set, separator);
  ColumnTable inverse = slice(tree_.sizes(), separator, tree_.separator(clique), held_, codes_);
  for (double& cell : inverse.cells) cell = cell > 1e-280 ? 1 / cell : 0;  // smaller ones overflow
  TableProjection(tree_.sizes(), table.set, inverse.set).multiply(inverse.cells, table.cells);
  if (for_later) return messages_.keep({clique, set}, std::move(table));
  return std::make_shared<const ColumnTable>(std::move(table));
}

std::int64_t ModelAnswers::most_cells(std::size_t clique, AttributeSet set, AttributeSet also,
                                      AttributeSet held) const {
  const std::vector<std::size_t> asked = asked_below(clique, set);
  AttributeSet table = needed_of(clique, asked, set, also);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const AttributeSet separator = tree_.tree().separators[asked[i]];
    const AttributeSet told = set & below_[asked[i]];
    most = std::max(most, most_cells(asked[i], told, separator, held));
    AttributeSet kept = set | also;
    for (std::size_t later = i + 1; later < asked.size(); ++later) {
      kept = kept | tree_.tree().separators[asked[later]];
    }
    table = (table | told | separator) & kept;
    most = std::max(most, data::cell_count(tree_.sizes(), table.without(held)));
  }
  return most;
}

// Of the columns that are held; false after the last.
bool ModelAnswers::next_codes() {
  for (const std::size_t column : held_.members()) {
    if (++codes_[column] < tree_.sizes()[column]) return true;
    codes_[column] = 0;
  }
  return false;
}

// One by one, the column that helps most, or of those that help enough the one of the fewest codes.
AttributeSet ModelAnswers::columns_to_hold(std::size_t clique, AttributeSet set) const {
  AttributeSet held;
  std::int64_t most = most_cells(clique, set, {}, held);
  while (most > max_cells_on_the_way_) {
    AttributeSet best;
    std::int64_t least = most;
    for (std::size_t column = 0; column < tree_.sizes().size(); ++column) {
      if ((set | held).contains(column)) continue;
      const AttributeSet one = AttributeSet::single(column);
      const std::int64_t cells =
          std::max(max_cells_on_the_way_, most_cells(clique, set, {}, held | one));
      const bool better = cells < least || (cells == least && !best.empty() &&
                                            tree_.sizes()[column] < tree_.sizes()[best.first()]);
      if (!better) continue;
      least = cells;
      best = one;
    }
    if (best.empty()) break;  // what is asked for is as large
    held = held | best;
    most = least;
  }
  return held;
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
  held_ = columns_to_hold(top, set);
  std::fill(codes_.begin(), codes_.end(), 0);
  std::vector<double> sum = std::move(joint(top, set, {}).cells);
  while (next_codes()) {
    const ColumnTable more = joint(top, set, {});
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more.cells[i];
  }
  held_ = {};
  return sum;
}

}  // namespace shoal::synth
