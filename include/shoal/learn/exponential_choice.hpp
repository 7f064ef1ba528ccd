// The exponential mechanism over a finite set of weights: a candidate w is chosen with a chance
// proportional to e^(-c L(w)), L the sum of the losses, and the choice is exact. The set is a grid
// in a ball (the mechanism for Lipschitz losses on a convex body, up to kMostGridWeights weights)
// or any public list, and the loss need not be convex: only its oscillation counts. Proof:
// src/learn/exponential_choice.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/privacy/event.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace shoal::learn {

// What is added up for a candidate: the problem's loss, or the number of rows whose label it gets
// wrong, which is not convex.
enum class CandidateLoss { loss, mistakes };

struct ExponentialChoice {
  Neighbors neighbors = Neighbors::add_remove;
  double epsilon = 0;
  CandidateLoss what = CandidateLoss::loss;
  std::vector<double> candidates = {};  // as many numbers for each as there are weights
  double range = 0;                     // a row's losses at two candidates differ by no more
  int exponent = 0;                     // losses are counted in steps of 2^exponent
  double scale = 0;                     // of the choice, in such steps
  double l2 = 0;                        // on top of the losses; public
  bool operator==(const ExponentialChoice&) const = default;
};

// Beyond this no sampler over a ball is both fast and proven to be close enough.
inline constexpr std::size_t kMostGridWeights = 3;
inline constexpr std::size_t kMostCandidates = std::size_t{1} << 20;

// The points of a grid with `points` on each axis that lie in the problem's set, which must be an
// L2Ball, an L1Ball or a Box; one after the other. Throws invalid_argument, and unsupported for
// more than kMostGridWeights weights.
std::vector<double> grid_candidates(const Problem& problem, std::size_t points);

struct ExponentialOptions {
  CandidateLoss what = CandidateLoss::loss;
  // A row's losses are cut so that they differ by no more; none, or beyond it: what they differ by
  // at most.
  std::optional<double> range = {};
};

// Throws invalid_argument or unsupported, naming condition and remedy.
ExponentialChoice calibrate_exponential(const Problem& problem, Neighbors neighbors,
                                        Epsilon epsilon, std::vector<double> candidates,
                                        const ExponentialOptions& options = {});

void validate(const ExponentialChoice& method, const Problem& problem);

// exponential{epsilon}: bounded range, which is epsilon-differentially private and composes better.
privacy::Event privacy_event(const ExponentialChoice& method, const Problem& problem);

// Expected over the choice: the chosen candidate's sum of losses, cut to the range, and l2 part
// exceed those of the best candidate by at most this, scale * ln(candidates), and by one step a row
// for rounding.
double expected_choice_loss(const ExponentialChoice& method, const Problem& problem);

// The law with density ~ e^(-k (F(w) + l2 / 2 |w|^2)) over a convex set is mu-Gaussian
// differentially private (Gopi, Lee and Liu 2022), where F - F' has this Lipschitz constant for
// neighbours: 2 G / n for the mean of n G-Lipschitz losses and an exchange. Rounded up. A bound
// alone: nothing here draws from that law, whose samplers are not exact.
double regularised_exponential_mu_up(double difference_lipschitz, double k, double l2);

}  // namespace shoal::learn
