// shoal train, shoal predict and shoal evaluate.
#include "commands.hpp"
#include "csv.hpp"
#include "new_file.hpp"
#include "progress.hpp"
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
#include <unordered_map>

namespace shoal::cli {
namespace {

struct TrainArguments {
  std::string policy, key, output;
  session::TrainOptions options;
  bool explain = false;
};

void check_model_file(const std::string& output) {
  if (output.empty())
    throw Error(ErrorCode::invalid_argument, "say where the model goes with --output model.json");
  check_new_file(output);
}

void train(const TrainArguments& arguments) {
  session::Session session(arguments.policy);
  if (arguments.explain) {
    print_text(session::describe(session.explain_training(arguments.options), session.policy()));
    return;
  }
  check_model_file(arguments.output);
  learn::Model model;
  {
    Progress progress("training", 0, Printing::at_the_end);
    learn::FitOptions options;
    options.progress = [&progress](int) { progress.advance(1); };
    model = session.train(arguments.options, arguments.key, options);
  }
  write_file_durably(arguments.output, learn::to_json(model), IfExists::refuse);
  const session::BudgetReport budget = session.budget();
  print_text(
      fmt::format("  model   {} ({} weights)\n  left    one question of epsilon {} (of {} in "
                  "total)\n  means   {}\n",
                  arguments.output, model.weights.size(), format_rounded(budget.epsilon_left, 6),
                  format_number(budget.total.epsilon.value()), model.privacy.statement));
}

// The cells of a CSV file's records, column by column as a model wants them.
class RecordReader {
 public:
  RecordReader(const std::string& path, std::vector<data::ColumnRequest> requests)
      : lines_(path, "rows", Printing::at_the_end), csv_(lines_), requests_(std::move(requests)) {
    if (!csv_.next())
      throw Error(ErrorCode::invalid_argument, "the file is empty; it needs a header line");
    std::unordered_map<std::string, std::size_t> at;
    for (std::size_t i = 0; i < csv_.fields().size(); ++i)
      at.emplace(std::string(csv_.fields()[i]), i);
    for (const data::ColumnRequest& request : requests_) {
      const auto found = at.find(request.column);
      if (found == at.end()) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("the file has no column {}, which the model uses",
                                printable(request.column, 60)));
      }
      places_.push_back(found->second);
      auto& codes = codes_.emplace_back();
      for (std::size_t k = 0; k < request.categories.size(); ++k)
        codes.emplace(request.categories[k], static_cast<std::int32_t>(k));
    }
    cells_.resize(requests_.size());
  }

  bool next() {
    if (!csv_.next()) return false;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      cells_[i] = {};
      if (places_[i] >= csv_.fields().size()) continue;
      const std::string text(csv_.fields()[places_[i]]);
      if (requests_[i].categories.empty()) {
        char* end = nullptr;
        const double number = std::strtod(text.c_str(), &end);
        if (end != text.c_str() && *end == '\0') cells_[i].number = number;
      } else if (const auto code = codes_[i].find(text); code != codes_[i].end()) {
        cells_[i].category = code->second;
      }
    }
    return true;
  }

  std::span<const data::Cell> cells() const { return cells_; }

 private:
  LineReader lines_;
  CsvReader csv_;
  std::vector<data::ColumnRequest> requests_;
  std::vector<std::size_t> places_;
  std::vector<std::unordered_map<std::string, std::int32_t>> codes_;
  std::vector<data::Cell> cells_;
};

learn::Model load_model(const std::string& path) { return learn::model_from_json(read_file(path)); }

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
  text += fmt::format("\n  mean loss  {}\n", format_rounded(found.mean_loss, 5));
  if (!model.target.categories.empty()) {
    text += fmt::format("  accuracy   {} % (the most frequent class alone: {} %)\n",
                        format_rounded(100 * found.accuracy, 4),
                        format_rounded(100 * found.majority, 4));
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
  command->add_option("--model", options.model, "logistic, svm or linear")->capture_default_str();
  command->add_option("--method", options.method, "auto, objective or output")
      ->capture_default_str();
  command
      ->add_option("--rule", options.rule,
                   "of objective perturbation: tight, chaudhuri, kifer, redberg or lecture_notes")
      ->capture_default_str();
  command->add_option("--epsilon", options.epsilon, "how much it may leak");
  command->add_option("--delta", options.delta, "the chance that it leaks more; 0: never");
  command->add_option("--table", options.table, "which table, if there are several");
  command->add_option("--features", options.features, "the columns to learn from")->delimiter(',');
  command->add_option("--row-norm", options.row_norm, "rows are clipped to this norm")
      ->capture_default_str();
  command->add_option("--intercept", options.intercept, "the constant feature's value; 0: none");
  command->add_option("--l2", options.l2, "weight of the l2 regulariser, in sum form");
  command->add_option("--l1", options.l1, "weight of the l1 regulariser, in sum form");
  command->add_option("--radius", options.radius, "confine the weights to a ball");
  command->add_option("--weight-norm", options.weight_norm, "a public guess of the weights' length")
      ->capture_default_str();
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
