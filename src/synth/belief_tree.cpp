#include "synth/belief_tree.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/exponentials.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace shoal::synth {

using data::AttributeSet;

namespace {

// Tables whose largest cell is above this lose none that matters: numbers reach down to 1e-308.
constexpr double kLeast = 1e-150;

}  // namespace

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

// As logarithms; a clique without potentials gets zeros.
void BeliefTree::add_potentials(std::span<const std::vector<double>> potentials) {
  for (std::size_t c = 0; c < beliefs_.size(); ++c) {
    if (holders_[c].empty()) std::fill(beliefs_[c].begin(), beliefs_[c].end(), 0.0);
    for (std::size_t i = 0; i < holders_[c].size(); ++i) {
      const std::size_t p = holders_[c][i];
      if (i == 0) {
        places_[p].projection.spread(potentials[p], beliefs_[c]);
      } else {
        places_[p].projection.add(potentials[p], beliefs_[c]);
      }
    }
  }
}

// Their exponentials, each scaled to a largest cell of one. Potentials have fewer cells than the
// cliques that hold them, so this takes the fewest exponentials.
double BeliefTree::multiply_potentials(std::span<const std::vector<double>> potentials) {
  double shift = 0;
  for (std::size_t c = 0; c < beliefs_.size(); ++c) {
    if (holders_[c].empty()) std::fill(beliefs_[c].begin(), beliefs_[c].end(), 1.0);
    for (std::size_t i = 0; i < holders_[c].size(); ++i) {
      const std::size_t p = holders_[c][i];
      factors_ = potentials[p];
      shift += exponentiate(factors_);
      if (i == 0) {
        places_[p].projection.spread(factors_, beliefs_[c]);
      } else {
        places_[p].projection.multiply(factors_, beliefs_[c]);
      }
    }
  }
  return shift;
}

// The same where potentials contradict each other: what a clique tells its parent, by the last
// time, is taken from the one and given to the other, so that each has tables near its marginal.
double BeliefTree::multiply_balanced(std::span<const std::vector<double>> potentials) {
  add_potentials(potentials);
  for (std::size_t c = 1; c < beliefs_.size(); ++c) {
    from_parent_[c].add(told_[c], beliefs_[tree_.parents[c]]);
    factors_ = told_[c];
    for (double& cell : factors_) cell = -cell;
    to_separator_[c].add(factors_, beliefs_[c]);
  }
  double shift = 0;
  for (std::vector<double>& belief : beliefs_) shift += exponentiate(belief);
  return shift;
}

// To a largest cell of one; gives the logarithm of what it was, which is not finite if there is
// none.
double BeliefTree::exponentiate(std::span<double> cells) {
  const double largest = *std::max_element(cells.begin(), cells.end());
  if (std::isfinite(largest)) numeric::exponentials(cells, largest);
  return largest;
}

// Towards the root: children come after their parents, so backwards. Each message is scaled to a
// largest value of one. Not a number where so little is left that cells are lost.
double BeliefTree::collect(bool remember) {
  double shift = 0;
  for (std::size_t c = beliefs_.size(); c-- > 1;) {
    to_separator_[c].add_up(beliefs_[c], separators_[c]);
    const double largest = *std::max_element(separators_[c].begin(), separators_[c].end());
    if (!(largest > kLeast)) return std::numeric_limits<double>::quiet_NaN();
    for (double& cell : separators_[c]) cell /= largest;
    scales_[c] = largest;
    shift += std::log(largest);
    if (remember) remember_message(c);
    from_parent_[c].multiply(separators_[c], beliefs_[tree_.parents[c]]);
  }
  double total = 0;
  for (const double cell : beliefs_[0]) total += cell;
  if (!(total > kLeast)) return std::numeric_limits<double>::quiet_NaN();
  for (double& cell : beliefs_[0]) cell /= total;
  return shift + std::log(total);
}

// Adds the logarithm of a message to what was known of it, for the next time.
void BeliefTree::remember_message(std::size_t clique) {
  const std::vector<double>& message = separators_[clique];
  for (std::size_t i = 0; i < message.size(); ++i) {
    if (message[i] > 0) told_[clique][i] += std::log(message[i]);
  }
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
      const double message = separator[i] * scale;
      ratio[i] = message > 1e-280 ? marginal / message : 0;  // smaller ones overflow
      separator[i] = marginal;
    }
    to_separator_[c].multiply(ratio, beliefs_[c]);
  }
}

// small = log of the sums of exp(large).
void BeliefTree::log_add_up(const TableProjection& projection, std::span<const double> large,
                            std::span<double> small) {
  largest_.resize(small.size());
  projection.largest(large, largest_);
  for (double& cell : largest_) cell = std::isfinite(cell) ? -cell : 0;
  factors_.assign(large.begin(), large.end());
  projection.add(largest_, factors_);
  numeric::exponentials(factors_, 0);  // what was the largest of its sum is 0 now
  projection.add_up(factors_, small);
  for (std::size_t i = 0; i < small.size(); ++i) small[i] = std::log(small[i]) - largest_[i];
}

// Both ways at once; tables become probabilities at the end.
double BeliefTree::calibrate_logarithms(std::span<const std::vector<double>> potentials) {
  add_potentials(potentials);
  told_.resize(beliefs_.size());
  for (std::size_t c = beliefs_.size(); c-- > 1;) {
    log_add_up(to_separator_[c], beliefs_[c], separators_[c]);
    told_[c] = separators_[c];
    for (double& cell : told_[c]) cell = std::isfinite(cell) ? cell : 0;
    from_parent_[c].add(separators_[c], beliefs_[tree_.parents[c]]);
  }
  std::vector<double>& root = separators_[0];
  log_add_up(to_separator_[0], beliefs_[0], root);
  const double constant = root[0];
  for (double& cell : beliefs_[0]) cell -= constant;
  root[0] = 0;
  std::vector<double> marginal;
  for (std::size_t c = 1; c < beliefs_.size(); ++c) {
    std::vector<double>& separator = separators_[c];
    marginal.resize(separator.size());
    log_add_up(from_parent_[c], beliefs_[tree_.parents[c]], marginal);
    for (std::size_t i = 0; i < marginal.size(); ++i) {
      // What the parent knew without this clique's message.
      const double factor = std::isfinite(separator[i]) ? marginal[i] - separator[i] : 0;
      separator[i] = marginal[i];
      marginal[i] = factor;
    }
    to_separator_[c].add(marginal, beliefs_[c]);
  }
  for (auto* tables : {&beliefs_, &separators_}) {
    for (std::vector<double>& table : *tables) {
      for (double& cell : table) cell = std::min(cell, 0.0);  // a little above by rounding
      numeric::exponentials(table, 0);
    }
  }
  return constant;
}

double BeliefTree::calibrate(std::span<const std::vector<double>> potentials) {
  SHOAL_CHECK(potentials.size() == places_.size());
  const bool balanced = !told_.empty();
  const double shift = balanced ? multiply_balanced(potentials) : multiply_potentials(potentials);
  const double rest = std::isfinite(shift) ? collect(balanced) : shift;
  if (!std::isfinite(rest)) return calibrate_logarithms(potentials);
  distribute();
  return shift + rest;
}

void BeliefTree::potential_marginal(std::size_t i, std::span<double> cells) const {
  places_[i].projection.add_up(beliefs_[places_[i].clique], cells);
}

}  // namespace shoal::synth
