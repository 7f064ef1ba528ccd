#include "synth/belief_tree.hpp"
#include "synth/cell_kernels.hpp"
#include "synth/components.hpp"
#include "synth/dual_solver.hpp"
#include "synth/model_answers.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/synth/graphical_model.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

namespace shoal::synth {
namespace {

using data::AttributeSet;

void check(std::span<const std::uint32_t> sizes, std::span<const NoisyMarginal> marginals,
           const FitOptions& options) {
  if (marginals.empty()) {
    throw Error(ErrorCode::invalid_argument, "a model needs at least one marginal");
  }
  for (const double weight : options.shrinkage) {
    if (weight > 0) continue;
    throw Error(ErrorCode::invalid_argument,
                "a shrinkage of " + format_number(weight) + " is out of range: give one above 0");
  }
  if (options.prior_variance && !(*options.prior_variance > 0)) {
    throw Error(ErrorCode::invalid_argument, "a prior variance of " +
                                                 format_number(*options.prior_variance) +
                                                 " is out of range: give one above 0");
  }
  for (const NoisyMarginal& marginal : marginals) {
    const std::int64_t cells = data::cell_count(sizes, marginal.set);
    if (static_cast<std::int64_t>(marginal.counts.size()) != cells || !(marginal.sigma > 0)) {
      throw Error(ErrorCode::invalid_argument,
                  "a marginal of " + std::to_string(cells) +
                      " cells needs as many counts and a sigma above 0");
    }
  }
}

// w of a part.
double weight_of(const Component& part, double total, const FitOptions& options) {
  if (options.prior_variance) {
    return static_cast<double>(part.target.size()) / (total * *options.prior_variance);
  }
  return options.shrinkage[std::min<std::size_t>(part.set.size(), 3) - 1];
}

SolverOptions solver_options(const FitOptions& options, std::span<const Component> parts,
                             double total, std::size_t cells) {
  SolverOptions solver;
  solver.max_iterations = options.max_iterations;
  // The dual is in units of log-likelihood times the shrinkage, which a cell has of its part.
  double sum = 0;
  double all = 0;
  for (const Component& part : parts) {
    const auto size = static_cast<double>(part.target.size());
    sum += size * weight_of(part, total, options);
    all += size;
  }
  const double unit = sum / all;
  solver.tolerance = options.tolerance * static_cast<double>(cells) * unit;
  // Two vectors a pair: some 256 megabytes of them, and four pairs in any case.
  constexpr std::size_t kPairCells = std::size_t{1} << 24;
  solver.memory = std::clamp<std::size_t>(kPairCells / std::max<std::size_t>(cells, 1), 4, 12);
  return solver;
}

// The dual, over one table phi of logarithms for each of the largest sets:
//   n log Z(phi) - <theta, z> + sum over parts of w / (2 precision) |theta|^2,
// where theta is the part's share of all tables and z its target. In these coordinates a cell that
// ought to be empty is one coordinate; two tables that differ on shared columns only, and cancel,
// leave theta as it is.
class Dual {
 public:
  Dual(BeliefTree& tree, std::span<const AttributeSet> largest, std::span<const Component> parts,
       double total, const FitOptions& options, WorkerTeam& team)
      : tree_(tree), parts_(parts), total_(total), team_(team) {
    for (const AttributeSet set : largest) {
      const auto cells = static_cast<std::size_t>(data::cell_count(tree.sizes(), set));
      begins_.push_back(size_);
      ridges_.push_back(0);
      potentials_.emplace_back(cells);
      size_ += cells;
    }
    held_.resize(largest.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const double ridge = weight_of(parts[p], total, options) / parts[p].precision;
      shares_.push_back({ridge, std::vector<double>(parts[p].target.size()), {}});
      for (std::size_t holder = 0; holder < largest.size(); ++holder) {
        if (!parts[p].set.within(largest[holder])) continue;
        const double share = static_cast<double>(parts[p].target.size()) /
                             static_cast<double>(potentials_[holder].size());
        ridges_[holder] += ridge * share * share;
        const std::size_t via = smallest_above(p, holder);
        const AttributeSet above = via < kNone ? parts[links_[via].part].set : largest[holder];
        shares_[p].links.push_back(links_.size());
        held_[holder].push_back(links_.size());
        links_.push_back({p,
                          holder,
                          share,
                          via,
                          above == parts[p].set,
                          TableProjection(tree.sizes(), above, parts[p].set),
                          {}});
      }
    }
  }

  std::size_t size() const { return size_; }
  double value(std::span<const double> point, std::span<double> gradient) {
    for (std::size_t r = 0; r < potentials_.size(); ++r) {
      const auto from = point.subspan(begins_[r], potentials_[r].size());
      std::copy(from.begin(), from.end(), potentials_[r].begin());
    }
    double sum = total_ * tree_.calibrate(potentials_, team_);
    sum += sum_over(potentials_.size(), [&](std::size_t r) { return add_up_links(r); });
    sum += sum_over(shares_.size(), [&](std::size_t p) { return take_apart(p); });
    for_each(potentials_.size(), [&](std::size_t r) {
      set_gradient(r, gradient.subspan(begins_[r], potentials_[r].size()));
    });
    return sum;
  }

  void diagonal(std::span<double> values) const {
    for (std::size_t r = 0; r < potentials_.size(); ++r) {
      const std::span<const double> marginal = tree_.potential_marginal(r);
      for (std::size_t i = 0; i < marginal.size(); ++i) {
        const double chance = marginal[i];
        values[begins_[r] + i] = total_ * chance * (1 - chance) + ridges_[r];
      }
    }
  }

 private:
  struct Share {
    double ridge;
    std::vector<double> theta;       // then what it pulls at: ridge theta - target
    std::vector<std::size_t> links;  // in ascending order
  };
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  // That a part is within a largest set. Parts come by descending size, so what is added up for a
  // larger part of the same set is there to be added up further: pairs of the set take its whole
  // table, single columns only that of a pair. Back to the set, the same way.
  struct Link {
    std::size_t part;
    std::size_t holder;
    double share;                // of the holder's cells
    std::size_t via;             // the link that it is added up from; none: the holder's table
    bool whole;                  // the part is the set
    TableProjection projection;  // from there
    std::vector<double> table;   // sums of the holder's cells, then the pull on each; none if whole
  };

  // The link of a larger part of the same set that has the fewest cells.
  std::size_t smallest_above(std::size_t part, std::size_t holder) const {
    std::size_t best = kNone;
    for (const std::size_t l : held_[holder]) {
      const Component& other = parts_[links_[l].part];
      if (links_[l].whole || !parts_[part].set.within(other.set)) continue;
      if (best == kNone || other.target.size() < parts_[links_[best].part].target.size()) best = l;
    }
    return best;
  }

  // For all parts of a largest set; gives what its mean adds to the sum.
  double add_up_links(std::size_t r) {
    for (const std::size_t l : held_[r]) {
      Link& link = links_[l];
      if (link.whole) continue;
      link.table.resize(link.projection.small_cells());
      link.projection.add_up(link.via == kNone ? potentials_[r] : links_[link.via].table,
                             link.table);
    }
    const double mean = std::accumulate(potentials_[r].begin(), potentials_[r].end(), 0.0) /
                        static_cast<double>(potentials_[r].size());
    return -total_ * mean;
  }

  // Calls action(i) for all i, which are independent of each other.
  template <class Action>
  void for_each(std::size_t many, Action action) {
    if (pieces_of(static_cast<std::size_t>(tree_.cells())) > 1) {
      team_.run(many, action);
    } else {
      for (std::size_t i = 0; i < many; ++i) action(i);
    }
  }

  // The sum of independent terms, by their order whatever thread has worked them out.
  template <class Term>
  double sum_over(std::size_t many, Term term) {
    terms_.resize(many);
    for_each(many, [&](std::size_t i) { terms_[i] = term(i); });
    return std::accumulate(terms_.begin(), terms_.end(), 0.0);
  }

  // Works out a part's theta, and its terms of the sum; leaves the pulls.
  double take_apart(std::size_t p) {
    Share& one = shares_[p];
    std::fill(one.theta.begin(), one.theta.end(), 0.0);
    for (const std::size_t l : one.links) {
      const Link& link = links_[l];
      add_scaled(link.share, link.whole ? potentials_[link.holder] : link.table, one.theta);
    }
    centre(tree_.sizes(), parts_[p].set, one.theta);
    double sum = 0;
    for (std::size_t i = 0; i < one.theta.size(); ++i) {
      const double theta = one.theta[i];
      sum += theta * (one.ridge * theta / 2 - parts_[p].target[i]);
      one.theta[i] = one.ridge * theta - parts_[p].target[i];
    }
    return sum;
  }

  // Of the table of a largest set.
  void set_gradient(std::size_t r, std::span<double> gradient) {
    const std::span<const double> marginal = tree_.potential_marginal(r);
    const double uniform = 1 / static_cast<double>(gradient.size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = total_ * (marginal[i] - uniform);
    }
    for (const std::size_t l : held_[r]) {
      std::vector<double>& table = links_[l].table;
      std::fill(table.begin(), table.end(), 0.0);
      add_scaled(links_[l].share, shares_[links_[l].part].theta,
                 links_[l].whole ? gradient : table);
    }
    for (auto l = held_[r].rbegin(); l != held_[r].rend(); ++l) {
      const Link& link = links_[*l];
      if (link.whole) continue;
      link.projection.add(link.table, link.via == kNone ? gradient : links_[link.via].table);
    }
  }

  BeliefTree& tree_;
  std::span<const Component> parts_;
  double total_;
  WorkerTeam& team_;
  std::vector<std::size_t> begins_;  // of each largest set in a point
  std::vector<double> ridges_;       // roughly, of a single cell of each
  std::vector<std::vector<double>> potentials_;
  std::vector<Share> shares_;
  std::vector<Link> links_;
  std::vector<std::vector<std::size_t>> held_;  // the links of each largest set
  std::vector<double> terms_;
  std::size_t size_ = 0;
};

// The tables of an earlier model, spread over the sets of the new one: the same density.
std::vector<double> carried_over(std::span<const std::uint32_t> sizes,
                                 std::span<const AttributeSet> largest,
                                 std::span<const AttributeSet> earlier,
                                 std::span<const std::vector<double>> potentials) {
  std::vector<double> point;
  std::vector<bool> used(earlier.size());
  for (const AttributeSet set : largest) {
    std::vector<double> table(static_cast<std::size_t>(data::cell_count(sizes, set)));
    for (std::size_t e = 0; e < earlier.size(); ++e) {
      if (used[e] || !earlier[e].within(set)) continue;
      used[e] = true;
      TableProjection(sizes, set, earlier[e]).add(potentials[e], table);
    }
    point.insert(point.end(), table.begin(), table.end());
  }
  return point;
}

}  // namespace

double estimate_total(std::span<const NoisyMarginal> marginals) {
  double weights = 0;
  double sum = 0;
  for (const NoisyMarginal& marginal : marginals) {
    const double weight =
        1 / (marginal.sigma * marginal.sigma * static_cast<double>(marginal.counts.size()));
    weights += weight;
    sum += weight * std::accumulate(marginal.counts.begin(), marginal.counts.end(), 0.0);
  }
  return weights > 0 ? std::max(1.0, sum / weights) : 1.0;
}

std::int64_t model_cells(std::span<const std::uint32_t> sizes, std::span<const AttributeSet> sets) {
  return junction_tree_cells(sizes, sets);
}

GraphicalModel::GraphicalModel(std::vector<std::uint32_t> sizes)
    : tree_(std::make_unique<BeliefTree>(std::move(sizes), std::span<const AttributeSet>())) {
  tree_->calibrate({});
}
GraphicalModel::GraphicalModel(GraphicalModel&&) noexcept = default;
GraphicalModel& GraphicalModel::operator=(GraphicalModel&&) noexcept = default;
GraphicalModel::~GraphicalModel() = default;

GraphicalModel GraphicalModel::fit(std::vector<std::uint32_t> sizes,
                                   std::span<const NoisyMarginal> marginals,
                                   const FitOptions& options, const GraphicalModel* start) {
  check(sizes, marginals, options);
  const std::vector<Component> parts = components_of(sizes, marginals);
  GraphicalModel model(sizes);
  model.total_ = estimate_total(marginals);
  std::vector<AttributeSet> sets;
  sets.reserve(parts.size());
  for (const Component& part : parts) sets.push_back(part.set);
  model.sets_ = largest_of(sets);
  std::vector<double> point =
      start ? carried_over(sizes, model.sets_, start->sets_, start->potentials_)
            : carried_over(sizes, model.sets_, {}, {});
  model.tree_ = std::make_unique<BeliefTree>(std::move(sizes), model.sets_);
  WorkerTeam team(options.threads);
  Dual dual(*model.tree_, model.sets_, parts, model.total_, options, team);
  const SolverResult result =
      minimise([&](std::span<const double> at,
                   std::span<double> gradient) { return dual.value(at, gradient); },
               [&](std::span<double> values) { dual.diagonal(values); }, point,
               solver_options(options, parts, model.total_, point.size()), team);
  model.report_ = {result.iterations, result.converged, result.promise};
  std::vector<double> gradient(point.size());
  dual.value(point, gradient);  // the tables of the point that was settled on
  auto from = point.begin();
  for (const AttributeSet set : model.sets_) {
    const auto to = from + static_cast<std::ptrdiff_t>(data::cell_count(model.sizes(), set));
    model.potentials_.emplace_back(from, to);
    from = to;
  }
  return model;
}

GraphicalModel GraphicalModel::from_tables(std::vector<std::uint32_t> sizes,
                                           std::vector<AttributeSet> sets,
                                           std::vector<std::vector<double>> potentials,
                                           double total) {
  bool fits = sets.size() == potentials.size() && total > 0 && std::isfinite(total);
  for (std::size_t i = 0; fits && i < sets.size(); ++i) {
    fits = static_cast<std::int64_t>(potentials[i].size()) == data::cell_count(sizes, sets[i]);
  }
  if (!fits) {
    throw Error(ErrorCode::invalid_argument,
                "a model needs a total above 0 and for each set a table of its size");
  }
  GraphicalModel model(sizes);
  model.tree_ = std::make_unique<BeliefTree>(std::move(sizes), sets);
  if (!std::isfinite(model.tree_->calibrate(potentials))) {
    throw Error(ErrorCode::invalid_argument, "the tables leave no cell with a probability");
  }
  model.sets_ = std::move(sets);
  model.potentials_ = std::move(potentials);
  model.total_ = total;
  model.report_.converged = true;
  return model;
}

const std::vector<std::uint32_t>& GraphicalModel::sizes() const { return tree_->sizes(); }

std::int64_t GraphicalModel::cells() const { return tree_->cells(); }

std::vector<double> GraphicalModel::marginal(AttributeSet set) const {
  return std::move(marginals({&set, 1}, 1).front());
}

std::vector<std::vector<double>> GraphicalModel::marginals(std::span<const AttributeSet> sets,
                                                           int threads) const {
  std::vector<std::vector<double>> result(sets.size());
  const auto workers = static_cast<std::size_t>(
      std::clamp<std::int64_t>(threads, 1, static_cast<std::int64_t>(1 + sets.size() / 16)));
  const auto work = [&](std::size_t first) {
    ModelAnswers answers(*tree_);
    for (std::size_t i = first; i < sets.size(); i += workers) {
      result[i] = answers.marginal(sets[i]);
      for (double& cell : result[i]) cell *= total_;
    }
  };
  std::vector<std::exception_ptr> failures(workers);
  {
    std::vector<std::jthread> running;
    for (std::size_t w = 1; w < workers; ++w) {
      running.emplace_back([&, w] {
        try {
          work(w);
        } catch (...) {
          failures[w] = std::current_exception();
        }
      });
    }
    work(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return result;
}

}  // namespace shoal::synth
