// Marginals of a calibrated tree that may span several cliques: the part of the tree that holds the
// columns is cut out, each of its cliques is added up to what is asked or shared, and messages that
// carry the columns asked for run to one end. What is added up, and what a clique tells its parent
// about some columns, is kept for later questions: many of them share it.
#pragma once

#include "synth/belief_tree.hpp"

#include <map>
#include <memory>
#include <utility>

namespace shoal::synth {

class ModelAnswers {
 public:
  explicit ModelAnswers(const BeliefTree& tree);

  // Probabilities.
  std::vector<double> marginal(data::AttributeSet set);

 private:
  using Key = std::pair<std::size_t, data::AttributeSet>;
  using Table = std::shared_ptr<const ColumnTable>;

  // The children of a clique below which there is some of the set that the clique does not have.
  std::vector<std::size_t> asked_below(std::size_t clique, data::AttributeSet set) const;
  Table reduced(std::size_t clique, data::AttributeSet to);
  // The joint table of `set`, which is in the clique or below it, and `also`, which is in the
  // clique.
  ColumnTable joint(std::size_t clique, data::AttributeSet set, data::AttributeSet also);
  // The table of columns below a clique, conditional on its separator.
  Table message(std::size_t clique, data::AttributeSet set);

  const BeliefTree& tree_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<data::AttributeSet> below_;  // columns of a clique or below it, without its separator
  std::map<Key, Table> reduced_;
  std::map<Key, Table> messages_;
  std::size_t max_kept_cells_;  // of the messages
  std::size_t kept_cells_ = 0;
};

}  // namespace shoal::synth
