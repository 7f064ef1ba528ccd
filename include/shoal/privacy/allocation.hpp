// Splitting a budget over several questions, so that the answers are as good as they can be.
//
// The questions are declared together, with how far one person moves each and how much each
// matters; what comes back is the noise of each, and the certified cost of all of it. Argument:
// calibration.proof.md.
#pragma once

#include <shoal/privacy/calibration.hpp>

#include <span>
#include <vector>

namespace shoal::privacy {

struct Question {
  double sensitivity = 1;
  double weight = 1;  // how much a unit of its variance matters, relative to the others'
  bool operator==(const Question&) const = default;
};

struct Allocation {
  std::vector<double> parameters;  // sigma or scale of each question, in their order
  // The sum of weight times the variance of continuous noise of these parameters.
  double weighted_variance = 0;
  Certified
      epsilon;  // of all together, at the target's delta; the upper bound is at most the target
  Event event;
};

// Noise for each question that meets the target together and has nearly the smallest weighted sum
// of variances.
//
// Gaussian noise: sigma_i proportional to sqrt(sensitivity_i) / weight_i^(1/4), which is optimal,
// and gives shares of mu^2 proportional to sqrt(weight_i) sensitivity_i. Laplace noise at delta 0:
// scale_i proportional to (sensitivity_i / weight_i)^(1/3), which is optimal, and gives shares of
// epsilon proportional to (weight_i sensitivity_i^2)^(1/3). Laplace noise at a larger delta lies
// between the two: both are tried, and the better one is taken. Equal questions get equal noise.
//
// Throws invalid_argument if there is no question, a sensitivity or weight is not positive and
// finite, or the target cannot be met: calibrate_noise.
Allocation allocate(NoiseLaw law, std::span<const Question> questions, const Target& target);

}  // namespace shoal::privacy
