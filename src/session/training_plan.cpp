#include "session/training_parts.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/session/session.hpp>
#include <shoal/session/training.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

namespace shoal::session {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

const catalog::Table& table_of(const catalog::Policy& policy, const std::string& name) {
  if (!name.empty()) {
    const catalog::Table* table = policy.find_table(name, false);
    if (!table)
      throw Error(ErrorCode::not_found,
                  fmt::format("the policy has no table {}", printable(name, 60)));
    return *table;
  }
  const catalog::Table* only = nullptr;
  for (const catalog::Table& table : policy.tables) {
    if (table.is_public) continue;
    if (only) refuse("the policy has several private tables; say which with --table");
    only = &table;
  }
  if (!only) refuse("the policy has no private table to learn from");
  return *only;
}

void check_table(const catalog::Policy& policy, const catalog::Table& table) {
  if (table.is_public)
    refuse(fmt::format("table {} is public: it needs no private training", table.name));
  if (table.format == catalog::SourceFormat::postgresql) {
    throw Error(ErrorCode::unsupported, "training reads files; export the table to Parquet first");
  }
  if (policy.unit == catalog::PrivacyUnit::person && table.person_column.empty()) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("table {} finds its persons through another table, which training cannot "
                    "yet; add a person column to it",
                    table.name));
  }
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

double epsilon_of_options(const catalog::Policy& policy, const TrainOptions& options) {
  const std::optional<double> epsilon = options.epsilon ? options.epsilon : policy.query.epsilon;
  if (!epsilon) refuse("say how much may leak with --epsilon; the policy has no default");
  if (policy.max_epsilon_per_query && *epsilon > policy.max_epsilon_per_query->value()) {
    throw Error(
        ErrorCode::refused_by_policy,
        fmt::format("epsilon {} is above the policy's {} for one question; ask with less",
                    format_number(*epsilon), format_number(policy.max_epsilon_per_query->value())));
  }
  return *epsilon;
}

double delta_of_options(const catalog::Policy& policy, const TrainOptions& options) {
  const double delta = options.delta.value_or(policy.query.delta.value_or(0));
  if (delta > policy.delta.value()) {
    throw Error(ErrorCode::refused_by_policy,
                fmt::format("delta {} is above the policy's total of {}; ask with less, or with "
                            "--delta 0",
                            format_number(delta), format_number(policy.delta.value())));
  }
  return delta;
}

// As many points as make a few thousand candidates.
std::size_t grid_points(const TrainOptions& options, std::size_t weights) {
  if (options.points) return static_cast<std::size_t>(std::max(*options.points, 0));
  return weights == 1 ? 4097 : weights == 2 ? 65 : 17;
}

learn::Method exponential_method(const TrainingPlan& plan, const TrainOptions& options,
                                 Neighbors neighbors) {
  std::vector<double> candidates = options.candidates;
  if (candidates.empty()) {
    candidates = learn::grid_candidates(plan.problem, grid_points(options, plan.problem.dimension));
  }
  return learn::calibrate_exponential(
      plan.problem, neighbors, Epsilon(plan.epsilon), std::move(candidates),
      {.what = options.mistakes ? learn::CandidateLoss::mistakes : learn::CandidateLoss::loss});
}

// Those beyond what a method takes are its own to refuse.
int whole_steps(std::int64_t steps) {
  return static_cast<int>(std::clamp<std::int64_t>(steps, -1, std::numeric_limits<int>::max()));
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
  if (options.method == "frank_wolfe") {
    if (options.l2) refuse("frank_wolfe regularises by its ball; leave --l2 out and set --radius");
    learn::FrankWolfeOptions steps;
    if (options.steps) steps.steps = whole_steps(*options.steps);
    steps.feature_bound = options.row_norm;
    return learn::calibrate_frank_wolfe(plan.problem, neighbors, epsilon, delta, steps);
  }
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

struct Chosen {
  std::string method;
  std::string reason;
};

Chosen choose_method(const TrainOptions& options, std::size_t dimension) {
  if (options.method != "auto") return {options.method, "as asked"};
  if (options.model == "softmax") {
    return {"gradient",
            "softmax has one linear prediction a class, for which objective perturbation has no "
            "proof; chosen by public facts alone"};
  }
  const bool squares = options.model == "linear" || options.model == "mean";
  if (squares && options.l1 == 0 && dimension <= learn::kMostSummedFeatures) {
    return {
        "adassp",
        "the loss is a square, so sums of products say all and get noise once; chosen by public "
        "facts alone"};
  }
  return {
      "objective",
      "the loss is smooth and a function of one linear prediction, where objective perturbation "
      "adds least noise; chosen by public facts alone"};
}

bool has_categories(const learn::Pipeline& pipeline) {
  return std::any_of(pipeline.features.begin(), pipeline.features.end(), [](const auto& one) {
    return std::holds_alternative<learn::CategoryFeature>(one);
  });
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
    return learn::L1Ball{options.radius.value_or(options.weight_norm)};
  if (options.radius) return learn::L2Ball{*options.radius};
  return learn::WholeSpace{};
}

std::optional<learn::PrivateSelection> selection_of(const TrainingPlan& plan,
                                                    const TrainOptions& options,
                                                    Neighbors neighbors) {
  if (options.try_l2.empty()) return {};
  if (plan.delta > 0) refuse("a private choice of parameters has no delta; ask with --delta 0");
  TrainingPlan one = plan;
  one.epsilon = plan.epsilon / 2;
  std::vector<learn::Method> candidates;
  for (const double l2 : options.try_l2) {
    TrainOptions with = options;
    with.l2 = l2;
    candidates.push_back(method_of(one, with, neighbors));
  }
  const double runs = options.runs.value_or(3 * static_cast<double>(candidates.size()));
  return learn::calibrate_selection(plan.problem, std::move(candidates), Epsilon(plan.epsilon),
                                    runs);
}

}  // namespace

TrainingPlan plan_training(const catalog::Policy& policy, const TrainOptions& asked) {
  TrainOptions options = asked;
  const catalog::Table& table = table_of(policy, options.table);
  check_table(policy, table);
  check_method_options(options);
  if (options.method == "bolt_on" && policy.unit == catalog::PrivacyUnit::person) {
    throw Error(
        ErrorCode::unsupported,
        "bolt-on descent counts on a fixed number of rows, and a person may be exchanged for "
        "one who has none; use output, or gradient");
  }
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
  Chosen chosen = choose_method(options, learn::dimension(pipeline));
  options.method = std::move(chosen.method);

  TrainingPlan plan{.table = table.name,
                    .model = options.model,
                    .pipeline = std::move(pipeline),
                    .target = std::move(target),
                    .problem = {},
                    .method = {},
                    .reason = std::move(chosen.reason),
                    .weight_norm = options.weight_norm,
                    .epsilon = epsilon_of_options(policy, options),
                    .delta = delta_of_options(policy, options),
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
  plan.method = method_of(plan, options, policy.neighbors);
  plan.event = learn::privacy_event(plan.method, plan.problem);
  return plan;
}

}  // namespace shoal::session
