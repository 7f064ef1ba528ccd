// Any number of quantiles of a group for one price: noisy counts of the nodes of a 16-ary tree over
// the steps of the range. Proof note: src/mechanism/quantile_tree.proof.md.
//
// Noise is drawn for a node when it is first looked at, and kept: the answers have the law that
// they would have if all nodes had been given noise and released. What is done with noisy counts,
// which children are visited and which step is the answer, is post-processing.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/mechanism/discrete_gaussian.hpp>
#include <shoal/mechanism/discrete_laplace.hpp>
#include <shoal/mechanism/quantile.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/random/bit_source.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace shoal::mechanism {

// The noise of every node.
struct QuantileTree {
  std::variant<DiscreteLaplace, DiscreteGaussian> noise = DiscreteLaplace{};
  bool operator==(const QuantileTree&) const = default;
};

// Every function throws invalid_argument for arguments that validate refuses.
void validate(const QuantileTree& tree);
std::string_view name(const QuantileTree& tree);
std::string describe(const QuantileTree& tree);
// {"quantile_tree": {"discrete_laplace": {"scale": 4}}}; reading throws parse_error.
std::string to_json(const QuantileTree& tree);
void from_json(std::string_view text, QuantileTree& tree);

// How many nodes lie between the root and a step, the step included: the smallest h with leaves <=
// 17 * 16^(h - 1). The root may have 17 children, the others have 16, so that 2^16 + 1 steps need
// no fifth level. The root itself has no count.
int tree_levels(std::int64_t leaves);

// What the trees of all groups tell. Each of max_groups groups and each level is one count vector
// that moves by at most values_per_group in L1 (and so in L2) norm; twice as many if a unit is
// exchanged. One value per group: the noise event with sensitivity 1. More: pure{values / scale} or
// zcdp{values^2 / (2 sigma^2)} for each.
privacy::Event privacy_event(const QuantileTree& tree, std::int64_t leaves,
                             const GroupContribution& contribution, Neighbors neighbors);

// The tree of one group.
class NoisyTree {
 public:
  // Keeps a reference to `bits` and a copy of the leaves. Throws invalid_argument for a malformed
  // histogram.
  NoisyTree(const QuantileTree& tree, const StepRange& range, std::span<const LeafCount> leaves,
            random::BitSource& bits);
  // Not to be copied: two copies would use the same noise twice.
  NoisyTree(NoisyTree&&) noexcept;
  NoisyTree& operator=(NoisyTree&&) noexcept;
  ~NoisyTree();

  // For each fraction on its own, the interval holds all exact quantiles with chance at least
  // `confidence`, whatever the values. Asked again, the same fraction has the same answer, and a
  // larger fraction has no smaller value before it is moved into its interval.
  QuantileEstimate quantile(const Fraction& fraction, Confidence confidence);

  // Nodes that were given noise so far.
  std::int64_t visited() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// With chance at least `confidence` the rank that the tree takes a step half-way to have, minus p
// N, is off by no more than the result: what intervals are made of, for plans.
double rank_error(const QuantileTree& tree, std::int64_t leaves, const Fraction& fraction,
                  Confidence confidence);

// The standard deviation of the same.
double expected_rank_error(const QuantileTree& tree, std::int64_t leaves, const Fraction& fraction);

}  // namespace shoal::mechanism
