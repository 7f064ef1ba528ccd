#include "synth/rounds.hpp"

#include <shoal/base/error.hpp>
#include <shoal/synth/mst.hpp>

#include <string>
#include <utility>

namespace shoal::synth {
namespace {

using data::AttributeSet;

// Which tree of the forest a column is in.
class Forest {
 public:
  explicit Forest(std::size_t columns) : tree_(columns) {
    for (std::size_t j = 0; j < columns; ++j) tree_[j] = j;
  }
  bool joined(AttributeSet pair) const {
    const std::vector<std::size_t> ends = pair.members();
    return tree_[ends[0]] == tree_[ends[1]];
  }
  void join(AttributeSet pair) {
    const std::vector<std::size_t> ends = pair.members();
    const std::size_t from = tree_[ends[0]];
    const std::size_t to = tree_[ends[1]];
    for (std::size_t& one : tree_) {
      if (one == from) one = to;
    }
  }

 private:
  std::vector<std::size_t> tree_;
};

}  // namespace

void check_mst(std::span<const std::uint32_t> sizes, const MethodOptions& options, double rho) {
  if (sizes.size() < 2) {
    throw Error(ErrorCode::invalid_argument, "mst needs at least two columns: there is one");
  }
  for (std::size_t a = 0; a < sizes.size(); ++a) {
    for (std::size_t b = a + 1; b < sizes.size(); ++b) {
      const std::int64_t cells = data::cell_count(sizes, AttributeSet::of({a, b}));
      if (cells <= options.max_model_cells) continue;
      throw Error(ErrorCode::invalid_argument, "a pair of columns has " + std::to_string(cells) +
                                                   " cells, beyond the model's limit of " +
                                                   std::to_string(options.max_model_cells) +
                                                   ": use wider bins or a larger limit");
    }
  }
  check_rounds(sizes, all_marginals(sizes.size(), 2), options, rho);
}

Synthesis mst(release::MarginalCurator& curator, const MethodOptions& options) {
  const std::size_t columns = curator.sizes().size();
  check_mst(curator.sizes(), options, curator.rho_left());
  Rounds rounds(curator, all_marginals(columns, 2), options);
  const double third = rounds.spendable(3 * static_cast<int>(columns)) / 3;
  const auto edges = static_cast<double>(columns - 1);
  for (std::size_t j = 0; j < columns; ++j) {
    rounds.measure(AttributeSet::single(j), rounds.sigma_for(third / static_cast<double>(columns)),
                   0);
  }
  rounds.fit_with_prior(options.fit);
  // Scores are of the model of independent columns throughout, as published.
  std::vector<AttributeSet> pairs;
  for (const WorkloadMarginal& one : all_marginals(columns, 2)) pairs.push_back(one.set);
  const auto expected = rounds.model().marginals(pairs, options.threads);
  const double epsilon = rounds.choice_epsilon_for(third / edges);
  Forest forest(columns);
  std::vector<AttributeSet> tree;
  std::vector<double> scales;
  for (std::size_t edge = 0; edge + 1 < columns; ++edge) {
    std::vector<Candidate> open;
    std::vector<std::vector<double>> tables;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      if (forest.joined(pairs[p])) continue;
      open.push_back({pairs[p], 1});
      tables.push_back(expected[p]);
    }
    const std::vector<double> penalties(open.size(), 0.0);
    const std::size_t chosen = rounds.choose(open, tables, penalties, epsilon);
    forest.join(open[chosen].set);
    tree.push_back(open[chosen].set);
    scales.push_back(rounds.last_scale());
    rounds.report_progress();
  }
  for (std::size_t e = 0; e < tree.size(); ++e) {
    rounds.measure(tree[e], rounds.sigma_for(third / edges), scales[e]);
  }
  rounds.fit_with_prior(options.final_fit);
  return std::move(rounds).finish();
}

}  // namespace shoal::synth
