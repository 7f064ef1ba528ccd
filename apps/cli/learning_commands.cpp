// shoal train, shoal predict and shoal evaluate.
#include "commands.hpp"
#include "model_rows.hpp"
#include "new_file.hpp"
#include "progress.hpp"
#include "row_file.hpp"
#include "streams.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/text.hpp>
#include <shoal/session/session.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <memory>

namespace shoal::cli {
namespace {

struct TrainArguments {
  std::string policy, key, output, candidates;
  session::TrainOptions options;
  bool explain = false;
};

void check_model_file(const std::string& output) {
  if (output.empty())
    throw Error(ErrorCode::invalid_argument, "say where the model goes with --output model.json");
  check_new_file(output);
}

// Weights of candidates, one a line, separated by commas.
void read_candidates(const std::string& path, session::TrainOptions& options) {
  RowFile rows(path, "candidates", engine::FirstRow::data);
  std::size_t line = 0;
  while (rows.next()) {
    ++line;
    if (line == 1) options.candidate_width = rows.fields().size();
    if (rows.fields().size() != options.candidate_width) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("candidate {} of {} has {} numbers, the first has {}", line,
                              printable(path, 200), rows.fields().size(), options.candidate_width));
    }
    for (const auto& field : rows.fields()) {
      const std::string text(field);
      char* end = nullptr;
      options.candidates.push_back(std::strtod(text.c_str(), &end));
      if (end != text.c_str() && *end == '\0') continue;
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("candidate {} of {} has {}, which is not a number; separate numbers "
                              "by commas",
                              line, printable(path, 200), printable(text, 60)));
    }
  }
}

std::string held_out_line(const learn::Model& model) {
  const learn::HeldOutEstimate& found = *model.held_out;
  if (!model.target.categories.empty()) {
    return fmt::format("  right   {} % of about {} rows set aside (noise: from {} to {})\n",
                       format_rounded(100 * (1 - found.wrong), 4), format_rounded(found.rows, 4),
                       format_rounded(100 * (1 - found.upper), 4),
                       format_rounded(100 * (1 - found.lower), 4));
  }
  // A squared error of 4 is that of labels at either end.
  const double range = model.target.upper - model.target.lower;
  return fmt::format(
      "  error   {} (root mean square) on about {} rows set aside (noise: from {} to {})\n",
      format_rounded(std::sqrt(found.wrong) * range, 4), format_rounded(found.rows, 4),
      format_rounded(std::sqrt(found.lower) * range, 4),
      format_rounded(std::sqrt(found.upper) * range, 4));
}

void train(TrainArguments& arguments) {
  if (!arguments.candidates.empty()) read_candidates(arguments.candidates, arguments.options);
  session::Session session(arguments.policy);
  const session::TrainingPlan plan = session.explain_training(arguments.options);
  if (arguments.explain) {
    print_text(session::describe(plan, session.policy()));
    return;
  }
  check_model_file(arguments.output);
  learn::Model model;
  {
    ClockedProgress progress("training", Printing::at_the_end);
    learn::FitOptions options;
    options.progress = [&progress](std::int64_t done, std::int64_t planned) {
      progress.reach(done, planned);
    };
    model = session.train(plan, arguments.key, options);
  }
  write_file_durably(arguments.output, learn::to_json(model), IfExists::refuse);
  const session::BudgetReport budget = session.budget();
  if (arguments.options.model == "mean") {
    print_text(
        fmt::format("  mean    {}\n", learn::describe_label(model.target, model.weights.at(0))));
  }
  if (model.held_out) print_text(held_out_line(model));
  const std::string risk = session::expected_risk(plan);
  print_text(
      fmt::format("  model   {} ({} weights)\n  left    one question of epsilon {} (of {} in "
                  "total)\n{}  means   {}\n",
                  arguments.output, model.weights.size(), format_rounded(budget.epsilon_left, 6),
                  format_number(budget.total.epsilon.value()),
                  risk.empty() ? "" : "  risk    " + risk + "\n", model.privacy.statement));
}

void predict(const std::string& model_path, const std::string& rows_path) {
  const learn::Model model = load_model(model_path);
  RecordReader rows(rows_path, learn::column_requests(model.pipeline, {}));
  const bool chances = std::holds_alternative<learn::Logistic>(model.loss) ||
                       std::holds_alternative<learn::Softmax>(model.loss);
  Output output;
  output.write(csv_field(model.target.column) + (chances ? ",score,chance\n" : ",score\n"));
  while (rows.next()) {
    const learn::Prediction one = learn::predict(model, rows.cells());
    std::string line =
        csv_field(learn::describe_label(model.target, one.label)) + "," + format_number(one.score);
    if (chances) line += "," + format_number(one.chance);
    output.write(line + "\n");
  }
  output.flush();
}

void evaluate(const std::string& model_path, const std::string& rows_path) {
  const learn::Model model = load_model(model_path);
  RecordReader rows(rows_path, learn::column_requests(model.pipeline, model.target));
  learn::Evaluator evaluator(model);
  while (rows.next()) evaluator.add(rows.cells());
  const learn::Evaluation found = evaluator.result();
  std::string text = fmt::format("  rows       {}", found.rows);
  if (found.unlabelled > 0) text += fmt::format(" ({} more have no known label)", found.unlabelled);
  text += fmt::format(
      "\n  risk       {} (mean {} loss; on new rows from {} to {} with confidence 95 %)\n",
      format_rounded(found.mean_loss, 5), learn::name(model.loss),
      format_rounded(found.risk.lower, 5), format_rounded(found.risk.upper, 5));
  if (!model.target.categories.empty()) {
    text += fmt::format(
        "  accuracy   {} % (on new rows from {} to {}; the most frequent class alone: {} %)\n",
        format_rounded(100 * found.accuracy, 4), format_rounded(100 * found.accuracy_lower, 4),
        format_rounded(100 * found.accuracy_upper, 4), format_rounded(100 * found.majority, 4));
  } else {
    text += fmt::format("  error      {} (root mean square)\n",
                        format_rounded(found.root_mean_square, 5));
  }
  print_text(text + "  means      measured on this file as it is: not private\n");
}

}  // namespace

void add_train(CLI::App& app) {
  auto arguments = std::make_shared<TrainArguments>();
  session::TrainOptions& options = arguments->options;
  CLI::App* command = app.add_subcommand(
      "train",
      "train a model\n\nThe cost is on disk before the data is read. Features are the columns with "
      "public bounds or categories. The same training again gives the same model, and costs "
      "nothing.\n\n"
      "Example: shoal train adult.toml --target income --epsilon 1 --delta 1e-9 -o model.json");
  command->add_option("policy", arguments->policy, "the policy file")->required();
  command->add_option("--target", options.target, "the column to predict")->required();
  command->add_option("--model", options.model, "logistic, svm, linear, softmax or mean")
      ->capture_default_str();
  command
      ->add_option(
          "--method", options.method,
          "auto, objective, output, amp, gradient, sgd, ftrl, bolt_on, adassp, exponential "
          "or frank_wolfe")
      ->capture_default_str();
  command
      ->add_option("--rule", options.rule,
                   "of objective: tight, chaudhuri, kifer, redberg or lecture_notes; of amp: tight "
                   "or published")
      ->capture_default_str();
  command->add_option("--epsilon", options.epsilon, "how much it may leak");
  command->add_option("--evaluate-epsilon", options.evaluate_epsilon,
                      "the part of it for counts on a quarter of the rows, which is set aside");
  command->add_option("--delta", options.delta, "the chance that it leaks more; 0: never");
  command->add_option("--table", options.table, "which table, if there are several");
  command->add_option("--features", options.features, "the columns to learn from")->delimiter(',');
  command->add_option("--row-norm", options.row_norm, "rows are clipped to this norm")
      ->capture_default_str();
  command->add_option("--intercept", options.intercept, "the constant feature's value; 0: none");
  command->add_option("--l2", options.l2, "weight of the l2 regulariser, in sum form");
  command->add_option("--try-l2", options.try_l2, "choose privately among these l2 weights")
      ->delimiter(',');
  command->add_option("--runs", options.runs,
                      "of that choice, in the mean; three a candidate if not given");
  command->add_option("--l1", options.l1, "weight of the l1 regulariser, in sum form");
  command->add_option("--radius", options.radius,
                      "confine the weights to a ball (frank_wolfe: of the l1 norm)");
  command->add_option("--points", options.points,
                      "of exponential: grid points on each axis of the ball");
  command->add_option("--candidates", arguments->candidates,
                      "of exponential: a public file, the weights of one candidate a line");
  command->add_flag("--mistakes", options.mistakes,
                    "of exponential: count wrong labels instead of adding up losses");
  command->add_option("--weight-norm", options.weight_norm, "a public guess of the weights' length")
      ->capture_default_str();
  command->add_option("--rows", options.rows, "a public guess of how many rows there are");
  command->add_option("--steps", options.steps, "of gradient methods and frank_wolfe: how many");
  command->add_option("--step-size", options.step_size, "of gradient methods: a row's step");
  command->add_option("--momentum", options.momentum, "of gradient methods, from 0 to 0.999");
  command->add_option("--clip", options.clip, "of gradient methods: a row's gradient at most");
  command->add_option("--rate", options.rate, "of sgd: the chance of a row to be in a step");
  command->add_option("--passes", options.passes, "of bolt_on: how often each row is seen");
  command->add_option("--batch", options.batch, "of bolt_on: how many rows a step sees");
  command->add_option("--key", arguments->key, "a key of your own makes it a new training");
  command->add_option("-o,--output", arguments->output,
                      "write the model to this file, which must not exist");
  command->add_flag("--explain", arguments->explain,
                    "show the plan and its noise; reads no data and spends nothing");
  command->callback([arguments] { train(*arguments); });
}

void add_predict(CLI::App& app) {
  auto paths = std::make_shared<std::array<std::string, 2>>();
  CLI::App* command = app.add_subcommand(
      "predict",
      "predict new rows with a model\n\nOne line of CSV a row. Neither policy nor budget is "
      "needed.\n\nExample: shoal predict model.json new.csv");
  command->add_option("model", (*paths)[0], "the model file")->required();
  command->add_option("rows", (*paths)[1], "CSV with a header; - is standard input")->required();
  command->callback([paths] { predict((*paths)[0], (*paths)[1]); });
}

void add_evaluate(CLI::App& app) {
  auto paths = std::make_shared<std::array<std::string, 2>>();
  CLI::App* command = app.add_subcommand(
      "evaluate",
      "measure a model on rows of your own\n\nThe result is about that file and not private: use "
      "rows that are public.\n\nExample: shoal evaluate model.json test.csv");
  command->add_option("model", (*paths)[0], "the model file")->required();
  command->add_option("rows", (*paths)[1], "CSV with a header; - is standard input")->required();
  command->callback([paths] { evaluate((*paths)[0], (*paths)[1]); });
}

}  // namespace shoal::cli
