// Output perturbation: the minimiser of a strongly convex objective moves little between
// neighbours, so noise of that size hides it. Needs no smoothness for its proof, but a certified
// minimiser. Proof: src/learn/output_perturbation.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/learn/output_noise.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/privacy/event.hpp>

#include <optional>

namespace shoal::learn {

struct OutputPerturbation {
  Neighbors neighbors = Neighbors::add_remove;
  double epsilon = 0;
  double delta = 0;
  double l2 = 0;        // the whole l2 weight, sum form
  double residual = 0;  // the certified residual of the solver
  OutputNoise output = {};
  bool operator==(const OutputPerturbation&) const = default;
};

// How far the computed minimiser moves between neighbours, in norm, rounded up:
// (L + 2 residual) / l2 for add_remove, (2 L + 2 residual) / l2 for replace_one.
double output_distance_up(const OutputPerturbation& method, const Problem& problem);

// `l2` as in the problem, or larger. Throws invalid_argument, naming condition and remedy.
OutputPerturbation calibrate_output(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                                    Delta delta, double l2);

void validate(const OutputPerturbation& method, const Problem& problem);

privacy::Event privacy_event(const OutputPerturbation& method, const Problem& problem);

}  // namespace shoal::learn
