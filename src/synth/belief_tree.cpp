#include "synth/belief_tree.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace shoal::synth {

using data::AttributeSet;

BeliefTree::BeliefTree(std::vector<std::uint32_t> sizes, std::span<const AttributeSet> sets)
    : sizes_(std::move(sizes)), tree_(make_junction_tree(sizes_, sets)) {
  const std::size_t cliques = tree_.cliques.size();
  holders_.resize(cliques);
  scales_.resize(cliques, 1.0);
  for (std::size_t c = 0; c < cliques; ++c) {
    const AttributeSet separator = tree_.separators[c];
    to_separator_.emplace_back(sizes_, tree_.cliques[c], separator);
    from_parent_.emplace_back(sizes_, tree_.cliques[tree_.parents[c]], separator);
    beliefs_.emplace_back(to_separator_[c].large_cells());
    separators_.emplace_back(to_separator_[c].small_cells());
  }
  for (const AttributeSet set : sets) {
    std::size_t best = cliques;
    for (std::size_t c = 0; c < cliques; ++c) {
      if (!set.within(tree_.cliques[c])) continue;
      if (best == cliques || beliefs_[c].size() < beliefs_[best].size()) best = c;
    }
    SHOAL_CHECK(best < cliques);
    holders_[best].push_back(places_.size());
    places_.push_back({best, TableProjection(sizes_, tree_.cliques[best], set)});
  }
}

std::int64_t BeliefTree::cells() const {
  std::int64_t total = 0;
  for (const std::vector<double>& table : beliefs_)
    total += static_cast<std::int64_t>(table.size());
  return total;
}

double BeliefTree::load(std::span<const std::vector<double>> potentials) {
  double shift = 0;
  for (std::size_t c = 0; c < beliefs_.size(); ++c) {
    std::vector<double>& belief = beliefs_[c];
    bool first = true;
    for (const std::size_t p : holders_[c]) {
      if (first) {
        places_[p].projection.spread(potentials[p], belief);
      } else {
        places_[p].projection.add(potentials[p], belief);
      }
      first = false;
    }
    if (first) {
      std::fill(belief.begin(), belief.end(), 1.0);
      continue;
    }
    const double largest = *std::max_element(belief.begin(), belief.end());
    for (double& cell : belief) cell = std::exp(cell - largest);
    shift += largest;
  }
  return shift;
}

// Towards the root: children come after their parents, so backwards. Each message is scaled to a
// largest value of one.
double BeliefTree::collect() {
  double shift = 0;
  for (std::size_t c = beliefs_.size(); c-- > 1;) {
    to_separator_[c].add_up(beliefs_[c], separators_[c]);
    const double largest = *std::max_element(separators_[c].begin(), separators_[c].end());
    for (double& cell : separators_[c]) cell /= largest;
    scales_[c] = largest;
    shift += std::log(largest);
    from_parent_[c].multiply(separators_[c], beliefs_[tree_.parents[c]]);
  }
  double total = 0;
  for (const double cell : beliefs_[0]) total += cell;
  for (double& cell : beliefs_[0]) cell /= total;
  return shift + std::log(total);
}

void BeliefTree::distribute() {
  separators_[0][0] = 1;
  std::vector<double>& ratio = factors_;
  for (std::size_t c = 1; c < beliefs_.size(); ++c) {
    std::vector<double>& separator = separators_[c];
    ratio.resize(separator.size());
    from_parent_[c].add_up(beliefs_[tree_.parents[c]], ratio);
    const double scale = scales_[c];
    for (std::size_t i = 0; i < ratio.size(); ++i) {
      const double marginal = ratio[i];
      ratio[i] = separator[i] > 1e-280 ? marginal / (separator[i] * scale) : 0;
      separator[i] = marginal;
    }
    to_separator_[c].multiply(ratio, beliefs_[c]);
  }
}

double BeliefTree::calibrate(std::span<const std::vector<double>> potentials) {
  SHOAL_CHECK(potentials.size() == places_.size());
  const double shift = load(potentials);
  const double constant = shift + collect();
  distribute();
  return constant;
}

void BeliefTree::potential_marginal(std::size_t i, std::span<double> cells) const {
  places_[i].projection.add_up(beliefs_[places_[i].clique], cells);
}

}  // namespace shoal::synth
