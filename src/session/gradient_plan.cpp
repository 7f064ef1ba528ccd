#include "session/gradient_plan.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace shoal::session {
namespace {

learn::DescentOptions descent_options(const TrainOptions& options) {
  learn::DescentOptions descent;
  descent.steps = options.steps;
  descent.row_step = options.step_size;
  descent.momentum = options.momentum;
  descent.l2 = options.l2;
  descent.weight_norm = options.weight_norm;
  descent.rows = options.rows;
  descent.clip = options.clip;
  return descent;
}

std::string gradient_text(const learn::GradientNoise& noise) {
  return fmt::format(
      "gradients clipped to norm {} row by row, rounded Gaussian noise of sigma {} on their sum, "
      "grid 2^{}",
      format_rounded(noise.clip, 6), format_rounded(std::ldexp(noise.sigma, noise.exponent), 6),
      noise.exponent);
}

std::string path_text(const learn::DescentPath& path, double count_sigma) {
  const std::string rows =
      count_sigma == 0
          ? fmt::format("{} rows, guessed", format_rounded(path.rows, 6))
          : fmt::format("rows counted with noise of sigma {}", format_rounded(count_sigma, 4));
  return fmt::format("steps      {} of size {} for a row, momentum {}, l2 weight {}, {}\n",
                     path.steps, format_rounded(path.row_step, 6), format_number(path.momentum),
                     format_rounded(path.l2, 6), rows);
}

struct Describe {
  std::string operator()(const learn::MinimaPerturbation& method) const {
    return fmt::format(
        "noise      Gaussian, sigma {} inside the objective ({} rule), l2 weight {}\n"
        "released   a solution of residual {} or less, with {}\n",
        format_rounded(method.sigma, 6), learn::to_string(method.rule),
        format_rounded(method.l2, 6), format_rounded(method.residual, 4),
        noise_text(method.output));
  }
  std::string operator()(const learn::GradientDescent& method) const {
    return fmt::format("noise      {}\n", gradient_text(method.noise)) +
           path_text(method.path, method.count_sigma);
  }
  std::string operator()(const learn::SampledDescent& method) const {
    return fmt::format("noise      {}\nsamples    each row in each step with chance {}\n",
                       gradient_text(method.noise), format_number(learn::rate(method))) +
           path_text(method.path, method.count_sigma);
  }
  std::string operator()(const learn::PrefixDescent& method) const {
    return fmt::format(
               "noise      gradients clipped to norm {} row by row, correlated Gaussian noise of "
               "sigma {} on sums of batches\nsamples    each row in one batch, drawn for it\n",
               format_rounded(method.noise.clip, 6),
               format_rounded(
                   std::ldexp(method.noise.sigma, method.noise.exponent - learn::kPrefixBits), 6)) +
           path_text(method.path, method.count_sigma);
  }
  std::string operator()(const learn::BoltOnDescent& method) const {
    return fmt::format(
        "noise      {} on the weights, l2 weight {}\n"
        "steps      {} passes over one random order, batches of {}\n",
        noise_text(method.output), format_rounded(method.l2, 6), method.passes, method.batch);
  }
  // These are told by training_text.cpp alone.
  std::string operator()(const learn::ObjectivePerturbation&) const { return ""; }
  std::string operator()(const learn::OutputPerturbation&) const { return ""; }
  std::string operator()(const learn::AdaSsp&) const { return ""; }
  std::string operator()(const learn::ExponentialChoice&) const { return ""; }
  std::string operator()(const learn::FrankWolfe&) const { return ""; }
};

// An option of some methods: whether it is given, and to whom it means something.
struct MethodOption {
  std::string_view name;
  bool given;
  std::vector<std::string_view> methods;
};

std::vector<MethodOption> method_options(const TrainOptions& options) {
  return {{"--rows", options.rows.has_value(), {"amp", "gradient", "sgd", "ftrl"}},
          {"--steps", options.steps.has_value(), {"gradient", "sgd", "ftrl", "frank_wolfe"}},
          {"--step-size", options.step_size.has_value(), {"gradient", "sgd", "ftrl"}},
          {"--momentum", options.momentum.has_value(), {"gradient", "sgd", "ftrl"}},
          {"--clip", options.clip.has_value(), {"gradient", "sgd", "ftrl"}},
          {"--points", options.points.has_value(), {"exponential"}},
          {"--candidates", !options.candidates.empty(), {"exponential"}},
          {"--mistakes", options.mistakes, {"exponential"}},
          {"--rate", options.rate.has_value(), {"sgd"}},
          {"--passes", options.passes.has_value(), {"bolt_on"}},
          {"--batch", options.batch.has_value(), {"bolt_on"}},
          {"--rule", options.rule != "tight", {"objective", "amp"}},
          {"--try-l2",
           !options.try_l2.empty(),
           {"objective", "output", "amp", "gradient", "sgd", "ftrl", "bolt_on", "adassp"}}};
}

}  // namespace

void check_method_options(const TrainOptions& options) {
  constexpr std::string_view kKnown[] = {"objective",   "output",     "amp",     "gradient",
                                         "sgd",         "ftrl",       "bolt_on", "adassp",
                                         "exponential", "frank_wolfe"};
  const std::string& method = options.method;
  if (std::find(std::begin(kKnown), std::end(kKnown), method) == std::end(kKnown)) return;
  if (options.runs && options.try_l2.empty()) {
    throw Error(
        ErrorCode::invalid_argument,
        "--runs is how often --try-l2 trains; give candidates with --try-l2, or leave it out");
  }
  for (const MethodOption& option : method_options(options)) {
    const auto& takers = option.methods;
    if (!option.given || std::find(takers.begin(), takers.end(), method) != takers.end()) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} means nothing to the method {}; leave it out, or use --method {}",
                            option.name, method, fmt::join(takers, " or ")));
  }
}

std::optional<learn::Method> gradient_method(const learn::Problem& problem,
                                             const TrainOptions& options, Neighbors neighbors,
                                             Epsilon epsilon, Delta delta) {
  if (options.method == "amp") {
    learn::MinimaOptions minima;
    minima.rule = learn::parse_minima_rule(options.rule);
    minima.l2 = options.l2;
    minima.weight_norm = options.weight_norm;
    if (options.rows) minima.rows = *options.rows;
    return learn::calibrate_minima(problem, neighbors, epsilon, delta, minima);
  }
  if (options.method == "gradient")
    return learn::calibrate_gradient(problem, neighbors, epsilon, delta, descent_options(options));
  if (options.method == "sgd") {
    learn::SampledOptions sampled;
    sampled.descent = descent_options(options);
    if (options.rate) sampled.rate = *options.rate;
    return learn::calibrate_sampled(problem, neighbors, epsilon, delta, sampled);
  }
  if (options.method == "ftrl")
    return learn::calibrate_prefix(problem, neighbors, epsilon, delta, descent_options(options));
  if (options.method == "bolt_on") {
    learn::BoltOnOptions bolt_on;
    bolt_on.l2 = options.l2.value_or(default_output_l2(problem, epsilon, options.weight_norm));
    if (options.passes) bolt_on.passes = *options.passes;
    if (options.batch) bolt_on.batch = *options.batch;
    return learn::calibrate_bolt_on(problem, neighbors, epsilon, delta, bolt_on);
  }
  return {};
}

double default_output_l2(const learn::Problem& problem, Epsilon epsilon, double weight_norm) {
  const double d = static_cast<double>(problem.dimension);
  return std::sqrt(d) * learn::gradient_bound(problem) * std::max(1.0, 4 / epsilon.value()) * 10 /
         weight_norm;
}

std::string describe_gradient_noise(const learn::Method& method) {
  return std::visit(Describe{}, method);
}

std::string noise_text(const learn::OutputNoise& noise) {
  return fmt::format("{} noise of {} {} on a grid of 2^{}",
                     noise.shape == learn::NoiseShape::gaussian ? "rounded Gaussian" : "norm",
                     noise.shape == learn::NoiseShape::gaussian ? "sigma" : "scale",
                     format_rounded(std::ldexp(noise.scale, noise.exponent), 4), noise.exponent);
}

}  // namespace shoal::session
