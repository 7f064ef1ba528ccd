// What a training plan says of itself.
#include "session/gradient_plan.hpp"
#include "session/training_parts.hpp"

#include <shoal/base/text.hpp>
#include <shoal/session/session.hpp>

#include <fmt/format.h>

namespace shoal::session {

std::string classes_of(const learn::Target& target) {
  return target.categories.empty() ? "a number"
                                   : fmt::format("{} classes", target.categories.size());
}

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

std::string expected_risk(const TrainingPlan& plan) {
  if (plan.selection) return {};
  if (const auto* choice = std::get_if<learn::ExponentialChoice>(&plan.method)) {
    return fmt::format("expected to exceed the best candidate's by at most {} / rows",
                       format_rounded(learn::expected_choice_loss(*choice, plan.problem), 4));
  }
  const auto bound = learn::expected_excess_risk(plan.method, plan.problem, plan.weight_norm);
  if (!bound) return {};
  return fmt::format(
      "expected to exceed the least risk of weights up to length {} by at most {} / rows + {}, and "
      "by {} more on new rows",
      format_number(plan.weight_norm), format_rounded(bound->over_rows, 4),
      format_rounded(bound->fixed, 3), format_rounded(bound->generalisation, 4));
}

// How near the solver comes to the minimum, which is a public fact: it goes on until it can certify
// it. A hundredth more than the bound, so that no digit is rounded down.
std::string certified_line(double residual, double l2) {
  return fmt::format(
      "certified  before the noise of the release the objective is within {} of its minimum, and "
      "the "
      "weights within {}\n",
      format_rounded(1.01 * residual * residual / (2 * l2), 3),
      format_rounded(1.01 * residual / l2, 3));
}

template <typename Method>
std::string lines_of(const Method& method) {
  std::string lines;
  if constexpr (requires { method_lines(method); }) {
    lines = method_lines(method);
  } else {
    lines = describe_gradient_noise(method);
  }
  if constexpr (requires { method.residual + method.l2; })
    lines += certified_line(method.residual, method.l2);
  return lines;
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
  if (!std::holds_alternative<learn::WholeSpace>(plan.problem.set)) {
    text +=
        fmt::format("set        {}, weights of norm at most {}\n", learn::name(plan.problem.set),
                    format_number(learn::radius(plan.problem.set, weight_count(plan.problem))));
  }
  if (plan.problem.regulariser.l1 > 0)
    text += fmt::format("l1 weight  {}\n", format_number(plan.problem.regulariser.l1));
  text += fmt::format("method     {}: {}\n", learn::name(plan.method), plan.reason);
  text += std::visit([](const auto& one) { return lines_of(one); }, plan.method);
  if (plan.counts) {
    text += fmt::format(
        "evaluated  on a quarter of the rows, set aside, with Laplace noise of {} rows\n",
        format_rounded(plan.counts->scale / static_cast<double>(learn::kScoreSteps), 4));
  }
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
