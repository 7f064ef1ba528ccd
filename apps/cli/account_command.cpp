// shoal account: what an event costs. Reads an event, never data; keeps no ledger.
#include "commands.hpp"
#include "event_file.hpp"
#include "streams.hpp"
#include "table.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/privacy/methods.hpp>
#include <shoal/privacy/profile.hpp>
#include <shoal/privacy/tradeoff.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <memory>
#include <optional>

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;

struct AccountArguments {
  std::string input, neighbors = "add_remove", format = "text";
  std::optional<double> delta, epsilon;
  double tolerance = 1e-6;
  bool compare = false;
};

// The rate of false positives in the sentence about tests: one in a thousand.
constexpr double kFalseAlarms = 1e-3;

void check(const AccountArguments& arguments) {
  if (arguments.delta.has_value() == arguments.epsilon.has_value()) {
    throw Error(ErrorCode::invalid_argument,
                arguments.delta
                    ? "both --delta and --epsilon are given; give one, and the answer is "
                      "the other"
                    : "neither --delta nor --epsilon is given; give --delta 1e-6 to ask "
                      "for epsilon, or --epsilon 1 to ask for delta");
  }
  if (arguments.epsilon && !(*arguments.epsilon >= 0 && std::isfinite(*arguments.epsilon))) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--epsilon is {}; it must be finite and not negative",
                            format_number(*arguments.epsilon)));
  }
  if (arguments.delta) static_cast<void>(Delta(*arguments.delta));
}

std::string relation_in_words(Neighbors neighbors) {
  return neighbors == Neighbors::add_remove
             ? "add_remove: one person's rows are there, or not"
             : "replace_one: one person's rows are exchanged for another's";
}

std::vector<std::string> meaning(const privacy::Event& event, Neighbors neighbors) {
  const privacy::TradeOff tests(event, neighbors, {.tolerance = 1e-4});
  std::vector<std::string> words = in_words(tests.membership(0.5));
  const double missed = tests.finding_presence(kFalseAlarms, 1e-5).lower;
  words.push_back(fmt::format(
      "a test that wrongly names at most 1 in 1,000 of those who are not in it finds at "
      "most {}% of those who are",
      format_rounded(std::ceil((1 - missed) * 1e4) / 100, 4)));
  return words;
}

std::string text_of(const AccountArguments& arguments, const privacy::Certified& answer,
                    const privacy::Event& event, Neighbors neighbors) {
  const privacy::Bounds& bounds = answer.bounds;
  const bool asked_epsilon = arguments.delta.has_value();
  const std::string name = asked_epsilon ? "epsilon" : "delta";
  const std::string at = asked_epsilon
                             ? fmt::format("delta {}", format_number(*arguments.delta))
                             : fmt::format("epsilon {}", format_number(*arguments.epsilon));
  std::string text;
  const auto line = [&text](const std::string& label, const std::string& what) {
    text += fmt::format("  {:<10} {}\n", label, what);
  };
  line(name, fmt::format("at most {} at {}", rounded_up(bounds.upper), at));
  line("", fmt::format("at least {}", rounded_down(bounds.lower)));
  text += '\n';
  line("method", std::string(to_string(answer.engine)));
  line("neighbors", relation_in_words(neighbors));
  std::string label = "means";
  if (std::isinf(bounds.upper)) {
    line(label,
         fmt::format("no epsilon holds at {} that is known; a larger delta may have one", at));
    label.clear();
  }
  for (const std::string& words : meaning(event, neighbors)) {
    line(label, words);
    label.clear();
  }
  return text;
}

std::string json_of(const AccountArguments& arguments, const privacy::Certified& answer,
                    Neighbors neighbors) {
  Json json;
  if (arguments.delta) {
    json["epsilon"] = bounds_json(answer.bounds);
    json["delta"] = *arguments.delta;
  } else {
    json["delta"] = bounds_json(answer.bounds);
    json["epsilon"] = *arguments.epsilon;
  }
  json["neighbors"] = to_string(neighbors);
  json["method"] = to_string(answer.engine);
  return json.dump() + "\n";
}

std::string compare_json(const AccountArguments& arguments, Neighbors neighbors,
                         const std::vector<privacy::Method>& rows) {
  const std::string name = arguments.delta ? "epsilon" : "delta";
  Json json;
  json[arguments.delta ? "delta" : "epsilon"] =
      arguments.delta ? *arguments.delta : *arguments.epsilon;
  json["neighbors"] = to_string(neighbors);
  json["methods"] = Json::array();
  for (const privacy::Method& row : rows) {
    Json entry = {{"name", row.name}, {"kind", to_string(row.kind)}};
    entry[name] = row.value ? number_json(*row.value) : Json(nullptr);
    if (row.lower) entry["lower"] = number_json(*row.lower);
    entry["note"] = row.note;
    json["methods"].push_back(entry);
  }
  return json.dump(2) + "\n";
}

std::string compare_table(const AccountArguments& arguments, Neighbors neighbors,
                          const std::vector<privacy::Method>& rows) {
  const std::string name = arguments.delta ? "epsilon" : "delta";
  TextTable table({"method", name, "at least", "", ""},
                  {Align::left, Align::right, Align::right, Align::left, Align::left});
  for (const privacy::Method& row : rows) {
    table.add({row.name, row.value ? rounded_up(*row.value) : "-",
               row.lower ? rounded_down(*row.lower) : "",
               row.value ? std::string(to_string(row.kind)) : "not applicable", row.note});
  }
  return fmt::format("{}\n  at {} {}, {}\n", table.text(), arguments.delta ? "delta" : "epsilon",
                     format_number(arguments.delta ? *arguments.delta : *arguments.epsilon),
                     relation_in_words(neighbors));
}

std::string answer(const AccountArguments& arguments) {
  check(arguments);
  const Neighbors neighbors = parse_neighbors(arguments.neighbors);
  const privacy::ProfileOptions options{.tolerance = arguments.tolerance};
  const privacy::Event event = read_event(arguments.input);
  if (arguments.compare) {
    const auto rows = arguments.delta
                          ? methods_at_delta(event, neighbors, Delta(*arguments.delta), options)
                          : methods_at_epsilon(event, neighbors, *arguments.epsilon, options);
    return arguments.format == "json" ? compare_json(arguments, neighbors, rows)
                                      : compare_table(arguments, neighbors, rows);
  }
  const privacy::Profile profile(event, neighbors, options);
  const privacy::Certified found = arguments.delta ? profile.epsilon(Delta(*arguments.delta))
                                                   : profile.delta(*arguments.epsilon);
  return arguments.format == "json" ? json_of(arguments, found, neighbors)
                                    : text_of(arguments, found, event, neighbors);
}

void run(const AccountArguments& arguments) {
  Output output;
  output.write(answer(arguments));
  output.flush();
}

}  // namespace

void add_account(CLI::App& app) {
  auto arguments = std::make_shared<AccountArguments>();
  CLI::App* command = app.add_subcommand(
      "account",
      "say what an event costs: epsilon at a delta, or delta at an epsilon\n\nThe event is a file "
      "of JSON (docs/reference/events.md), such as\n"
      "  {\"repeat\": {\"count\": 100, \"event\": {\"gaussian\": {\"sigma\": 20, \"sensitivity\": "
      "1}}}}\n"
      "The answer is an upper and a lower bound, both proven, for a plan declared in advance. "
      "Touches no data and no ledger.\n\n"
      "Example: shoal account event.json --delta 1e-6");
  command->add_option("event", arguments->input, "the file with the event; - is standard input")
      ->required();
  command->add_option("--delta", arguments->delta, "asks for epsilon at this delta, in [0, 1)");
  command->add_option("--epsilon", arguments->epsilon, "asks for delta at this epsilon");
  command->add_option("--neighbors", arguments->neighbors, "add_remove or replace_one")
      ->capture_default_str();
  command->add_flag("--compare", arguments->compare,
                    "what every composition theorem says, side by side");
  command
      ->add_option("--tolerance", arguments->tolerance,
                   "the gap between the bounds that is aimed at, relative, from 1e-9 to 0.1")
      ->capture_default_str();
  command->add_option("--format", arguments->format, "how to print")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([arguments] { run(*arguments); });
}

}  // namespace shoal::cli
