#include "session/file_request.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/session/session.hpp>
#include <shoal/session/training.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::session {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

std::string classes_of(const learn::Target& target) {
  return target.categories.empty() ? "a number"
                                   : fmt::format("{} classes", target.categories.size());
}

learn::Loss loss_of(const std::string& model, const std::string& method,
                    const learn::Target& target) {
  const std::size_t classes = target.categories.size();
  if (model == "logistic" || model == "svm") {
    if (classes != 2) {
      refuse(
          fmt::format("{} learns two classes, and the target {} has {}; list exactly two "
                      "categories for it in the policy",
                      model, target.column, classes_of(target)));
    }
    if (model == "logistic") return learn::Logistic{};
    return learn::HuberisedHinge{0.5};
  }
  if (model == "linear") {
    if (classes != 0) {
      refuse(fmt::format("linear predicts a number, and the target {} has {}; use --model logistic",
                         target.column, classes_of(target)));
    }
    // Labels lie in [-1, 1]; a residual of 1 is half of the range.
    if (method == "output") return learn::Squared{};
    return learn::Huber{1};
  }
  throw Error(ErrorCode::unsupported,
              fmt::format("there is no model {}; models are logistic, svm and linear",
                          printable(model, 40)));
}

learn::Method method_of(const TrainingPlan& plan, const TrainOptions& options,
                        Neighbors neighbors) {
  const Epsilon epsilon(plan.epsilon);
  const Delta delta(plan.delta);
  if (options.method == "output") {
    // Where noise and shrinking harm alike, for weights as long as guessed.
    const double d = static_cast<double>(plan.problem.dimension);
    const double l2 =
        options.l2.value_or(std::sqrt(d) * learn::gradient_bound(plan.problem) *
                            std::max(1.0, 4 / plan.epsilon) * 10 / options.weight_norm);
    return learn::calibrate_output(plan.problem, neighbors, epsilon, delta, l2);
  }
  if (options.method != "auto" && options.method != "objective") {
    refuse(fmt::format("there is no method {}; methods are auto, objective and output",
                       printable(options.method, 40)));
  }
  learn::ObjectiveOptions objective;
  objective.rule = learn::parse_objective_rule(options.rule);
  objective.l2 = options.l2;
  objective.weight_norm = options.weight_norm;
  return learn::calibrate_objective(plan.problem, neighbors, epsilon, delta, objective);
}

std::string reason_of(const TrainOptions& options) {
  if (options.method != "auto") return "as asked";
  return "the loss is smooth and a function of one linear prediction, where objective perturbation "
         "adds least noise; chosen by public facts alone";
}

bool has_categories(const learn::Pipeline& pipeline) {
  return std::any_of(pipeline.features.begin(), pipeline.features.end(), [](const auto& one) {
    return std::holds_alternative<learn::CategoryFeature>(one);
  });
}

std::string noise_text(const learn::OutputNoise& noise) {
  return fmt::format("{} noise of {} {} on a grid of 2^{}",
                     noise.shape == learn::NoiseShape::gaussian ? "rounded Gaussian" : "norm",
                     noise.shape == learn::NoiseShape::gaussian ? "sigma" : "scale",
                     format_rounded(std::ldexp(noise.scale, noise.exponent), 4), noise.exponent);
}

}  // namespace

TrainingPlan plan_training(const catalog::Policy& policy, const TrainOptions& options) {
  const catalog::Table& table = file_table(policy, options.table, "training");
  if (options.target.empty()) refuse("say what to predict with --target");
  learn::Target target = learn::target_of(table, options.target);
  if (target.column == table.person_column && policy.unit == catalog::PrivacyUnit::person)
    refuse("the target is the column that names persons; choose another");
  const std::vector<std::string> columns =
      options.features.empty() ? learn::usable_columns(table, target.column) : options.features;
  if (std::find(columns.begin(), columns.end(), target.column) != columns.end())
    refuse(fmt::format("the target {} is among the features; leave it out", target.column));
  learn::Pipeline pipeline = learn::pipeline_of(table, columns, options.row_norm, 1);
  pipeline.intercept = options.intercept.value_or(has_categories(pipeline) ? 0 : 1);
  validate(pipeline);

  TrainingPlan plan{.table = table.name,
                    .model = options.model,
                    .pipeline = std::move(pipeline),
                    .target = std::move(target),
                    .problem = {},
                    .method = {},
                    .reason = reason_of(options),
                    .epsilon = asked_epsilon(policy, options.epsilon),
                    .delta = asked_delta(policy, options.delta),
                    .event = privacy::event::Compose{}};
  plan.problem.loss = loss_of(options.model, options.method, plan.target);
  plan.problem.regulariser.l1 = options.l1;
  plan.problem.dimension = learn::dimension(plan.pipeline);
  plan.problem.row_norm = plan.pipeline.row_norm;
  if (options.radius) plan.problem.set = learn::L2Ball{*options.radius};
  validate(plan.problem);
  plan.method = method_of(plan, options, policy.neighbors);
  plan.event = learn::privacy_event(plan.method, plan.problem);
  return plan;
}

std::string describe(const TrainingPlan& plan, const catalog::Policy& policy) {
  std::string text = fmt::format("model      {} ({} loss), {} weights\n", plan.model,
                                 learn::name(plan.problem.loss), plan.problem.dimension);
  text += fmt::format("target     {} ({})\n", plan.target.column, classes_of(plan.target));
  text += fmt::format("features   {} of {} columns, rows clipped to norm {}{}\n",
                      plan.problem.dimension, plan.pipeline.features.size(),
                      format_number(plan.pipeline.row_norm),
                      plan.pipeline.intercept != 0 ? ", a regularised intercept" : "");
  if (policy.unit == catalog::PrivacyUnit::person)
    text += "rows       one of each person, chosen by a keyed hash\n";
  text += fmt::format("method     {}: {}\n", learn::name(plan.method), plan.reason);
  if (const auto* method = std::get_if<learn::ObjectivePerturbation>(&plan.method)) {
    text += fmt::format(
        "noise      {} {} inside the objective ({} rule), l2 weight {}\n",
        method->shape == learn::NoiseShape::gaussian ? "Gaussian, sigma" : "norm, scale",
        format_rounded(method->scale, 6), learn::to_string(method->rule),
        format_rounded(method->l2, 6));
    text += fmt::format("released   with {}, which hides the solver's rounding\n",
                        noise_text(method->output));
  } else {
    const auto& output = std::get<learn::OutputPerturbation>(plan.method);
    text += fmt::format("noise      {} on the weights, l2 weight {}\n", noise_text(output.output),
                        format_rounded(output.l2, 6));
  }
  text += fmt::format("cost       {}\n", privacy::to_json(plan.event));
  text += fmt::format(
      "means      the model is {}\n",
      privacy_statement(plan.epsilon, plan.delta, policy.unit_in_words(), policy.neighbors));
  return text;
}

}  // namespace shoal::session
