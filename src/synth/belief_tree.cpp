#include "synth/belief_tree.hpp"

#include "synth/cell_kernels.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/exponentials.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace shoal::synth {

using data::AttributeSet;

namespace {

// Message entries below this are lost: numbers reach down to 1e-308, and what is divided by a
// smaller one overflows.
constexpr double kLeast = 1e-280;
// Of all probability, what may be lost.
constexpr double kMostLost = 1e-15;

// To a largest cell of one; gives the logarithm of what it was, which is not finite if there is
// none.
double exponentiate(std::span<double> cells) {
  const double largest = largest_of(cells);
  if (std::isfinite(largest)) numeric::exponentials(cells, largest);
  return largest;
}

}  // namespace

BeliefTree::BeliefTree(std::vector<std::uint32_t> sizes, std::span<const AttributeSet> sets)
    : sizes_(std::move(sizes)), tree_(make_junction_tree(sizes_, sets)) {
  const std::size_t cliques = tree_.cliques.size();
  holders_.resize(cliques);
  children_.resize(cliques);
  for (std::size_t c = cliques; c-- > 1;) children_[tree_.parents[c]].push_back(c);
  scales_.resize(cliques, 1.0);
  lost_.resize(cliques);
  for (std::size_t c = 0; c < cliques; ++c) {
    const AttributeSet separator = tree_.separators[c];
    to_separator_.emplace_back(sizes_, tree_.cliques[c], separator);
    from_parent_.emplace_back(sizes_, tree_.cliques[tree_.parents[c]], separator);
    beliefs_.emplace_back(to_separator_[c].large_cells());
    separators_.emplace_back(to_separator_[c].small_cells());
  }
  from_above_ = separators_;
  for (const AttributeSet set : sets) {
    std::size_t best = cliques;
    for (std::size_t c = 0; c < cliques; ++c) {
      if (!set.within(tree_.cliques[c])) continue;
      if (best == cliques || beliefs_[c].size() < beliefs_[best].size()) best = c;
    }
    SHOAL_CHECK(best < cliques);
    holders_[best].push_back(marginals_.size());
    marginals_.emplace_back(static_cast<std::size_t>(data::cell_count(sizes_, set)));
  }
  for (std::size_t c = 0; c < cliques; ++c) {
    std::vector<AttributeSet> parts;
    for (const std::size_t p : holders_[c]) parts.push_back(sets[p]);
    for (const std::size_t child : children_[c]) parts.push_back(tree_.separators[child]);
    parts_.emplace_back(sizes_, tree_.cliques[c], parts);
  }
}

std::int64_t BeliefTree::cells() const {
  std::int64_t total = 0;
  for (const std::vector<double>& table : beliefs_)
    total += static_cast<std::int64_t>(table.size());
  return total;
}

// Calls action(clique) for all of them, in any order.
template <class Action>
void BeliefTree::for_cliques(WorkerTeam& team, Action action) {
  if (pieces_of(static_cast<std::size_t>(cells())) > 1) {
    team.run(beliefs_.size(), action);
  } else {
    for (std::size_t c = 0; c < beliefs_.size(); ++c) action(c);
  }
}

// Each scaled to a largest cell of one. Potentials have fewer cells than the cliques that hold
// them, so this takes the fewest exponentials.
double BeliefTree::exponentiate_potentials(Tables potentials, WorkerTeam& team) {
  exponentials_.resize(potentials.size());
  std::vector<double> largest(potentials.size());
  std::size_t cells = 0;
  for (const std::vector<double>& potential : potentials) cells += potential.size();
  const auto one = [&](std::size_t p) {
    exponentials_[p] = potentials[p];
    largest[p] = exponentiate(exponentials_[p]);
  };
  if (pieces_of(cells) > 1) {
    team.run(potentials.size(), one);
  } else {
    for (std::size_t p = 0; p < potentials.size(); ++p) one(p);
  }
  double shift = 0;
  for (const double one_shift : largest) shift += one_shift;
  return shift;
}

// What parts_ of a clique takes: a table of each potential that it holds, and of each child.
std::vector<std::span<const double>> BeliefTree::parts_of(std::size_t clique, Tables potentials,
                                                          Tables of_children) const {
  std::vector<std::span<const double>> parts;
  parts.reserve(holders_[clique].size() + children_[clique].size());
  for (const std::size_t p : holders_[clique]) parts.emplace_back(potentials[p]);
  for (const std::size_t child : children_[clique]) parts.emplace_back(of_children[child]);
  return parts;
}

// Its logarithms where potentials contradict each other: what a clique tells its parent, by the
// last time, is taken from the one and given to the other, so that each has tables near its
// marginal. Gives the largest of them.
double BeliefTree::add_balanced(std::size_t clique, Tables potentials, WorkerTeam& team) {
  std::vector<double>& belief = beliefs_[clique];
  parts_[clique].add(parts_of(clique, potentials, told_), belief, between_, team);
  const std::size_t pieces = pieces_of(belief.size());
  std::vector<double> most(pieces);
  team.run(pieces, [&](std::size_t piece) {
    const CellRange range = piece_of(belief.size(), pieces, piece);
    if (clique > 0) to_separator_[clique].subtract(told_[clique], belief, range);
    most[piece] = largest_of({belief.data() + range.begin, belief.data() + range.end});
  });
  return *std::max_element(most.begin(), most.end());
}

// Its potentials and what its children told it. Gives the logarithm that it was scaled by, of what
// was not scaled before.
double BeliefTree::make_clique(std::size_t clique, Tables potentials, bool balanced,
                               WorkerTeam& team) {
  const std::span<double> belief = beliefs_[clique];
  if (!balanced) {
    parts_[clique].multiply(parts_of(clique, exponentials_, separators_), belief, between_, team);
    return 0;
  }
  const double largest = add_balanced(clique, potentials, team);
  if (!std::isfinite(largest)) return largest;
  for_pieces(belief.size(), team, [&](CellRange range) {
    numeric::exponentials(belief.subspan(range.begin, range.end - range.begin), largest);
    for (const std::size_t child : children_[clique]) {
      from_parent_[child].multiply(separators_[child], belief, range);
    }
  });
  return largest;
}

// What is lost of a clique's message, at most, in any of its entries and before it is scaled: all
// that was multiplied was at most one, so what each factor lacks adds up.
double BeliefTree::lost_in(std::size_t clique) const {
  double lost = kLeast;
  for (const std::size_t child : children_[clique]) lost += lost_[child];
  return lost * static_cast<double>(beliefs_[clique].size()) /
         static_cast<double>(separators_[clique].size());
}

// Towards the root: children come after their parents, so backwards. Each message is scaled to a
// largest value of one. Not finite where so little is left that what was lost may matter: a message
// that a parent has little use for is scaled up there, and what it lacks with it.
double BeliefTree::collect(Tables potentials, bool balanced, WorkerTeam& team) {
  double shift = balanced ? 0 : exponentiate_potentials(potentials, team);
  for (std::size_t c = beliefs_.size(); std::isfinite(shift) && c-- > 1;) {
    shift += make_clique(c, potentials, balanced, team);
    to_separator_[c].add_up(beliefs_[c], separators_[c], team);
    const double largest = largest_of(separators_[c]);
    if (!(largest > kLeast)) return std::numeric_limits<double>::quiet_NaN();
    for (double& cell : separators_[c]) cell /= largest;
    scales_[c] = largest;
    lost_[c] = lost_in(c) / largest;
    shift += std::log(largest);
  }
  if (!std::isfinite(shift)) return shift;
  shift += make_clique(0, potentials, balanced, team);
  to_separator_[0].add_up(beliefs_[0], separators_[0], team);
  const double total = separators_[0][0];
  if (!(lost_in(0) < kMostLost * total)) return std::numeric_limits<double>::quiet_NaN();
  for_pieces(beliefs_[0].size(), team, [&](CellRange range) {
    for (std::size_t i = range.begin; i < range.end; ++i) beliefs_[0][i] /= total;
  });
  if (balanced) {
    for_cliques(team, [&](std::size_t c) { remember_message(c); });
  }
  return shift + std::log(total);
}

// Adds the logarithm of a message to what was known of it, for the next time.
void BeliefTree::remember_message(std::size_t clique) {
  const std::vector<double>& message = separators_[clique];
  for (std::size_t i = 0; i < message.size(); ++i) {
    if (message[i] > 0) told_[clique][i] += std::log(message[i]);
  }
}

// Of the potentials that a calibrated clique holds, and of the separators from its children.
void BeliefTree::take_marginals(std::size_t clique, WorkerTeam& team) {
  std::vector<std::span<double>> parts;
  parts.reserve(holders_[clique].size() + children_[clique].size());
  for (const std::size_t p : holders_[clique]) parts.emplace_back(marginals_[p]);
  for (const std::size_t child : children_[clique]) parts.emplace_back(from_above_[child]);
  parts_[clique].add_up(beliefs_[clique], parts, between_, team);
}

// From the root on: parents come before their children.
void BeliefTree::distribute(WorkerTeam& team) {
  separators_[0][0] = 1;
  std::vector<double>& ratio = factors_;
  for (std::size_t c = 0; c < beliefs_.size(); ++c) {
    if (c > 0) {
      std::vector<double>& separator = separators_[c];
      ratio.resize(separator.size());
      const double scale = scales_[c];
      for_pieces(ratio.size(), team, [&](CellRange range) {
        for (std::size_t i = range.begin; i < range.end; ++i) {
          const double message = separator[i] * scale;
          separator[i] = from_above_[c][i];
          ratio[i] = message > kLeast ? separator[i] / message : 0;
        }
      });
      for_pieces(beliefs_[c].size(), team,
                 [&](CellRange range) { to_separator_[c].multiply(ratio, beliefs_[c], range); });
    }
    take_marginals(c, team);
  }
}

// small = log of the sums of exp(large).
void BeliefTree::log_add_up(const TableProjection& projection, std::span<const double> large,
                            std::span<double> small, WorkerTeam& team) {
  largest_.resize(small.size());
  projection.largest(large, largest_, team);
  for (double& cell : largest_) cell = std::isfinite(cell) ? cell : 0;
  factors_.resize(large.size());
  for_pieces(large.size(), team, [&](CellRange range) {
    const std::size_t many = range.end - range.begin;
    std::copy_n(large.data() + range.begin, many, factors_.data() + range.begin);
    projection.subtract(largest_, factors_, range);
    // What was the largest of its sum is 0 now.
    numeric::exponentials({factors_.data() + range.begin, many}, 0);
  });
  projection.add_up(factors_, small, team);
  for_pieces(small.size(), team, [&](CellRange range) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      small[i] = std::log(small[i]) + largest_[i];
    }
  });
}

// Both ways at once; tables become probabilities at the end.
double BeliefTree::calibrate_logarithms(Tables potentials, WorkerTeam& team) {
  told_.resize(beliefs_.size());
  for (std::size_t c = beliefs_.size(); c-- > 0;) {
    parts_[c].add(parts_of(c, potentials, separators_), beliefs_[c], between_, team);
    log_add_up(to_separator_[c], beliefs_[c], separators_[c], team);
    told_[c] = separators_[c];
    for (double& cell : told_[c]) cell = std::isfinite(cell) ? cell : 0;
  }
  const double constant = separators_[0][0];
  for (double& cell : beliefs_[0]) cell -= constant;
  separators_[0][0] = 0;
  std::vector<double> marginal;
  for (std::size_t c = 1; c < beliefs_.size(); ++c) {
    std::vector<double>& separator = separators_[c];
    marginal.resize(separator.size());
    log_add_up(from_parent_[c], beliefs_[tree_.parents[c]], marginal, team);
    for (std::size_t i = 0; i < marginal.size(); ++i) {
      // What the parent knew without this clique's message.
      const double factor = std::isfinite(separator[i]) ? marginal[i] - separator[i] : 0;
      separator[i] = marginal[i];
      marginal[i] = factor;
    }
    for_pieces(beliefs_[c].size(), team,
               [&](CellRange range) { to_separator_[c].add(marginal, beliefs_[c], range); });
  }
  for_cliques(team, [&](std::size_t c) {
    for (std::vector<double>* table : {&beliefs_[c], &separators_[c]}) {
      for (double& cell : *table) cell = std::min(cell, 0.0);  // a little above by rounding
      numeric::exponentials(*table, 0);
    }
  });
  for (std::size_t c = 0; c < beliefs_.size(); ++c) take_marginals(c, team);
  return constant;
}

double BeliefTree::calibrate(Tables potentials, WorkerTeam& team) {
  SHOAL_CHECK(potentials.size() == marginals_.size());
  const double constant = collect(potentials, !told_.empty(), team);
  if (!std::isfinite(constant)) return calibrate_logarithms(potentials, team);
  distribute(team);
  return constant;
}

double BeliefTree::calibrate(Tables potentials) {
  WorkerTeam alone(1);
  return calibrate(potentials, alone);
}

}  // namespace shoal::synth
