// shoal choose: one of many candidates by score, or several, with differential privacy. No ledger:
// what was spent is printed, and to be counted by whoever asked. Scores are secret: they are never
// printed, and errors name lines, not what is on them.
#include "commands.hpp"
#include "decimal.hpp"
#include "row_file.hpp"
#include "streams.hpp"
#include "table.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/selection_registry.hpp>
#include <shoal/mechanism/selector.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/scale.hpp>
#include <shoal/random/secure_source.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <vector>

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ChooseArguments {
  std::string input, sensitivity, candidate_column, score_column, method, format = "table";
  double epsilon = 0, confidence = 0.95;
  std::int64_t top = 1;
  bool monotone = false;
};

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

// What is decided before the file is opened, from public numbers alone.
struct Choice {
  mechanism::AnySelection spec;
  mechanism::ScoreSensitivity sensitivity;  // in steps of 10^-places
  int places;
};

Decimal sensitivity_of(const std::string& text) {
  const DecimalOrFault read = read_decimal(text);
  if (!read.value || read.value->digits <= 0) {
    refuse(
        fmt::format("--sensitivity is {}; it must be a decimal above 0 and below 10^18, with at "
                    "most {} digits after the point, such as 500 or 0.25",
                    printable(text, 40), kMostDecimals));
  }
  return *read.value;
}

// The widest that the noise may have to be, nearly: both signs of change.
double noise_steps(Int128 sensitivity, double epsilon_each) {
  return 2.001 * static_cast<double>(sensitivity) / epsilon_each;
}

// As fine a grid as the noise has room for. It follows from public numbers, so that it says nothing
// about the scores.
int places_of(const Decimal& sensitivity, double epsilon_each) {
  for (int places = kMostDecimals; places > sensitivity.decimals; --places) {
    if (noise_steps(sensitivity.steps(places), epsilon_each) <= random::kMaxScale) return places;
  }
  return sensitivity.decimals;
}

mechanism::AnySelection spec_of(const ChooseArguments& arguments, double scale) {
  if (arguments.top > 1) {
    if (!arguments.method.empty() && arguments.method != "exponential") {
      refuse(
          fmt::format("{} chooses one candidate and --top is {}; leave --method away, which "
                      "takes exponential then",
                      arguments.method, arguments.top));
    }
    return mechanism::NoisyTopK{scale, arguments.top};
  }
  if (arguments.method == "exponential") return mechanism::ExponentialMechanism{scale};
  if (arguments.method == "noisy-max") return mechanism::ReportNoisyMax{scale};
  return mechanism::PermuteAndFlip{scale};
}

Choice plan(const ChooseArguments& arguments) {
  if (arguments.top < 1 || arguments.top > mechanism::kMaxChoices) {
    refuse(
        fmt::format("--top is {}; it must be from 1 to {}", arguments.top, mechanism::kMaxChoices));
  }
  const Epsilon total(arguments.epsilon);
  if (total.value() <= 0) {
    refuse("--epsilon is 0; it must be above 0, or the choice says nothing");
  }
  const Decimal sensitivity = sensitivity_of(arguments.sensitivity);
  const double each = numeric::divide_down(total.value(), static_cast<double>(arguments.top));
  const int places = places_of(sensitivity, each);
  const Int128 steps = sensitivity.steps(places);
  if (noise_steps(steps, each) > random::kMaxScale) {
    refuse(fmt::format(
        "a sensitivity of {} at epsilon {} needs noise of more than 2^50 steps of "
        "10^-{}; take a larger epsilon, or give scores and sensitivity in a larger unit",
        arguments.sensitivity, format_number(total.value()), places));
  }
  const auto way =
      arguments.monotone ? mechanism::ScoreChange::one_sided : mechanism::ScoreChange::two_sided;
  const mechanism::ScoreSensitivity change{Sensitivity(static_cast<long long>(steps)), way};
  const double scale = selection_scale(Epsilon(each), change);
  // So what was asked for is what is spent, and may be stated.
  const auto times = static_cast<double>(arguments.top);
  SHOAL_CHECK(numeric::multiply_up(times, selection_epsilon(scale, change)) <= total.value());
  return {spec_of(arguments, scale), change, places};
}

struct Columns {
  std::size_t candidate = 0, score = 1, all = 2;
};

std::size_t column_of(std::span<const std::string> header, const std::string& name,
                      std::size_t otherwise, const char* option) {
  if (name.empty()) return otherwise;
  const auto found = std::find(header.begin(), header.end(), name);
  if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  throw Error(ErrorCode::not_found,
              fmt::format("the header has no column {}; correct {}", printable(name, 40), option));
}

Columns read_header(const RowFile& rows, const ChooseArguments& arguments) {
  const std::vector<std::string>& header = rows.header();
  if (header.empty()) {
    throw Error(ErrorCode::parse_error,
                "the file is empty; it needs a header line such as candidate,score");
  }
  Columns columns{column_of(header, arguments.candidate_column, 0, "--candidate-column"),
                  column_of(header, arguments.score_column, 1, "--score-column"), header.size()};
  if (columns.score >= header.size()) {
    throw Error(ErrorCode::parse_error,
                "the header has one column; it needs a candidate's and a score's, with a comma "
                "between");
  }
  if (columns.candidate == columns.score) {
    refuse(
        "candidates and scores are in the same column; name both --candidate-column and "
        "--score-column");
  }
  if (read_decimal(header[columns.score]).value) {
    throw Error(ErrorCode::parse_error,
                "the first line has a number where the name of the score's column should be; add a "
                "header line such as candidate,score");
  }
  return columns;
}

[[noreturn]] void refuse_score(const DecimalOrFault& read, int places, const std::string& place) {
  std::string wrong = "is no decimal; write it like 12 or -0.5";
  if (read.value || read.fault == DecimalFault::too_many_decimals) {
    wrong = fmt::format("has more than {} digits after the point; round it", places);
  } else if (read.fault == DecimalFault::too_large) {
    wrong = "is too large; scores must be below 10^18";
  }
  throw Error(ErrorCode::parse_error, fmt::format("the score on {} {}", place, wrong));
}

// Names of the candidates that may still win. A block of candidates is kept whole; at its end those
// that lost are forgotten. So memory does not grow with the file, and the winners are not looked up
// for every line.
class Names {
 public:
  void add(std::size_t candidate, std::string_view name) { names_.emplace(candidate, name); }
  bool is_full(std::size_t wanted) const { return names_.size() >= wanted + kBlock; }
  void keep(std::span<const std::size_t> candidates) {
    std::unordered_map<std::size_t, std::string> kept;
    for (const std::size_t candidate : candidates) {
      kept.emplace(candidate, std::move(names_.at(candidate)));
    }
    names_ = std::move(kept);
  }
  const std::string& operator[](std::size_t candidate) const { return names_.at(candidate); }

 private:
  static constexpr std::size_t kBlock = 4096;
  std::unordered_map<std::size_t, std::string> names_;
};

struct Chosen {
  std::vector<std::string> names;
  std::int64_t candidates = 0;
};

Chosen choose(const ChooseArguments& arguments, const Choice& choice) {
  RowFile rows(arguments.input, "candidates");
  const Columns columns = read_header(rows, arguments);
  random::SecureSource bits;
  mechanism::Selector selector = make_selector(choice.spec, bits);
  Names names;
  const auto wanted = static_cast<std::size_t>(arguments.top);
  while (rows.next()) {
    const std::span<const std::string_view> fields = rows.fields();
    if (fields.size() != columns.all) {
      throw Error(ErrorCode::parse_error,
                  fmt::format("{} does not have the {} fields of the header; correct it",
                              rows.place(), columns.all));
    }
    const std::string_view name = fields[columns.candidate];
    if (name.empty()) {
      throw Error(ErrorCode::parse_error,
                  fmt::format("{} has no candidate's name; give it one", rows.place()));
    }
    names.add(selector.offered(), name);
    const DecimalOrFault score = read_decimal(fields[columns.score]);
    if (!score.value || score.value->decimals > choice.places) {
      refuse_score(score, choice.places, rows.place());
    }
    selector.offer(score.value->steps(choice.places));
    if (names.is_full(wanted)) names.keep(selector.result());
  }
  rows.finish();
  if (selector.offered() < wanted) {
    refuse(
        fmt::format("the file has {} candidates and {} shall be chosen; add lines below the "
                    "header, or choose fewer",
                    selector.offered(), wanted));
  }
  Chosen chosen;
  chosen.candidates = static_cast<std::int64_t>(selector.offered());
  for (const std::size_t winner : selector.result()) chosen.names.push_back(names[winner]);
  return chosen;
}

// How far behind the best the choice may be, in the unit of the scores.
double loss_of(const Choice& choice, std::int64_t candidates, double confidence) {
  const double steps = loss_bound(choice.spec, {candidates}, Confidence(confidence));
  return numeric::divide_up(steps, std::pow(10, choice.places));
}

std::string assumption(const ChooseArguments& arguments) {
  return fmt::format(
      "between neighbouring tables no score moves by more than {}{}; the candidates are public",
      arguments.sensitivity,
      arguments.monotone ? ", and all that move, move the same way"
                         : ", some up while others may go down");
}

std::string method_of(const ChooseArguments& arguments) {
  if (!arguments.method.empty()) return arguments.method;
  return arguments.top > 1 ? "exponential" : "permute-and-flip";
}

std::string table_of(const ChooseArguments& arguments, const Choice& choice, const Chosen& chosen) {
  const double loss = loss_of(choice, chosen.candidates, arguments.confidence);
  std::string text;
  for (const std::string& name : chosen.names) {
    text += fmt::format("  chosen   {}\n", printable(name, 200));
  }
  return text + fmt::format(
                    "\n  method   {}, among {} candidates\n"
                    "  cost     epsilon {}; no ledger is kept: count it where you keep yours\n"
                    "  error    with {}% confidence {} at most {} below {}\n"
                    "  means    this choice is {}-differentially private, if {}\n",
                    method_of(arguments), grouped(static_cast<double>(chosen.candidates), 18),
                    format_number(arguments.epsilon), format_number(arguments.confidence * 100),
                    arguments.top == 1 ? "its score is" : "the scores chosen are, place by place,",
                    grouped(loss, 6), arguments.top == 1 ? "the best" : "the best ones",
                    format_number(arguments.epsilon), assumption(arguments));
}

std::string json_of(const ChooseArguments& arguments, const Choice& choice, const Chosen& chosen) {
  const Json json = {
      {"chosen", chosen.names},
      {"method", method_of(arguments)},
      {"candidates", chosen.candidates},
      {"epsilon", arguments.epsilon},
      {"sensitivity", arguments.sensitivity},
      {"monotone", arguments.monotone},
      {"confidence", arguments.confidence},
      {"loss_bound", loss_of(choice, chosen.candidates, arguments.confidence)},
      {"mechanism", Json::parse(mechanism::to_json(choice.spec))},
      {"step", std::pow(10, -choice.places)},
      {"event", Json::parse(privacy::to_json(privacy_event(choice.spec, choice.sensitivity)))},
      {"assumption", assumption(arguments)},
      {"ledger", nullptr}};
  // A name that is not UTF-8 must not lose the choice: it was paid for.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void run(const ChooseArguments& arguments) {
  const Choice choice = plan(arguments);
  const Confidence checked(arguments.confidence);
  const Chosen chosen = choose(arguments, choice);
  Output output;
  output.write(arguments.format == "json" ? json_of(arguments, choice, chosen)
                                          : table_of(arguments, choice, chosen));
  output.flush();
}

}  // namespace

void add_choose(CLI::App& app) {
  auto arguments = std::make_shared<ChooseArguments>();
  CLI::App* command = app.add_subcommand(
      "choose",
      "choose the best of many candidates, privately\n\nReads a CSV of candidates and their scores "
      "and names one with a high score, or --top of them. The candidates must be public; the "
      "scores are not, and are never printed. No ledger is involved: each run costs its epsilon "
      "again, and nothing here remembers it. Errors are for the owner of the scores.\n\n"
      "Example: shoal choose prices.csv --sensitivity 500 --epsilon 1");
  command->add_option("input", arguments->input, "a CSV with a header line; - is standard input")
      ->required();
  command
      ->add_option("--sensitivity", arguments->sensitivity,
                   "by how much a person can move a score, in the unit of the scores")
      ->required();
  command->add_option("--epsilon", arguments->epsilon, "what the whole choice may cost")
      ->required();
  command->add_flag("--monotone", arguments->monotone,
                    "adding a person moves all scores the same way, as counts do: half the noise");
  command
      ->add_option("--method", arguments->method,
                   "permute-and-flip (the default: never worse), exponential (the default for "
                   "--top above 1) or noisy-max")
      ->check(CLI::IsMember({"permute-and-flip", "exponential", "noisy-max"}));
  command->add_option("--top", arguments->top, "how many to choose, highest first")
      ->capture_default_str();
  command->add_option("--candidate-column", arguments->candidate_column,
                      "the column of names (default: the first)");
  command->add_option("--score-column", arguments->score_column,
                      "the column of scores (default: the second)");
  command->add_option("--confidence", arguments->confidence, "of the error bound")
      ->capture_default_str();
  command->add_option("--format", arguments->format, "how to print")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->callback([arguments] { run(*arguments); });
}

}  // namespace shoal::cli
