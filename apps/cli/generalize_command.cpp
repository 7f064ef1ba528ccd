// shoal generalize: how far answers may be from the truth when questions depend on earlier answers.
// Arithmetic about public numbers: touches no data and no ledger.
#include "commands.hpp"
#include "streams.hpp"
#include "table.hpp"

#include <shoal/adaptive/generalization.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;
using adaptive::Bound;

struct GeneralizeArguments {
  std::optional<double> rows, questions, confidence, width;
  std::string bound, format = "text";
};

enum class Wanted { width, rows, questions, confidence };

// One line of the table: what a bound says of the number that was left out.
struct Row {
  Bound bound;
  double value;
  adaptive::Width at;
};

Wanted wanted(const GeneralizeArguments& given) {
  const int missing = (given.rows ? 0 : 1) + (given.questions ? 0 : 1) +
                      (given.confidence ? 0 : 1) + (given.width ? 0 : 1);
  if (missing != 1) {
    throw Error(ErrorCode::invalid_argument,
                "give three of --n, --queries, --confidence and --width; the fourth is what is "
                "asked for");
  }
  if (!given.width) return Wanted::width;
  if (!given.rows) return Wanted::rows;
  return given.questions ? Wanted::confidence : Wanted::questions;
}

Row solve(Bound bound, Wanted what, const GeneralizeArguments& given) {
  if (what == Wanted::width) {
    const adaptive::Width width =
        adaptive::width_of(bound, {*given.rows, *given.questions, Confidence(*given.confidence)});
    return {bound, width.width, width};
  }
  double value = 0;
  if (what == Wanted::rows) {
    value =
        adaptive::rows_for(bound, *given.width, *given.questions, Confidence(*given.confidence));
  } else if (what == Wanted::questions) {
    value =
        adaptive::questions_for(bound, *given.width, *given.rows, Confidence(*given.confidence));
  } else {
    value = adaptive::confidence_for(bound, *given.width, *given.rows, *given.questions);
  }
  return {bound, value, {}};
}

bool better(Wanted what, double a, double b) {
  return what == Wanted::width || what == Wanted::rows ? a < b : a > b;
}

const Row* winner(Wanted what, const std::vector<Row>& rows) {
  const Row* best = nullptr;
  for (const Row& row : rows) {
    if (!adaptive::is_adaptive(row.bound)) continue;
    if (best == nullptr || better(what, row.value, best->value)) best = &row;
  }
  return best;
}

const char* word(Wanted what) {
  switch (what) {
    case Wanted::width:
      return "width";
    case Wanted::rows:
      return "rows";
    case Wanted::questions:
      return "questions";
    case Wanted::confidence:
      return "confidence";
  }
  return "";
}

std::string shown(Wanted what, double value) {
  if (std::isinf(value)) return "-";
  if (what == Wanted::width) return value >= 1 ? "-" : fmt::format("{:.5f}", value);
  if (what == Wanted::confidence) return value <= 0 ? "-" : fmt::format("{:.6g}", value);
  return grouped(value, 18);
}

std::string sentence(Wanted what, const Row& best, const GeneralizeArguments& given) {
  const std::string rows = given.rows ? grouped(*given.rows, 15) : shown(what, best.value);
  const std::string questions =
      given.questions ? grouped(*given.questions, 15) : shown(what, best.value);
  const double width = given.width ? *given.width : best.value;
  const double confidence = given.confidence ? *given.confidence : best.value;
  if (!(width < 1) || !std::isfinite(best.value) || best.value <= 0) {
    return "no bound says anything here: take more rows, or ask fewer questions.";
  }
  std::string text = fmt::format(
      "{} questions, each chosen after seeing the answers before it, about {} rows: with {}% "
      "confidence every answer is within {} of the truth about the population ({}).",
      questions, rows, format_rounded(confidence * 100, 6), format_rounded(width, 4),
      adaptive::to_string(best.bound));
  if (best.at.sigma > 0) {
    text += fmt::format(" Each answer needs Gaussian noise of standard deviation {}.",
                        format_rounded(best.at.sigma, 4));
  }
  return text;
}

std::string text_of(Wanted what, const std::vector<Row>& rows, const GeneralizeArguments& given) {
  TextTable table({"bound", word(what), "sigma", "adaptive", "what it is"},
                  {Align::left, Align::right, Align::right, Align::left, Align::left});
  for (const Row& row : rows) {
    table.add({std::string(adaptive::to_string(row.bound)), shown(what, row.value),
               row.at.sigma > 0 ? format_rounded(row.at.sigma, 4) : "",
               adaptive::is_adaptive(row.bound) ? "yes" : "no",
               std::string(adaptive::describe(row.bound))});
  }
  const Row* best = winner(what, rows);
  if (best == nullptr) return table.text();
  return table.text() + fmt::format("\nbest: {}\n{}\n", adaptive::to_string(best->bound),
                                    sentence(what, *best, given));
}

std::string json_of(Wanted what, const std::vector<Row>& rows, const GeneralizeArguments& given) {
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  const auto optional = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  Json bounds = Json::array();
  for (const Row& row : rows) {
    bounds.push_back({{"bound", adaptive::to_string(row.bound)},
                      {word(what), number(row.value)},
                      {"sigma", row.at.sigma},
                      {"epsilon", row.at.epsilon},
                      {"delta", row.at.delta},
                      {"adaptive", adaptive::is_adaptive(row.bound)}});
  }
  const Row* best = winner(what, rows);
  const Json json = {{"solved_for", word(what)},
                     {"rows", optional(given.rows)},
                     {"questions", optional(given.questions)},
                     {"confidence", optional(given.confidence)},
                     {"width", optional(given.width)},
                     {"bounds", bounds},
                     {"best", best ? Json(adaptive::to_string(best->bound)) : Json()},
                     {"value", best ? number(best->value) : Json()},
                     {"sentence", best ? Json(sentence(what, *best, given)) : Json()}};
  return json.dump(2) + "\n";
}

void run(const GeneralizeArguments& given) {
  const Wanted what = wanted(given);
  std::vector<Row> rows;
  for (const Bound bound : adaptive::all_bounds()) {
    if (!given.bound.empty() && adaptive::parse_bound(given.bound) != bound) continue;
    if (bound == Bound::hoeffding && what == Wanted::questions) continue;
    rows.push_back(solve(bound, what, given));
  }
  print_text(given.format == "json" ? json_of(what, rows, given) : text_of(what, rows, given));
}

}  // namespace

void add_generalize(CLI::App& app) {
  auto arguments = std::make_shared<GeneralizeArguments>();
  CLI::App* command = app.add_subcommand(
      "generalize",
      "how much to trust answers after many questions\n\nFor questions that are means of a "
      "function "
      "of a row into [0, 1], about independent rows. Give three of rows, questions, confidence and "
      "width: every known bound is solved for the fourth, and the best that holds for questions "
      "chosen from earlier answers is named. Touches no data and no ledger.\n\n"
      "Example: shoal generalize --n 1e6 --queries 1000 --confidence 0.95");
  command->add_option("--n", arguments->rows, "rows of the sample, fixed in advance");
  command->add_option("--queries", arguments->questions, "questions, at most");
  command->add_option("--confidence", arguments->confidence, "that all answers hold, such as 0.95");
  command->add_option("--width", arguments->width, "how far an answer may be from the truth");
  command->add_option("--bound", arguments->bound, "only this one, such as tanh_posterior");
  command->add_option("--format", arguments->format, "how to print")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([arguments] { run(*arguments); });
}

}  // namespace shoal::cli
