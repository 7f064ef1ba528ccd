// A junction tree with its tables: belief propagation for a density proportional to
// exp(sum of potentials), each a table of logarithms over a set of columns.
//
// Potentials are exponentiated, each scaled to a largest cell of one; from there on tables are only
// multiplied and added up. What underflows counts as none, and what that may take from the density
// is bounded as messages are sent. Where potentials contradict each other so far that it may
// matter, all is done again with logarithms, which takes longer and always succeeds. From then on
// cliques are balanced by what they told each other the last time.
//
// A clique's potentials and the messages of its children are put together by way of tables in
// between, and so are their marginals taken from it (projection_tree.hpp): a large clique may hold
// dozens of them. Ranges of large tables are the pieces of a team's work.
#pragma once

#include "synth/contraction.hpp"
#include "synth/junction_tree.hpp"
#include "synth/projection_tree.hpp"
#include "synth/worker_team.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::synth {

class BeliefTree {
 public:
  // One potential for each of the sets.
  BeliefTree(std::vector<std::uint32_t> sizes, std::span<const data::AttributeSet> sets);

  const JunctionTree& tree() const { return tree_; }
  const std::vector<std::uint32_t>& sizes() const { return sizes_; }
  std::int64_t cells() const;

  // Makes every table the marginal of the density of these potentials, one table of logarithms a
  // set. Gives the logarithm of the normalising constant, which is finite if the potentials are.
  // The same numbers for any number of threads in the team.
  double calibrate(std::span<const std::vector<double>> potentials, WorkerTeam& team);
  double calibrate(std::span<const std::vector<double>> potentials);

  // The marginal of set number i, as it was calibrated last.
  std::span<const double> potential_marginal(std::size_t i) const { return marginals_[i]; }

  // Of clique number i, and of its separator from its parent.
  std::span<const double> belief(std::size_t i) const { return beliefs_[i]; }
  std::span<const double> separator(std::size_t i) const { return separators_[i]; }

 private:
  using Tables = std::span<const std::vector<double>>;
  template <class Action>
  void for_cliques(WorkerTeam& team, Action action);
  double exponentiate_potentials(Tables potentials, WorkerTeam& team);
  std::vector<std::span<const double>> parts_of(std::size_t clique, Tables potentials,
                                                Tables of_children) const;
  double add_balanced(std::size_t clique, Tables potentials, WorkerTeam& team);
  double make_clique(std::size_t clique, Tables potentials, bool balanced, WorkerTeam& team);
  double lost_in(std::size_t clique) const;
  double collect(Tables potentials, bool balanced, WorkerTeam& team);
  void remember_message(std::size_t clique);
  void distribute(WorkerTeam& team);
  void take_marginals(std::size_t clique, WorkerTeam& team);
  double calibrate_logarithms(Tables potentials, WorkerTeam& team);
  void log_add_up(const TableProjection& projection, std::span<const double> large,
                  std::span<double> small, WorkerTeam& team);

  std::vector<std::uint32_t> sizes_;
  JunctionTree tree_;
  std::vector<std::vector<std::size_t>> holders_;  // the potentials of each clique
  std::vector<std::vector<std::size_t>> children_;
  std::vector<ProjectionTree> parts_;          // of each clique: potentials, children's separators
  std::vector<TableProjection> to_separator_;  // from each clique to the one with its parent
  std::vector<TableProjection> from_parent_;   // and from its parent
  std::vector<std::vector<double>> beliefs_;
  std::vector<std::vector<double>> separators_;
  std::vector<double> scales_;  // by which each message to a parent was divided
  std::vector<double> lost_;    // what an entry of the scaled message lacks at most
  // Logarithms of the messages to parents, up to a factor each; none as long as they are not
  // needed.
  std::vector<std::vector<double>> told_;
  std::vector<std::vector<double>> exponentials_;  // of the potentials
  std::vector<std::vector<double>> marginals_;     // of the potentials' sets, once calibrated
  std::vector<std::vector<double>> from_above_;    // of each separator, by the parent's table
  ProjectionTree::Scratch between_;
  std::vector<double> factors_;  // scratch
  std::vector<double> largest_;  // scratch
};

}  // namespace shoal::synth
