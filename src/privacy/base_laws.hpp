// The laws of the mechanisms with finitely many, or countably many, outputs, with or without
// Poisson sampling.
#pragma once

#include "privacy/components.hpp"

#include <optional>
#include <vector>

namespace shoal::privacy {

// Each person takes part with chance `rate`; `added` is the direction in which P is the output
// without the person.
struct Sampling {
  double rate;
  bool added;
};

// Up to here discrete Gaussian noise is summed point by point; beyond it is taken as rounded.
inline constexpr double kLargestSummedSigma = 4096;
// More standard deviations than this apart, outputs tell everything.
inline constexpr double kFarthestSteps = 1000;
// Up to this sensitivity so is discrete Laplace noise.
inline constexpr double kLargestSummedSteps = 4096;
// Groups up to this size keep their own mixture under sampling.
inline constexpr double kLargestMixture = 64;

// With chance delta the value is told; else one of `categories` values is reported, the true one
// e^epsilon times as likely as each other one.
LawPointer response_law(double epsilon, double categories, double delta,
                        std::optional<Sampling> sampling);

// steps is the sensitivity, a whole number.
LawPointer discrete_laplace_law(double scale, double steps, std::optional<Sampling> sampling);
LawPointer discrete_gaussian_law(double sigma, double steps,
                                 std::optional<Sampling> sampling = std::nullopt);

// Discrete Laplace noise of any sensitivity: beyond kLargestSummedSteps neighbouring losses are
// joined, from above and from below.
Component discrete_laplace_laws(double scale, double steps);

// Discrete Gaussian noise of large sigma against a Gaussian rounded to the integers. Within z = 20
// standard deviations the two chances of an integer agree up to a factor e^{+-mass}, because the
// density over the unit interval around x has its mean within (z^2 + 1) / (24 sigma^2) of its
// middle value; the rest is put at infinity. Losses agree up to that and the same for the other
// mean, which is steps / sigma further away; rounding lowers them by at most steps / sigma^2 more.
struct WideNoise {
  double mass;
  double loss_up;
  double loss_down;
  double infinite;
};
WideNoise wide_discrete_gaussian(double sigma, double steps);

// Binary randomized response of many users, all but one of whom hold the same value, after a
// shuffle: a lower bound for shuffling.
LawPointer shuffled_response_law(double epsilon, double users);

// The chances of 0 .. size people out of `size` being in the sample.
std::vector<double> binomial_weights(double rate, int size);

}  // namespace shoal::privacy
