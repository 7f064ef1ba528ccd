// Stochastic gradient descent with privacy (DP-SGD): every step has a Poisson sample of the rows of
// its own, each row in it by an exact coin. The noise is what the certified accountant needs for
// the whole plan, which is charged as one event. Proof: src/learn/sampled_descent.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/learn/descent.hpp>
#include <shoal/learn/gradient_noise.hpp>
#include <shoal/privacy/event.hpp>

#include <cstdint>

namespace shoal::learn {

struct SampledDescent {
  Neighbors neighbors = Neighbors::add_remove;
  double epsilon = 0;  // of the whole
  double delta = 0;
  std::uint64_t rate_units = 0;  // a row is in a sample with chance rate_units / 2^32
  GradientNoise noise = {};
  double count_sigma = 0;  // of the noise of the number of rows; 0: it is guessed publicly
  DescentPath path = {};
  bool operator==(const SampledDescent&) const = default;
};

inline constexpr int kRateBits = 32;
// The chance, exactly.
double rate(const SampledDescent& method);

struct SampledOptions {
  DescentOptions descent = {};
  double rate = 1.0 / 32;  // rounded up to units
};

// Throws invalid_argument, naming condition and remedy: a delta of 0, a rate not above 0 and at
// most 1, a loss whose gradient has no bound and is not clipped.
SampledDescent calibrate_sampled(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                                 Delta delta, const SampledOptions& options = {});

// What is done, step by step: repeat{steps, poisson_sampled{rate, gaussian}}, composed with the
// gaussian of the count.
privacy::Event sampled_plan(const SampledDescent& method);

// Throws invalid_argument unless the accountant certifies that the plan is (epsilon,
// delta)-private.
void validate(const SampledDescent& method, const Problem& problem);

// epsilon_delta{epsilon, delta}: one charge cannot hold what sampling gains. Throws as validate
// does.
privacy::Event privacy_event(const SampledDescent& method, const Problem& problem);

}  // namespace shoal::learn
