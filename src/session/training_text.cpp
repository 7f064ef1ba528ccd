// What a training plan says of itself.
#include "session/training_parts.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/text.hpp>
#include <shoal/session/session.hpp>

#include <fmt/format.h>

#include <cmath>

namespace shoal::session {

std::string classes_of(const learn::Target& target) {
  return target.categories.empty() ? "a number"
                                   : fmt::format("{} classes", target.categories.size());
}

namespace {

std::string method_lines(const learn::ObjectivePerturbation& method) {
  return fmt::format(
             "noise      {} {} inside the objective ({} rule), l2 weight {}\n",
             method.shape == learn::NoiseShape::gaussian ? "Gaussian, sigma" : "norm, scale",
             format_rounded(method.scale, 6), learn::to_string(method.rule),
             format_rounded(method.l2, 6)) +
         fmt::format("released   with {}, which hides the solver's rounding\n",
                     noise_text(method.output));
}

std::string method_lines(const learn::OutputPerturbation& method) {
  return fmt::format("noise      {} on the weights, l2 weight {}\n", noise_text(method.output),
                     format_rounded(method.l2, 6));
}

std::string method_lines(const learn::AdaSsp& method) {
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
      "choice     exponential mechanism, scale {}, exact\n",
      method.candidates.size(), to_hex(sha256(listed.bytes())).substr(0, 16),
      method.what == learn::CandidateLoss::mistakes ? "mistakes" : "losses",
      format_rounded(method.range, 4),
      format_rounded(std::ldexp(method.scale, method.exponent), 4));
}

std::string method_lines(const learn::FrankWolfe& method) {
  return fmt::format(
      "steps      {}, each with a choice of bounded range {} (exponential mechanism)\n"
      "clipped    features to {} each, slopes to {}\n",
      method.steps, format_rounded(learn::step_epsilon_up(method), 4),
      format_number(method.feature_bound), format_number(method.slope_bound));
}

template <typename Method>
std::string method_lines(const Method& method) {
  return describe_gradient_noise(method);
}

std::string selection_lines(const learn::PrivateSelection& selection,
                            const std::vector<double>& l2) {
  std::string list;
  for (const double one : l2) list += (list.empty() ? "" : ", ") + format_number(one);
  return fmt::format(
      "tried      l2 weights {}, in {} runs in the mean, on three quarters of the rows\n"
      "chosen     by the best score on the others, with Laplace noise of {} rows\n",
      list, format_rounded(learn::mean_runs(selection.run_scale), 3),
      format_rounded(selection.score_scale / static_cast<double>(learn::kScoreSteps), 4));
}

}  // namespace

std::string expected_risk(const TrainingPlan& plan) {
  if (plan.selection) return {};
  const auto bound = learn::expected_excess_risk(plan.method, plan.problem, plan.weight_norm);
  if (!bound) return {};
  return fmt::format(
      "expected to exceed the least risk of weights up to length {} by at most {} / rows + {}, and "
      "by {} more on new rows",
      format_number(plan.weight_norm), format_rounded(bound->over_rows, 4),
      format_rounded(bound->fixed, 3), format_rounded(bound->generalisation, 4));
}

std::string describe(const TrainingPlan& plan, const catalog::Policy& policy) {
  std::string text = fmt::format("model      {} ({} loss), {} weights\n", plan.model,
                                 learn::name(plan.problem.loss), weight_count(plan.problem));
  text += fmt::format("target     {} ({})\n", plan.target.column, classes_of(plan.target));
  text += fmt::format("features   {} of {} columns, rows clipped to norm {}{}\n",
                      plan.problem.dimension, plan.pipeline.features.size(),
                      format_number(plan.pipeline.row_norm),
                      plan.pipeline.intercept != 0 ? ", a regularised intercept" : "");
  if (policy.unit == catalog::PrivacyUnit::person)
    text += "rows       one of each person, chosen by a keyed hash\n";
  text += fmt::format("method     {}: {}\n", learn::name(plan.method), plan.reason);
  text += std::visit([](const auto& one) { return method_lines(one); }, plan.method);
  if (plan.selection) text += selection_lines(*plan.selection, plan.tried_l2);
  if (const std::string risk = expected_risk(plan); !risk.empty())
    text += fmt::format("risk       {}\n", risk);
  text += fmt::format("cost       {}\n", privacy::to_json(plan.event));
  text += fmt::format(
      "means      the model is {}\n",
      privacy_statement(plan.epsilon, plan.delta, policy.unit_in_words(), policy.neighbors));
  return text;
}

}  // namespace shoal::session
