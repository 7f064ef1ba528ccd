// Approximate minima perturbation (Iyengar et al. 2019): objective perturbation whose minimiser
// need not be exact. A solver stops as soon as its residual is certified to be at most a public
// number, and noise on the weights hides how far apart two such solutions can be. The published
// noise of that second step is half of what its proof needs; here it is whole. Proof:
// src/learn/approximate_minima.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/learn/output_noise.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/privacy/event.hpp>

#include <optional>
#include <string_view>

namespace shoal::learn {

// How noise and regulariser inside of the objective are chosen. Whatever the rule, the guarantee is
// checked by the tight bounds of objective perturbation.
enum class MinimaRule {
  tight,      // the least noise by those bounds: the default
  published,  // the rule of the paper that has no parameters to tune, with the second noise mended
};

// "tight", "published".
std::string_view to_string(MinimaRule rule);
MinimaRule parse_minima_rule(std::string_view text);

struct MinimaPerturbation {
  MinimaRule rule = MinimaRule::tight;
  Neighbors neighbors = Neighbors::add_remove;
  double epsilon = 0;  // of the whole
  double delta = 0;
  double noise_epsilon = 0;  // the part of the linear term; the rest is the output noise's
  double sigma = 0;          // of the linear term, sum form
  double l2 = 0;             // the whole l2 weight, sum form
  double residual = 0;       // at which the solver may stop, in gradient units
  OutputNoise output = {};
  bool operator==(const MinimaPerturbation&) const = default;
};

struct MinimaOptions {
  MinimaRule rule = MinimaRule::tight;
  // The l2 weight; none: the least that the rule needs, or what balances the noise (tight).
  std::optional<double> l2 = {};
  double weight_norm = 10;  // a public guess of how long the weights are
  // A public guess of how many rows there are, from 1 to 2^40. The solver may stop at a residual of
  // a row's gradient divided by it, which is the published 1 / n^2 in mean form.
  double rows = 10'000;
};

// The part of the linear term's epsilon that the published rule gives to its noise; the rest is the
// Jacobian's.
double published_noise_share(double epsilon);

// How far two solutions for the same minimiser can be apart, in norm: 2 residual / l2, rounded up.
double minima_distance_up(const MinimaPerturbation& method);

// Throws invalid_argument or unsupported, naming condition and remedy, for a delta of 0, a loss
// that is not smooth or not a function of one linear prediction, and what no bound covers.
MinimaPerturbation calibrate_minima(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                                    Delta delta, const MinimaOptions& options = {});

// Throws invalid_argument unless the parameters give what the spec states.
void validate(const MinimaPerturbation& method, const Problem& problem);

// epsilon_delta{epsilon, delta}. Throws as validate does.
privacy::Event privacy_event(const MinimaPerturbation& method, const Problem& problem);

}  // namespace shoal::learn
