// Gradient perturbation: descent by noisy sums of all rows' gradients. Needs neither convexity nor
// smoothness nor an exact solver: every step is a Gaussian mechanism, and T of them are one of
// sqrt(T) times the sensitivity. Proof: src/learn/gradient_descent.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/learn/descent.hpp>
#include <shoal/learn/gradient_noise.hpp>
#include <shoal/privacy/event.hpp>

namespace shoal::learn {

struct GradientDescent {
  Neighbors neighbors = Neighbors::add_remove;
  double epsilon = 0;  // what noise and steps meet together
  double delta = 0;
  GradientNoise noise = {};
  double count_sigma = 0;  // of the noise of the number of rows; 0: it is guessed publicly
  DescentPath path = {};
  bool operator==(const GradientDescent&) const = default;
};

// The whole is mu-Gaussian private for this mu: sqrt(steps) times what one row does to a step,
// relative to its noise, and the count. Rounded up.
double gradient_mu_up(const GradientDescent& method);

// Throws invalid_argument, naming condition and remedy: a delta of 0, a loss whose gradient has no
// bound and is not clipped.
GradientDescent calibrate_gradient(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                                   Delta delta, const DescentOptions& options = {});

// Throws invalid_argument unless the parameters give what the spec states.
void validate(const GradientDescent& method, const Problem& problem);

// repeat{steps, gaussian}, composed with the gaussian of the count. Throws as validate does.
privacy::Event privacy_event(const GradientDescent& method, const Problem& problem);

}  // namespace shoal::learn
