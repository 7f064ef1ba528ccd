#include "synth/projection_tree.hpp"

#include <algorithm>
#include <utility>

namespace shoal::synth {

using data::AttributeSet;

namespace {

// A table in between must save this part of reading the larger one once, or it is not worth its
// memory.
constexpr double kLeastGain = 0.25;

std::span<double> sized(ProjectionTree::Scratch& scratch, std::size_t depth, std::size_t cells) {
  if (scratch.size() <= depth) scratch.resize(depth + 1);
  if (scratch[depth].size() < cells) scratch[depth].resize(cells);
  return std::span(scratch[depth]).first(cells);
}

// How much is saved, in readings of a table, if those that lack a column of so many values are
// added up without it: each then reads that part of it, but it has to be made.
double gain(std::size_t lacking, std::uint32_t values) {
  return static_cast<double>(lacking) * (1 - 1 / static_cast<double>(values)) - 1;
}

}  // namespace

ProjectionTree::ProjectionTree(std::span<const std::uint32_t> sizes, AttributeSet large,
                               std::span<const AttributeSet> small) {
  nodes_.push_back({large, TableProjection(sizes, large, large), kBetween, {}});
  std::vector<std::size_t> wanted(small.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
  grow(sizes, 0, small, std::move(wanted));
}

void ProjectionTree::attach(std::span<const std::uint32_t> sizes, std::size_t parent,
                            AttributeSet set, std::size_t table) {
  nodes_[parent].children.push_back(nodes_.size());
  nodes_.push_back({set, TableProjection(sizes, nodes_[parent].set, set), table, {}});
}

// Takes the column whose absence saves most, as long as one does.
void ProjectionTree::grow(std::span<const std::uint32_t> sizes, std::size_t node,
                          std::span<const AttributeSet> small, std::vector<std::size_t> wanted) {
  const std::vector<std::size_t> columns = nodes_[node].set.members();
  while (true) {
    double most = kLeastGain;
    AttributeSet without;
    for (const std::size_t column : columns) {
      const auto lacking = static_cast<std::size_t>(
          std::count_if(wanted.begin(), wanted.end(),
                        [&](std::size_t table) { return !small[table].contains(column); }));
      if (gain(lacking, sizes[column]) <= most) continue;
      most = gain(lacking, sizes[column]);
      without = AttributeSet::single(column);
    }
    if (without.empty()) break;
    const auto rest = std::stable_partition(wanted.begin(), wanted.end(), [&](std::size_t table) {
      return !(small[table] & without).empty();
    });
    std::vector<std::size_t> lacking(rest, wanted.end());
    wanted.erase(rest, wanted.end());
    AttributeSet all;  // columns that none of them has are not needed either
    for (const std::size_t table : lacking) all = all | small[table];
    attach(sizes, node, all, kBetween);
    grow(sizes, nodes_.size() - 1, small, std::move(lacking));
  }
  for (const std::size_t table : wanted) attach(sizes, node, small[table], table);
}

void ProjectionTree::add_up_children(const Node& node, std::span<const double> cells,
                                     std::span<const std::span<double>> small, Scratch& scratch,
                                     std::size_t depth, WorkerTeam& team) const {
  for (const std::size_t c : node.children) {
    const Node& child = nodes_[c];
    if (child.table != kBetween) {
      child.projection.add_up(cells, small[child.table], team);
      continue;
    }
    const std::span<double> table = sized(scratch, depth, child.projection.small_cells());
    child.projection.add_up(cells, table, team);
    add_up_children(child, table, small, scratch, depth + 1, team);
  }
}

void ProjectionTree::add_up(std::span<const double> large, std::span<const std::span<double>> small,
                            Scratch& scratch, WorkerTeam& team) const {
  add_up_children(nodes_[0], large, small, scratch, 0, team);
}

// Each child is spread over the cells, and from the second on combined with what is there.
template <class Combine>
void ProjectionTree::combine_children(const Node& node, Tables small, std::span<double> cells,
                                      Scratch& scratch, std::size_t depth, WorkerTeam& team,
                                      const Combine& combine) const {
  bool first = true;
  for (const std::size_t c : node.children) {
    const Node& child = nodes_[c];
    std::span<const double> table;
    if (child.table != kBetween) {
      table = small[child.table];
    } else {
      const std::span<double> between = sized(scratch, depth, child.projection.small_cells());
      combine_children(child, small, between, scratch, depth + 1, team, combine);
      table = between;
    }
    for_pieces(cells.size(), team, [&](CellRange range) {
      if (first) {
        child.projection.spread(table, cells, range);
      } else {
        combine(child.projection, table, cells, range);
      }
    });
    first = false;
  }
}

void ProjectionTree::multiply(Tables small, std::span<double> large, Scratch& scratch,
                              WorkerTeam& team) const {
  if (nodes_[0].children.empty()) std::fill(large.begin(), large.end(), 1.0);
  combine_children(
      nodes_[0], small, large, scratch, 0, team,
      [](const TableProjection& projection, std::span<const double> table, std::span<double> cells,
         CellRange range) { projection.multiply(table, cells, range); });
}

void ProjectionTree::add(Tables small, std::span<double> large, Scratch& scratch,
                         WorkerTeam& team) const {
  if (nodes_[0].children.empty()) std::fill(large.begin(), large.end(), 0.0);
  combine_children(
      nodes_[0], small, large, scratch, 0, team,
      [](const TableProjection& projection, std::span<const double> table, std::span<double> cells,
         CellRange range) { projection.add(table, cells, range); });
}

std::size_t ProjectionTree::cells_read() const {
  std::size_t cells = 0;
  for (const Node& node : nodes_) cells += node.projection.small_cells() * node.children.size();
  return cells;
}

}  // namespace shoal::synth
