// A quantile tree carried out: noise for the nodes that are looked at, the walk to a quantile, and
// the ends of its interval. Argument: quantile_tree.proof.md.
#include "mechanism/rank_path.hpp"
#include "mechanism/tree_shape.hpp"

#include <shoal/mechanism/post_process.hpp>
#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/discrete_laplace.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace shoal::mechanism {
namespace {

using Sampler = std::variant<random::DiscreteLaplaceSampler, random::DiscreteGaussianSampler>;

struct MakeSampler {
  Sampler operator()(const DiscreteLaplace& noise) const {
    return random::DiscreteLaplaceSampler(noise.scale);
  }
  Sampler operator()(const DiscreteGaussian& noise) const {
    return random::DiscreteGaussianSampler(noise.sigma);
  }
};

const QuantileTree& checked(const QuantileTree& tree) {
  validate(tree);
  return tree;
}

// The child in which a sequence of boundaries passes 0: in the middle of where it does, if they lie
// on 0 for a while.
std::size_t crossing(std::span<const Estimate> boundaries) {
  std::size_t first = 0;
  while (first < boundaries.size() && boundaries[first].value < 0) ++first;
  std::size_t end = first;
  while (end < boundaries.size() && boundaries[end].value <= 0) ++end;
  const std::size_t last_child = boundaries.size() - 2;
  const std::size_t child = end > first ? (first + end - 1) / 2 : first == 0 ? 0 : first - 1;
  return std::min(child, last_child);
}

}  // namespace

struct NoisyTree::State {
  State(const QuantileTree& spec, const StepRange& steps, std::span<const LeafCount> histogram,
        random::BitSource& source)
      : tree(checked(spec)),
        range(steps),
        shape(leaf_count(steps)),
        sampler(std::visit(MakeSampler{}, spec.noise)),
        bits(&source) {
    checked_total(histogram, steps);
    std::int64_t total = 0;
    for (const LeafCount& leaf : histogram) {
      places.push_back(leaf.step - steps.lower);
      totals.push_back(total += leaf.count);
    }
  }

  // Values on leaves before this one.
  std::int64_t before(std::int64_t leaf) const {
    const auto found = std::lower_bound(places.begin(), places.end(), leaf);
    return found == places.begin() ? 0
                                   : totals[static_cast<std::size_t>(found - places.begin()) - 1];
  }

  // The noisy counts of a node's children, always the same.
  const std::vector<double>& counts(const TreeNode& node) {
    const auto [found, is_new] = noisy.try_emplace({node.level, node.start});
    if (!is_new && !found->second.empty()) return found->second;
    std::vector<std::int64_t> noise(shape.children(node));
    std::visit([&](const auto& member) { member.fill(noise, *bits); }, sampler);
    std::vector<double> children;
    for (std::size_t j = 0; j < noise.size(); ++j) {
      const std::int64_t exact =
          before(shape.first_leaf(node, j + 1)) - before(shape.first_leaf(node, j));
      children.push_back(static_cast<double>(static_cast<Int128>(exact) + noise[j]));
    }
    visited += static_cast<std::int64_t>(children.size());
    found->second = std::move(children);
    return found->second;
  }

  // The step in which the rank passes the target, by boundaries that are made to increase.
  std::int64_t value_leaf(RankPath path) {
    TreeNode node;
    while (true) {
      const std::vector<double>& children = counts(node);
      constexpr double kNone = std::numeric_limits<double>::infinity();
      std::vector<Estimate> boundaries;
      for (std::size_t j = 0; j <= children.size(); ++j) {
        boundaries.push_back({path.boundary(children, j).z, -kNone, kNone});
      }
      const std::size_t j = crossing(monotone(boundaries));
      if (shape.at_leaves(node)) return shape.first_leaf(node, j);
      path = path.child(children, j);
      node = shape.child(node, j);
    }
  }

  // How much a boundary's estimate may be off, the rounding of sums of counts included.
  double reach(const RankPath::Boundary& boundary, double beta) {
    double size = 0;
    for (const double count : counts(TreeNode{})) size += std::fabs(count);
    return rank_deviation(tree, boundary.variance, boundary.largest, beta) + 1e-12 * (size + 1);
  }

  // The first leaf that is not ruled out from below: of all nodes on the way to it, that they end
  // before the quantile is not certain.
  std::optional<std::int64_t> first_leaf(const RankPath& path, const TreeNode& node, double beta) {
    const std::vector<double>& children = counts(node);
    for (std::size_t j = 0; j < children.size(); ++j) {
      const RankPath::Boundary end = path.boundary(children, j + 1);
      if (end.z + reach(end, beta) < 0) continue;
      if (shape.at_leaves(node)) return shape.first_leaf(node, j);
      const auto found = first_leaf(path.child(children, j), shape.child(node, j), beta);
      if (found) return found;
    }
    return std::nullopt;
  }

  // The last leaf that is not ruled out from above.
  std::optional<std::int64_t> last_leaf(const RankPath& path, const TreeNode& node, double beta) {
    const std::vector<double>& children = counts(node);
    for (std::size_t j = children.size(); j-- > 0;) {
      const RankPath::Boundary start = path.boundary(children, j);
      if (start.z - reach(start, beta) > 0) continue;
      if (shape.at_leaves(node)) return shape.first_leaf(node, j);
      const auto found = last_leaf(path.child(children, j), shape.child(node, j), beta);
      if (found) return found;
    }
    return std::nullopt;
  }

  QuantileTree tree;
  StepRange range;
  TreeShape shape;
  Sampler sampler;
  random::BitSource* bits;
  std::vector<std::int64_t> places;  // leaves that have values
  std::vector<std::int64_t> totals;  // values up to and with each
  std::map<std::pair<int, std::int64_t>, std::vector<double>> noisy;
  std::int64_t visited = 0;
};

NoisyTree::NoisyTree(const QuantileTree& tree, const StepRange& range,
                     std::span<const LeafCount> leaves, random::BitSource& bits)
    : state_(std::make_unique<State>(tree, range, leaves, bits)) {}
NoisyTree::NoisyTree(NoisyTree&&) noexcept = default;
NoisyTree& NoisyTree::operator=(NoisyTree&&) noexcept = default;
NoisyTree::~NoisyTree() = default;

QuantileEstimate NoisyTree::quantile(const Fraction& fraction, Confidence confidence) {
  validate(QuantileTarget(fraction));
  State& state = *state_;
  const RankPath root(static_cast<double>(fraction.numerator) /
                      static_cast<double>(fraction.denominator));
  const double beta = boundary_beta(state.shape.levels(), confidence);
  const std::int64_t value = state.value_leaf(root);
  const std::int64_t last = state.shape.leaves() - 1;
  std::int64_t lower = state.first_leaf(root, {}, beta).value_or(0);
  std::int64_t upper = state.last_leaf(root, {}, beta).value_or(last);
  if (lower > upper) std::swap(lower, upper);
  return {state.range.lower + lower, state.range.lower + std::clamp(value, lower, upper),
          state.range.lower + upper};
}

std::int64_t NoisyTree::visited() const { return state_->visited; }

}  // namespace shoal::mechanism
