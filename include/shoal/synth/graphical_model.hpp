// Graphical models: the density with the most entropy among those that agree with noisy marginals,
// up to their noise. Everything here is public: noisy marginals went through the curator before.
//
// The estimate p minimises
//   sum over marginals of |n p - y|^2 / (2 sigma^2)  +  n sum over orders of w KL-like shrinkage
// over all densities, as follows. Marginals are taken apart into main effects and pure interactions
// with independent noise (src/synth/components.hpp). A density is exp(sum of one table for each
// such part); with one weight w for all of them this is the exact optimum of squared errors by
// inverse variance plus w n KL(p || uniform), and with weights that rise with the order of the
// interaction, interactions that noise drowns are shrunk first. The dual, over those tables, is
// smooth, strictly convex and without constraints; a quasi-Newton method (L-BFGS) solves it, whose
// steps each cost one belief propagation. It starts from the tables of an earlier model.
#pragma once

#include <shoal/data/attribute_set.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace shoal::synth {

// Counts of a marginal, each with independent noise of standard deviation sigma.
struct NoisyMarginal {
  data::AttributeSet set;
  double sigma = 1;
  std::vector<double> counts;
};

struct FitOptions {
  // w above, for main effects, for pairs and for three columns or more: above 0.
  std::array<double, 3> shrinkage = {0.002, 0.002, 0.002};
  // If given, w is instead the number of a part's cells / (n variance): a prior under which the
  // entries of log-linear tables are normal, of mean 0 and this variance. (Where cells expect n /
  // cells rows each, the optimum is the mode of the posterior: an entry t moves a count by t n /
  // cells, so the mode leaves a residual of t sigma^2 cells / (n variance), and this estimate one
  // of t sigma^2 w.) Above 0.
  std::optional<double> prior_variance;
  int max_iterations = 300;
  // Stop when the next step promises less than this fraction of a unit of log-likelihood for each
  // measured cell.
  double tolerance = 0.01;
  // How many work on one fit; below 1 is 1. The model is the same, bit for bit, for any number.
  int threads = 1;
};

// How well a model was fitted.
struct FitReport {
  int iterations = 0;
  bool converged = false;
  double promise = 0;  // what the next step would gain, in units of log-likelihood
};

class BeliefTree;

class GraphicalModel {
 public:
  // The uniform density, of no rows.
  explicit GraphicalModel(std::vector<std::uint32_t> sizes);
  GraphicalModel(GraphicalModel&&) noexcept;
  GraphicalModel& operator=(GraphicalModel&&) noexcept;
  ~GraphicalModel();

  // Throws invalid_argument for no marginals, a sigma that is not positive, tables of the wrong
  // size, and a shrinkage or prior variance that is not positive. The total is the best linear
  // estimate from all of them.
  static GraphicalModel fit(std::vector<std::uint32_t> sizes,
                            std::span<const NoisyMarginal> marginals, const FitOptions& options,
                            const GraphicalModel* start = nullptr);

  // The density that is proportional to exp(the sum of these tables), one table a set: for models
  // that were stored or come from elsewhere. Minus infinity stands for a cell without probability.
  // Throws invalid_argument for tables of the wrong size, and for a density of nothing.
  static GraphicalModel from_tables(std::vector<std::uint32_t> sizes,
                                    std::vector<data::AttributeSet> sets,
                                    std::vector<std::vector<double>> potentials, double total);

  // What from_tables takes.
  const std::vector<data::AttributeSet>& sets() const { return sets_; }
  const std::vector<std::vector<double>>& potentials() const { return potentials_; }

  const std::vector<std::uint32_t>& sizes() const;
  double total() const { return total_; }
  const FitReport& report() const { return report_; }
  std::int64_t cells() const;  // of all cliques

  // Expected counts in the cells of these sets, whether a clique holds them or not.
  std::vector<double> marginal(data::AttributeSet set) const;
  std::vector<std::vector<double>> marginals(std::span<const data::AttributeSet> sets,
                                             int threads) const;

  // For record generation.
  const BeliefTree& beliefs() const { return *tree_; }

 private:
  std::vector<data::AttributeSet> sets_;         // none within another
  std::vector<std::vector<double>> potentials_;  // logarithms, a table for each
  std::unique_ptr<BeliefTree> tree_;
  double total_ = 0;
  FitReport report_;
};

// How many cells the cliques of a model of these sets have together; int64's largest value if that
// is smaller. Decides what a model may hold, before it is made.
std::int64_t model_cells(std::span<const std::uint32_t> sizes,
                         std::span<const data::AttributeSet> sets);

// The best linear estimate of the number of rows from noisy marginals.
double estimate_total(std::span<const NoisyMarginal> marginals);

}  // namespace shoal::synth
