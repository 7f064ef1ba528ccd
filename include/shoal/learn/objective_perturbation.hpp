// Objective perturbation: the exact minimiser of the objective plus a random linear term is
// private. The spec stores noise and regulariser; what they are worth is derived, by refereed
// bounds, and never taken from the name of a rule. Proof:
// src/learn/objective_perturbation.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/learn/output_noise.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/privacy/event.hpp>

#include <optional>
#include <string_view>

namespace shoal::learn {

// How noise and regulariser are chosen. Whatever the rule, the guarantee is checked by the tight
// bounds.
enum class ObjectiveRule {
  tight,          // the least noise by the refereed bounds: the default
  chaudhuri,      // Chaudhuri, Monteleoni, Sarwate 2011, pure
  kifer,          // Kifer, Smith, Thakurta 2012
  redberg,        // Redberg, Koskela, Wang 2023
  lecture_notes,  // pure and Gaussian, with the constant of the latter corrected
};

// "tight", "chaudhuri", "kifer", "redberg", "lecture_notes".
std::string_view to_string(ObjectiveRule rule);
ObjectiveRule parse_objective_rule(std::string_view text);

struct ObjectivePerturbation {
  ObjectiveRule rule = ObjectiveRule::tight;
  Neighbors neighbors = Neighbors::add_remove;
  NoiseShape shape = NoiseShape::gaussian;
  double epsilon = 0;  // of the whole
  double delta = 0;
  double noise_epsilon = 0;  // the part of the linear term; the rest is the output noise's
  double noise_delta = 0;
  double scale = 0;     // sigma, or the scale of the norm noise, of the linear term
  double l2 = 0;        // the whole l2 weight, sum form
  double residual = 0;  // the certified residual of the solver, in gradient units
  OutputNoise output = {};
  bool operator==(const ObjectivePerturbation&) const = default;
};

struct ObjectiveOptions {
  ObjectiveRule rule = ObjectiveRule::tight;
  // The l2 weight; none: the least that the rule needs, or what balances the noise against
  // weights of length weight_norm, if that is more.
  std::optional<double> l2 = {};
  double weight_norm = 10;  // a public guess of how long the weights are
};

// The delta of the perturbed minimiser at epsilon, between neighbours, for Gaussian noise sigma:
// the least of the proven bounds that apply; 1 if none does. Rounded up. Requires a smooth loss of
// one prediction.
double objective_delta_up(const Problem& problem, Neighbors neighbors, double sigma, double l2,
                          double epsilon);
// The epsilon for norm noise; infinite if no bound applies.
double objective_epsilon_up(const Problem& problem, Neighbors neighbors, double scale, double l2);

// The least mu for which the whole is mu-Gaussian differentially private, if it is: logistic loss
// with l2 >= 2 sigma^2, and Gaussian noise on output and objective.
std::optional<double> objective_gaussian_mu_up(const ObjectivePerturbation& method,
                                               const Problem& problem);

// Throws invalid_argument or unsupported, naming condition and remedy, for a problem that no bound
// covers. A delta of 0 asks for pure differential privacy.
ObjectivePerturbation calibrate_objective(const Problem& problem, Neighbors neighbors,
                                          Epsilon epsilon, Delta delta,
                                          const ObjectiveOptions& options = {});

// Throws invalid_argument unless the parameters give what the spec states.
void validate(const ObjectivePerturbation& method, const Problem& problem);

// pure{epsilon} or epsilon_delta{epsilon, delta}. Throws as validate does.
privacy::Event privacy_event(const ObjectivePerturbation& method, const Problem& problem);

}  // namespace shoal::learn
