#include "session/training_parts.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace shoal::session {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

// As many points as make a few thousand candidates.
std::size_t grid_points(const TrainOptions& options, std::size_t weights) {
  if (options.points) return static_cast<std::size_t>(std::max(*options.points, 0));
  return weights == 1 ? 4097 : weights == 2 ? 65 : 17;
}

}  // namespace

Chosen choose_method(const TrainOptions& options) {
  if (options.method != "auto") return {options.method, "as asked"};
  if (options.model == "mean") {
    return {
        "adassp",
        "a mean is a sum over a count, and noise on the two is the closed form; chosen by public "
        "facts alone"};
  }
  if (options.model == "softmax") {
    return {"gradient",
            "softmax has one linear prediction a class, for which objective perturbation has no "
            "proof; chosen by public facts alone"};
  }
  const std::string least =
      "the loss is smooth and a function of one linear prediction, where objective perturbation "
      "adds least noise";
  if (options.model == "linear") {
    return {"objective", least +
                             ": to one gradient, not to a matrix of sums; residuals beyond half of "
                             "the range count linearly; chosen by public facts alone"};
  }
  return {"objective", least + "; chosen by public facts alone"};
}

learn::Method exponential_method(const TrainingPlan& plan, const TrainOptions& options,
                                 Neighbors neighbors) {
  std::vector<double> candidates = options.candidates;
  const std::size_t weights = learn::weight_count(plan.problem);
  if (!candidates.empty() && options.candidate_width != weights) {
    refuse(
        fmt::format("the candidates have {} numbers each, and the model has {} weights: one for "
                    "each feature, in their order",
                    options.candidate_width, weights));
  }
  if (candidates.empty()) {
    candidates = learn::grid_candidates(plan.problem, grid_points(options, plan.problem.dimension));
  }
  return learn::calibrate_exponential(
      plan.problem, neighbors, Epsilon(plan.epsilon), std::move(candidates),
      {.what = options.mistakes ? learn::CandidateLoss::mistakes : learn::CandidateLoss::loss});
}

learn::Method frank_wolfe_method(const TrainingPlan& plan, const TrainOptions& options,
                                 Neighbors neighbors) {
  if (options.l2) refuse("frank_wolfe regularises by its ball; leave --l2 out and set --radius");
  learn::FrankWolfeOptions steps;
  // Those beyond what it takes are its own to refuse.
  if (options.steps) {
    steps.steps = static_cast<int>(
        std::clamp<std::int64_t>(*options.steps, -1, std::numeric_limits<int>::max()));
  }
  steps.feature_bound = options.row_norm;
  return learn::calibrate_frank_wolfe(plan.problem, neighbors, Epsilon(plan.epsilon),
                                      Delta(plan.delta), steps);
}

std::string method_lines(const learn::AdaSsp& method) {
  if (method.shape == learn::NoiseShape::norm) {
    return fmt::format(
        "noise      norm, scale {}, on the sums of x x' and x y together\n"
        "ridge      from the noisy sums, at least {}\n",
        format_rounded(std::ldexp(method.matrix_sigma, 2 * method.row_exponent), 4),
        format_number(method.l2));
  }
  return fmt::format(
      "noise      rounded Gaussian of sigma {} on the sums of x x' and {} on those of x y\n"
      "ridge      from the noisy sums, at least {}\n",
      format_rounded(std::ldexp(method.matrix_sigma, 2 * method.row_exponent), 4),
      format_rounded(std::ldexp(method.vector_sigma, method.row_exponent + method.label_exponent),
                     4),
      format_number(method.l2));
}

std::string method_lines(const learn::ExponentialChoice& method) {
  FieldBytes listed;
  for (const double w : method.candidates) listed.add(format_number(w));
  return fmt::format(
      "candidates {} numbers in all, sha256 {}; a row's {} at two of them differ by at most {}\n"
      "choice     exponential mechanism, scale {}, l2 weight {}, exact\n",
      method.candidates.size(), to_hex(sha256(listed.bytes())).substr(0, 16),
      method.what == learn::CandidateLoss::mistakes ? "mistakes" : "losses",
      format_rounded(method.range, 4), format_rounded(std::ldexp(method.scale, method.exponent), 4),
      format_number(method.l2));
}

std::string method_lines(const learn::FrankWolfe& method) {
  return fmt::format(
      "steps      {}, each with a choice of bounded range {} (exponential mechanism)\n"
      "clipped    features to {} each, slopes to {}\n",
      method.steps, format_rounded(learn::step_epsilon_up(method), 4),
      format_number(method.feature_bound), format_number(method.slope_bound));
}

// Frank-Wolfe's proof needs a bound of every feature, not of the row's length: rows get the length
// that lets none be shortened, as a column adds at most one feature.
double row_norm_of(const TrainOptions& options, const learn::Pipeline& pipeline) {
  if (options.method != "frank_wolfe") return options.row_norm;
  const double columns =
      static_cast<double>(pipeline.features.size()) + (pipeline.intercept != 0 ? 1 : 0);
  return options.row_norm * std::sqrt(columns) * (1 + 0x1p-30);
}

// A mean is learnt from a constant alone.
std::vector<std::string> columns_of(const TrainOptions& options, const catalog::Table& table,
                                    const learn::Target& target) {
  if (options.model == "mean") {
    if (!options.features.empty()) refuse("a mean has no features; leave --features out");
    return {};
  }
  return options.features.empty() ? learn::usable_columns(table, target.column) : options.features;
}

learn::ConvexSet set_of(const TrainOptions& options) {
  // Labels lie in [-1, 1], and so does their mean.
  if (options.model == "mean" && options.method != "frank_wolfe")
    return learn::L2Ball{options.radius.value_or(1)};
  if (options.method == "frank_wolfe")
    return learn::L1Ball{
        options.radius.value_or(options.model == "mean" ? 1 : options.weight_norm)};
  if (options.radius) return learn::L2Ball{*options.radius};
  return learn::WholeSpace{};
}

std::optional<learn::HeldOutCounts> counts_of(const TrainingPlan& plan, const TrainOptions& options,
                                              Neighbors neighbors) {
  if (!options.evaluate_epsilon) return {};
  if (!(*options.evaluate_epsilon > 0) || *options.evaluate_epsilon >= plan.epsilon) {
    refuse(
        fmt::format("--evaluate-epsilon {} is a part of epsilon {}; it must be above 0 and below",
                    format_number(*options.evaluate_epsilon), format_number(plan.epsilon)));
  }
  return learn::calibrate_held_out(neighbors, Epsilon(*options.evaluate_epsilon));
}

std::string selection_lines(const learn::PrivateSelection& selection,
                            const std::vector<double>& l2) {
  std::string list;
  for (const double one : l2) list += (list.empty() ? "" : ", ") + format_number(one);
  return fmt::format(
      "tried      l2 weights {}, in {} runs in the mean, on three quarters of the rows\n"
      "chosen     by the best score on the others, with Laplace noise of {} rows\n",
      list, format_rounded(learn::mean_runs_up(selection.run_scale), 3),
      format_rounded(selection.score_scale / static_cast<double>(learn::kScoreSteps), 4));
}

}  // namespace shoal::session
