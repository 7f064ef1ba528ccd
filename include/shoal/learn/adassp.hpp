// Linear regression from noisy sufficient statistics (Wang 2018, AdaSSP): the sums X'X and X'y of
// all rows get noise once, and everything after that is free: the ridge, which adapts to
// the noisy matrix, and the weights. The sums are exact integers on a grid. Proof:
// src/learn/adassp.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/learn/output_noise.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/privacy/event.hpp>

#include <optional>

namespace shoal::learn {

struct AdaSsp {
  Neighbors neighbors = Neighbors::add_remove;
  double epsilon = 0;  // what is claimed; the event says more
  double delta = 0;
  NoiseShape shape = NoiseShape::gaussian;  // norm: one scale for all sums, for pure privacy
  int row_exponent = 0;                     // features are cut to multiples of 2^row_exponent
  int label_exponent = 0;                   // labels to multiples of 2^label_exponent
  // Gaussian: sigma of a diagonal entry of X'X, in steps of 2^(2 row_exponent); that of the others
  // is less by a factor of sqrt(2). Norm: the scale, in steps of every sum.
  double matrix_sigma = 0;
  double vector_sigma = 0;  // of X'y, in steps of 2^(row_exponent + label_exponent); norm: 0
  double l2 = 0;            // the ridge is never less
  bool operator==(const AdaSsp&) const = default;
};

// More features than that are refused: the matrix is kept whole.
inline constexpr std::size_t kMostSummedFeatures = 4096;

struct AdaSspOptions {
  // Noise of X'X to noise of X'y, as squares of what each is worth alone: 1 shares the budget
  // equally.
  double matrix_share = 1;
  std::optional<double> l2 = {};  // none: the problem's
};

// The least mu such that the release with Gaussian noise is mu-Gaussian differentially private, and
// the least epsilon of that with norm noise; rounded up.
double adassp_epsilon_up(const AdaSsp& method, const Problem& problem);
double adassp_mu_up(const AdaSsp& method, const Problem& problem);

// Throws invalid_argument or unsupported, naming condition and remedy: for another loss than
// squared, an l1 part, too many features. A delta of 0 asks for norm noise.
AdaSsp calibrate_adassp(const Problem& problem, Neighbors neighbors, Epsilon epsilon, Delta delta,
                        const AdaSspOptions& options = {});

void validate(const AdaSsp& method, const Problem& problem);

// gdp{mu} or pure{epsilon}.
privacy::Event privacy_event(const AdaSsp& method, const Problem& problem);

}  // namespace shoal::learn
