#include "session/file_request.hpp"
#include "session/gradient_plan.hpp"
#include "session/training_parts.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/session/session.hpp>
#include <shoal/session/training.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

namespace shoal::session {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

// Methods whose proofs need a bound of every row's slope that the set of weights does not give.
bool bounds_slopes(const std::string& method) {
  static constexpr std::string_view kThose[] = {"objective", "amp",  "gradient",
                                                "sgd",       "ftrl", "bolt_on"};
  return std::find(std::begin(kThose), std::end(kThose), method) != std::end(kThose);
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
    if (bounds_slopes(method)) return learn::Huber{1};
    return learn::Squared{};
  }
  if (model == "softmax") {
    if (classes < 3) {
      refuse(
          fmt::format("softmax learns three classes or more, and the target {} has {}; use "
                      "--model {}",
                      target.column, classes_of(target), classes == 2 ? "logistic" : "linear"));
    }
    return learn::Softmax{classes};
  }
  if (model == "mean") {
    if (classes != 0) {
      refuse(
          fmt::format("mean is of a number, and the target {} has {}; count the classes with "
                      "shoal query",
                      target.column, classes_of(target)));
    }
    // With a knot of 2 it is the squared loss wherever the mean can be.
    if (bounds_slopes(method)) return learn::Huber{2};
    return learn::Squared{};
  }
  throw Error(
      ErrorCode::unsupported,
      fmt::format("there is no model {}; models are logistic, svm, linear, softmax and mean",
                  printable(model, 40)));
}

learn::Method method_of(const TrainingPlan& plan, const TrainOptions& options,
                        Neighbors neighbors) {
  const Epsilon epsilon(plan.epsilon);
  const Delta delta(plan.delta);
  if (options.method == "output") {
    return learn::calibrate_output(
        plan.problem, neighbors, epsilon, delta,
        options.l2.value_or(default_output_l2(plan.problem, epsilon, options.weight_norm)));
  }
  if (const auto method = gradient_method(plan.problem, options, neighbors, epsilon, delta))
    return *method;
  if (options.method == "adassp")
    return learn::calibrate_adassp(plan.problem, neighbors, epsilon, delta, {.l2 = options.l2});
  if (options.method == "exponential") return exponential_method(plan, options, neighbors);
  if (options.method == "frank_wolfe") return frank_wolfe_method(plan, options, neighbors);
  if (options.method != "objective") {
    refuse(
        fmt::format("there is no method {}; methods are auto, objective, output, adassp, "
                    "exponential, frank_wolfe{}",
                    printable(options.method, 40), kGradientMethods));
  }
  learn::ObjectiveOptions objective;
  objective.rule = learn::parse_objective_rule(options.rule);
  objective.l2 = options.l2;
  objective.weight_norm = options.weight_norm;
  return learn::calibrate_objective(plan.problem, neighbors, epsilon, delta, objective);
}

bool has_categories(const learn::Pipeline& pipeline) {
  return std::any_of(pipeline.features.begin(), pipeline.features.end(), [](const auto& one) {
    return std::holds_alternative<learn::CategoryFeature>(one);
  });
}

std::optional<learn::PrivateSelection> selection_of(const TrainingPlan& plan,
                                                    const TrainOptions& options,
                                                    Neighbors neighbors) {
  if (options.try_l2.empty()) return {};
  if (options.evaluate_epsilon)
    refuse("--try-l2 scores its candidates itself; leave --evaluate-epsilon out");
  const double runs = options.runs.value_or(3 * static_cast<double>(options.try_l2.size()));
  const double run_scale = learn::run_scale_of(runs);
  const learn::CandidateCost cost =
      learn::candidate_cost(Epsilon(plan.epsilon), Delta(plan.delta), run_scale);
  TrainingPlan one = plan;
  one.epsilon = cost.epsilon;
  one.delta = cost.delta;
  std::vector<learn::Method> candidates;
  for (const double l2 : options.try_l2) {
    TrainOptions with = options;
    with.l2 = l2;
    candidates.push_back(method_of(one, with, neighbors));
  }
  return learn::calibrate_selection(plan.problem, std::move(candidates), Epsilon(plan.epsilon),
                                    Delta(plan.delta), run_scale);
}

}  // namespace

TrainingPlan plan_training(const catalog::Policy& policy, const TrainOptions& asked) {
  TrainOptions options = asked;
  const catalog::Table& table = file_table(policy, options.table, "training");
  if (options.target.empty()) refuse("say what to predict with --target");
  learn::Target target = learn::target_of(table, options.target);
  if (target.column == table.person_column && policy.unit == catalog::PrivacyUnit::person)
    refuse("the target is the column that names persons; choose another");
  const std::vector<std::string> columns = columns_of(options, table, target);
  if (std::find(columns.begin(), columns.end(), target.column) != columns.end())
    refuse(fmt::format("the target {} is among the features; leave it out", target.column));
  if (options.model == "mean") options.row_norm = 1, options.intercept = 1;
  learn::Pipeline pipeline = learn::pipeline_of(table, columns, options.row_norm, 1);
  pipeline.intercept = options.intercept.value_or(has_categories(pipeline) ? 0 : 1);
  pipeline.row_norm = row_norm_of(options, pipeline);
  validate(pipeline);
  Chosen chosen = choose_method(options);
  options.method = std::move(chosen.method);
  check_method_options(options);
  if (options.method == "bolt_on" && policy.unit == catalog::PrivacyUnit::person) {
    throw Error(
        ErrorCode::unsupported,
        "bolt-on descent counts on a fixed number of rows, and a person may be exchanged for "
        "one who has none; use output, or gradient");
  }

  TrainingPlan plan{.table = table.name,
                    .model = options.model,
                    .pipeline = std::move(pipeline),
                    .target = std::move(target),
                    .problem = {},
                    .method = {},
                    .reason = std::move(chosen.reason),
                    .weight_norm = options.weight_norm,
                    .epsilon = asked_epsilon(policy, options.epsilon),
                    .delta = asked_delta(policy, options.delta),
                    .event = privacy::event::Compose{}};
  plan.problem.loss = loss_of(options.model, options.method, plan.target);
  if (options.model == "softmax")
    plan.problem.label_bound = static_cast<double>(plan.target.categories.size());
  plan.problem.regulariser.l1 = options.l1;
  if (options.method == "exponential") plan.problem.regulariser.l2 = options.l2.value_or(0);
  plan.problem.dimension = learn::dimension(plan.pipeline);
  plan.problem.row_norm = plan.pipeline.row_norm;
  plan.problem.set = set_of(options);
  if (options.method == "exponential") plan.delta = 0;
  validate(plan.problem);
  plan.selection = selection_of(plan, options, policy.neighbors);
  plan.tried_l2 = options.try_l2;
  if (plan.selection) {
    plan.method = plan.selection->candidates.front();
    plan.event = learn::privacy_event(*plan.selection, plan.problem);
    return plan;
  }
  plan.counts = counts_of(plan, options, policy.neighbors);
  if (plan.counts) {
    TrainingPlan rest = plan;
    rest.epsilon = numeric::subtract_down(plan.epsilon, plan.counts->epsilon);
    plan.method = method_of(rest, options, policy.neighbors);
    plan.event = learn::privacy_event(plan.method, *plan.counts, plan.problem);
    return plan;
  }
  plan.method = method_of(plan, options, policy.neighbors);
  plan.event = learn::privacy_event(plan.method, plan.problem);
  return plan;
}

}  // namespace shoal::session
