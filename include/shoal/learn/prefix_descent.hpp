// Descent in one pass with correlated noise (DP-FTRL): every row is in one batch, drawn at random
// for it alone, and what is released are sums of batches under the square root of the matrix of
// prefix sums. Noise then grows with the logarithm of the steps instead of their root, and no
// sampling is amplified: nothing hangs on secret samples. Proof: src/learn/prefix_descent.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/learn/descent.hpp>
#include <shoal/learn/gradient_noise.hpp>
#include <shoal/privacy/event.hpp>

#include <cstdint>
#include <vector>

namespace shoal::learn {

struct PrefixDescent {
  Neighbors neighbors = Neighbors::add_remove;
  double epsilon = 0;  // what the noise meets
  double delta = 0;
  GradientNoise noise = {};  // of one released sum, in units of 2^(exponent - kPrefixBits)
  double count_sigma = 0;    // of the noise of the number of rows; 0: it is guessed publicly
  DescentPath path = {};     // as many batches as steps
  bool operator==(const PrefixDescent&) const = default;
};

inline constexpr std::int64_t kMaxPrefixSteps = 4096;
inline constexpr int kPrefixBits = 16;

// The first column of the factor, in units of 2^-kPrefixBits: binomial(2k, k) / 4^k, rounded to
// whole units, and 1 at the least. The rounded factor is the one that is used.
std::vector<std::int64_t> prefix_factor(std::int64_t steps);

// How far all released sums together move, in norm, when a row comes or goes: its gradient is in
// one batch, and so in as many sums as follow, each with its entry of the factor. Rounded up.
double prefix_sensitivity(const PrefixDescent& method);

// Throws invalid_argument as calibrate_gradient does.
PrefixDescent calibrate_prefix(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                               Delta delta, const DescentOptions& options = {});

// Throws invalid_argument unless the parameters give what the spec states.
void validate(const PrefixDescent& method, const Problem& problem);

// gaussian, composed with the gaussian of the count. Throws as validate does.
privacy::Event privacy_event(const PrefixDescent& method, const Problem& problem);

}  // namespace shoal::learn
