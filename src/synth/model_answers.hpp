// Marginals of a calibrated tree that may span several cliques: the part of the tree that holds the
// columns is cut out, each of its cliques is added up to what is asked or shared, and messages that
// carry the columns asked for run to one end. What is added up, and what a clique tells its parent
// about some columns, is kept for later questions as far as there is room: many of them share it,
// most of all neighbours in the order of their columns.
//
// Tables on the way may be larger than any clique: columns of two cliques by what separates them.
// Where they would be, some of the columns in between are held at one code after the other, and
// what that gives is added up.
#pragma once

#include "synth/belief_tree.hpp"
#include "synth/kept_tables.hpp"

namespace shoal::synth {

class ModelAnswers {
 public:
  // With tables on the way of this many cells at most, where that can be had; 0: a default.
  explicit ModelAnswers(const BeliefTree& tree, std::size_t max_cells_on_the_way = 0);

  // Probabilities.
  std::vector<double> marginal(data::AttributeSet set);

  // Of the tables that were multiplied together so far, the cells of the largest.
  std::size_t most_cells_made() const { return most_cells_made_; }

 private:
  using Table = KeptTables::Table;

  // The children of a clique below which there is some of the set that the clique does not have.
  std::vector<std::size_t> asked_below(std::size_t clique, data::AttributeSet set) const;
  // What joint() takes of the clique's own table.
  data::AttributeSet needed_of(std::size_t clique, std::span<const std::size_t> asked,
                               data::AttributeSet set, data::AttributeSet also) const;
  Table reduced(std::size_t clique, data::AttributeSet to);
  // The joint table of `set`, which is in the clique or below it, and `also`, which is in the
  // clique, without the columns that are held.
  ColumnTable joint(std::size_t clique, data::AttributeSet set, data::AttributeSet also);
  // The table of columns below a clique, conditional on its separator.
  Table message(std::size_t clique, data::AttributeSet set);

  // The most cells of a table that joint() makes if these columns are held.
  std::int64_t most_cells(std::size_t clique, data::AttributeSet set, data::AttributeSet also,
                          data::AttributeSet held) const;
  // The columns to hold so that they are few.
  data::AttributeSet columns_to_hold(std::size_t clique, data::AttributeSet set) const;
  bool next_codes();

  const BeliefTree& tree_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<data::AttributeSet> below_;  // columns of a clique or below it, without its separator
  std::int64_t max_cells_on_the_way_;
  std::size_t most_cells_made_ = 0;
  KeptTables reduced_;
  KeptTables messages_;      // of what is not held
  data::AttributeSet held_;  // at these codes, one a column of the domain
  std::vector<std::uint32_t> codes_;
};

}  // namespace shoal::synth
