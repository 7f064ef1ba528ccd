// Several small tables of one large table at once, by way of tables in between: a table without one
// of the columns has fewer cells, and all small tables without that column can be added up from it.
// Of a large table each added up from all of its cells would be read as often as there are small
// ones; this way it is read a few times. The other way round, small tables are put together before
// they are spread over the large one.
//
// What lies in between depends on the sets alone, so results are the same for any number of
// threads.
#pragma once

#include "synth/table_projection.hpp"

namespace shoal::synth {

class ProjectionTree {
 public:
  // Tables in between, kept from one use to the next; trees may share them, one use at a time.
  using Scratch = std::vector<std::vector<double>>;
  using Tables = std::span<const std::span<const double>>;

  // Throws internal unless all of small are within large.
  ProjectionTree(std::span<const std::uint32_t> sizes, data::AttributeSet large,
                 std::span<const data::AttributeSet> small);

  // small[i] = the sums of large over all cells that project to the same cell of it.
  void add_up(std::span<const double> large, std::span<const std::span<double>> small,
              Scratch& scratch, WorkerTeam& team) const;
  // large = the product of all small tables, each spread over it, or their sum; of none, 1 or 0.
  void multiply(Tables small, std::span<double> large, Scratch& scratch, WorkerTeam& team) const;
  void add(Tables small, std::span<double> large, Scratch& scratch, WorkerTeam& team) const;

  // How many cells are read to add all up: what the tables in between save can be seen by it.
  std::size_t cells_read() const;

 private:
  static constexpr std::size_t kBetween = static_cast<std::size_t>(-1);
  struct Node {
    data::AttributeSet set;
    TableProjection projection;         // from its parent
    std::size_t table;                  // which small table it is, or that it is one in between
    std::vector<std::size_t> children;  // of one in between, or of the root
  };

  void grow(std::span<const std::uint32_t> sizes, std::size_t node,
            std::span<const data::AttributeSet> small, std::vector<std::size_t> wanted);
  void attach(std::span<const std::uint32_t> sizes, std::size_t parent, data::AttributeSet set,
              std::size_t table);
  void add_up_children(const Node& node, std::span<const double> cells,
                       std::span<const std::span<double>> small, Scratch& scratch,
                       std::size_t depth, WorkerTeam& team) const;
  template <class Combine>
  void combine_children(const Node& node, Tables small, std::span<double> cells, Scratch& scratch,
                        std::size_t depth, WorkerTeam& team, const Combine& combine) const;

  std::vector<Node> nodes_;  // the root first
};

}  // namespace shoal::synth
