// Parts of training plans: the methods that go by noisy gradients or stop at approximate minima,
// and words that several of them use.
#pragma once

#include <shoal/session/training.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace shoal::session {

// To follow a list of other methods.
inline constexpr std::string_view kGradientMethods = ", amp, gradient, sgd, ftrl and bolt_on";

// None if the method asked for is not among them.
std::optional<learn::Method> gradient_method(const learn::Problem& problem,
                                             const TrainOptions& options, Neighbors neighbors,
                                             Epsilon epsilon, Delta delta);

// The l2 weight where noise on the weights and shrinking harm alike, for weights as long as
// guessed.
double default_output_l2(const learn::Problem& problem, Epsilon epsilon, double weight_norm);

// Throws invalid_argument for an option that the method, chosen already, does not look at.
void check_method_options(const TrainOptions& options);

// Lines of text. Empty for other methods.
std::string describe_gradient_noise(const learn::Method& method);

// "2 classes", "a number".
std::string classes_of(const learn::Target& target);

// "rounded Gaussian noise of sigma 0.1 on a grid of 2^-20".
std::string noise_text(const learn::OutputNoise& noise);

}  // namespace shoal::session
