// What methods have in common that add noise to finished weights.
#pragma once

#include <shoal/learn/output_noise.hpp>
#include <shoal/privacy/event.hpp>

#include <cstddef>

namespace shoal::learn {

// What such a method claims: of so many weights, which neighbours move by no more than `distance`.
struct OutputClaim {
  double epsilon = 0;
  double delta = 0;
  double distance = 0;
  std::size_t weights = 0;
  double l2 = 0;  // for the message
};

// Throws invalid_argument unless the noise gives the claim.
void check_output(const OutputNoise& noise, const OutputClaim& claim);

// pure, or epsilon_delta with a delta above 0.
privacy::Event output_event(double epsilon, double delta);

}  // namespace shoal::learn
