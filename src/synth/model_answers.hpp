// Marginals of a calibrated tree that may span several cliques: the part of the tree that holds the
// columns is cut out, each of its cliques is added up to what is asked or shared, and messages that
// carry the columns asked for run to one end. What is added up is kept for later questions.
#pragma once

#include "synth/belief_tree.hpp"

#include <map>
#include <utility>

namespace shoal::synth {

class ModelAnswers {
 public:
  explicit ModelAnswers(const BeliefTree& tree) : tree_(tree) {}

  // Probabilities.
  std::vector<double> marginal(data::AttributeSet set);

 private:
  // The smallest part of the tree in which every column of the set is; parents come first.
  std::vector<std::size_t> part_for(data::AttributeSet set) const;
  const ColumnTable& reduced(std::size_t clique, data::AttributeSet to);

  const BeliefTree& tree_;
  std::map<std::pair<std::size_t, data::AttributeSet>, ColumnTable> reduced_;
};

}  // namespace shoal::synth
