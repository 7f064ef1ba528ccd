// shoal calibrate: how much noise a guarantee needs, how often noise may be used, how to share a
// budget, and which noise suits many questions. Touches no data and no ledger; it is arithmetic
// about plans that are declared in advance.
#include "commands.hpp"
#include "streams.hpp"
#include "table.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/privacy/allocation.hpp>
#include <shoal/privacy/calibration.hpp>
#include <shoal/privacy/pairings.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;
using privacy::NoiseLaw;
using privacy::NoiseUse;

struct CalibrateArguments {
  double epsilon = 0, delta = 0, sensitivity = 1;
  std::optional<double> rate, sigma, scale;
  std::int64_t count = 1;
  std::string neighbors = "add_remove", noise = "gaussian", format = "text";
  std::vector<double> sensitivities, weights;
  bool discrete = false;
};

void print(const std::string& text) {
  Output output;
  output.write(text);
  output.flush();
}

// A number for a person to read that is not on the wrong side of the exact one.
std::string rounded(double value, bool up, int digits = 8) {
  if (value == 0) return "0";
  const double unit = std::pow(10, std::floor(std::log10(value)) - digits + 1);
  double wish = value;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::string text = fmt::format("{:.{}g}", wish, digits);
    double read = value;
    std::from_chars(text.data(), text.data() + text.size(), read);
    if (up ? read >= value : read <= value) return text;
    wish += (up ? 0.6 : -0.6) * unit;
  }
  return format_number(value);
}

privacy::Target target_of(const CalibrateArguments& arguments) {
  return {Epsilon(arguments.epsilon), Delta(arguments.delta), parse_neighbors(arguments.neighbors)};
}

NoiseLaw law_of(bool gaussian, bool discrete) {
  if (gaussian) return discrete ? NoiseLaw::discrete_gaussian : NoiseLaw::gaussian;
  return discrete ? NoiseLaw::discrete_laplace : NoiseLaw::laplace;
}

const char* parameter_name(NoiseLaw law) { return is_gaussian(law) ? "sigma" : "scale"; }

NoiseUse use_of(const CalibrateArguments& arguments, NoiseLaw law) {
  NoiseUse use;
  use.law = law;
  use.sensitivity = arguments.sensitivity;
  use.count = arguments.count;
  use.rate = arguments.rate;
  return use;
}

Json json_of(const privacy::Bounds& bounds) {
  return {{"lower", bounds.lower}, {"upper", bounds.upper}};
}

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string guarantee(const CalibrateArguments& arguments) {
  return arguments.delta > 0
             ? fmt::format("epsilon {} at delta {}, {}", format_number(arguments.epsilon),
                           format_number(arguments.delta), arguments.neighbors)
             : fmt::format("epsilon {}, {}", format_number(arguments.epsilon), arguments.neighbors);
}

std::string certified(const privacy::Certified& epsilon) {
  return fmt::format("the exact epsilon lies between {} and {} ({})",
                     rounded(epsilon.bounds.lower, false), rounded(epsilon.bounds.upper, true),
                     to_string(epsilon.engine));
}

std::string times(std::int64_t count, const std::optional<double>& rate) {
  std::string text =
      count == 1 ? "once" : fmt::format("{} times", grouped(static_cast<double>(count), 18));
  if (rate) text += fmt::format(", each on a Poisson sample of rate {}", format_number(*rate));
  return text;
}

void calibrate_noise(const CalibrateArguments& arguments, bool gaussian) {
  const NoiseLaw law = law_of(gaussian, arguments.discrete);
  const privacy::Calibrated found =
      privacy::calibrate_noise(use_of(arguments, law), target_of(arguments));
  if (arguments.format == "json") {
    const Json json = {{parameter_name(law), found.parameter},
                       {"epsilon", json_of(found.epsilon.bounds)},
                       {"delta", arguments.delta},
                       {"neighbors", arguments.neighbors},
                       {"count", arguments.count},
                       {"rate", json_of(arguments.rate)},
                       {"sensitivity", arguments.sensitivity},
                       {"law", to_string(law)},
                       {"insufficient", found.insufficient > 0 ? Json(found.insufficient) : Json()},
                       {"engine", to_string(found.epsilon.engine)},
                       {"event", Json::parse(privacy::to_json(found.event))}};
    return print(json.dump(2) + "\n");
  }
  print(fmt::format(
      "  {}     {}\n  law       {}, for a sensitivity of {}\n  used      {}\n  meets     {}\n"
      "  proof     {}\n  least     {}\n",
      parameter_name(law), format_number(found.parameter), to_string(law),
      format_number(arguments.sensitivity), times(arguments.count, arguments.rate),
      guarantee(arguments), certified(found.epsilon),
      found.insufficient > 0
          ? fmt::format("{} would provably be too little", format_number(found.insufficient))
          : "not known: nothing smaller was proven to be too little"));
}

NoiseLaw law_of_parameter(const CalibrateArguments& arguments) {
  if (arguments.sigma.has_value() == arguments.scale.has_value()) {
    throw Error(ErrorCode::invalid_argument,
                arguments.sigma ? "--sigma and --scale are both given; give --sigma for Gaussian "
                                  "noise or --scale for Laplace noise"
                                : "--sigma or --scale is missing; say how wide the noise is: "
                                  "--sigma 40 for Gaussian noise, --scale 40 for Laplace noise");
  }
  return law_of(arguments.sigma.has_value(), arguments.discrete);
}

void calibrate_count(const CalibrateArguments& arguments) {
  const NoiseLaw law = law_of_parameter(arguments);
  const double parameter = arguments.sigma ? *arguments.sigma : *arguments.scale;
  const privacy::LargestCount found =
      privacy::largest_count(use_of(arguments, law), parameter, target_of(arguments));
  if (arguments.format == "json") {
    const Json json = {{"count", found.count},
                       {"too_many", found.too_many ? Json(*found.too_many) : Json()},
                       {"epsilon", json_of(found.epsilon.bounds)},
                       {"delta", arguments.delta},
                       {"neighbors", arguments.neighbors},
                       {parameter_name(law), parameter},
                       {"rate", json_of(arguments.rate)},
                       {"sensitivity", arguments.sensitivity},
                       {"law", to_string(law)},
                       {"engine", to_string(found.epsilon.engine)}};
    return print(json.dump(2) + "\n");
  }
  std::string most = "not known: no larger count was proven to be too many";
  if (found.count == privacy::kMaxCalibratedCount) {
    most = "larger counts are not looked at";
  } else if (found.too_many) {
    most = fmt::format("{} would provably be too many",
                       grouped(static_cast<double>(*found.too_many), 18));
  }
  print(fmt::format(
      "  count     {}\n  law       {} with {} {}, for a sensitivity of {}\n{}  meets     {}\n"
      "{}  most      {}\n",
      grouped(static_cast<double>(found.count), 18), to_string(law), parameter_name(law),
      format_number(parameter), format_number(arguments.sensitivity),
      arguments.rate ? fmt::format("  sampled   by Poisson samples of rate {}\n",
                                   format_number(*arguments.rate))
                     : "",
      guarantee(arguments),
      found.count > 0 ? fmt::format("  proof     {}\n", certified(found.epsilon)) : "", most));
}

void calibrate_queries(const CalibrateArguments& arguments) {
  const privacy::PairingTable table =
      privacy::compare_pairings(arguments.count, arguments.sensitivity, target_of(arguments));
  const privacy::Pairing& best = table.rows[table.best];
  if (arguments.format == "json") {
    Json json = {
        {"count", arguments.count},
        {"epsilon", arguments.epsilon},
        {"delta", arguments.delta},
        {"neighbors", arguments.neighbors},
        {"sensitivity", arguments.sensitivity},
        {"confidence", privacy::kPairingConfidence},
        {"best", {{"law", to_string(best.law)}, {"composition", to_string(best.composition)}}}};
    json["pairings"] = Json::array();
    for (const privacy::Pairing& row : table.rows) {
      json["pairings"].push_back({{"law", to_string(row.law)},
                                  {"composition", to_string(row.composition)},
                                  {parameter_name(row.law), row.parameter},
                                  {"standard_deviation", row.standard_deviation},
                                  {"error", row.error},
                                  {"epsilon", json_of(row.epsilon.bounds)}});
    }
    return print(json.dump(2) + "\n");
  }
  TextTable rows(
      {"noise", "composition", "scale or sigma", "standard deviation", "95% error", "really costs"},
      {Align::left, Align::left, Align::right, Align::right, Align::right, Align::right});
  for (const privacy::Pairing& row : table.rows) {
    rows.add({std::string(to_string(row.law)), std::string(to_string(row.composition)),
              grouped(row.parameter, 6), grouped(row.standard_deviation, 6), grouped(row.error, 6),
              fmt::format("epsilon {}", rounded(row.epsilon.bounds.upper, true, 4))});
  }
  print(fmt::format(
      "{}\n  best      {} noise with {} {}: within {} with 95% confidence, each answer\n"
      "  meets     {}, all {} questions together\n",
      rows.text(), to_string(best.law), parameter_name(best.law), format_number(best.parameter),
      rounded(best.error, true), guarantee(arguments),
      grouped(static_cast<double>(table.count), 18)));
}

std::vector<privacy::Question> questions_of(const CalibrateArguments& arguments) {
  if (!arguments.weights.empty() && arguments.weights.size() != arguments.sensitivities.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there are {} weights and {} sensitivities; give one weight for each "
                            "question, or none",
                            arguments.weights.size(), arguments.sensitivities.size()));
  }
  std::vector<privacy::Question> questions;
  for (std::size_t i = 0; i < arguments.sensitivities.size(); ++i) {
    questions.push_back(
        {arguments.sensitivities[i], arguments.weights.empty() ? 1 : arguments.weights[i]});
  }
  return questions;
}

void calibrate_split(const CalibrateArguments& arguments) {
  const NoiseLaw law = law_of(arguments.noise == "gaussian", arguments.discrete);
  const std::vector<privacy::Question> questions = questions_of(arguments);
  const privacy::Allocation found = privacy::allocate(law, questions, target_of(arguments));
  if (arguments.format == "json") {
    Json json = {{"law", to_string(law)},
                 {"epsilon", json_of(found.epsilon.bounds)},
                 {"delta", arguments.delta},
                 {"neighbors", arguments.neighbors},
                 {"weighted_variance", found.weighted_variance}};
    json["questions"] = Json::array();
    for (std::size_t i = 0; i < questions.size(); ++i) {
      json["questions"].push_back({{"sensitivity", questions[i].sensitivity},
                                   {"weight", questions[i].weight},
                                   {parameter_name(law), found.parameters[i]}});
    }
    json["event"] = Json::parse(privacy::to_json(found.event));
    return print(json.dump(2) + "\n");
  }
  TextTable rows({"question", "sensitivity", "weight", parameter_name(law)},
                 {Align::right, Align::right, Align::right, Align::right});
  for (std::size_t i = 0; i < questions.size(); ++i) {
    rows.add({fmt::format("{}", i + 1), format_number(questions[i].sensitivity),
              format_number(questions[i].weight), rounded(found.parameters[i], true)});
  }
  print(
      fmt::format("{}\n  law       {}\n  meets     {}, all questions together\n  proof     {}\n"
                  "  variance  {}, weighted\n",
                  rows.text(), to_string(law), guarantee(arguments), certified(found.epsilon),
                  format_rounded(found.weighted_variance, 6)));
}

// The options that all of them have.
void add_target(CLI::App& command, CalibrateArguments& arguments) {
  command.add_option("--epsilon", arguments.epsilon, "what all uses together may cost, above 0")
      ->required();
  command.add_option("--delta", arguments.delta, "the delta of it; 0 is for Laplace noise only")
      ->capture_default_str();
  command.add_option("--neighbors", arguments.neighbors, "add_remove or replace_one")
      ->check(CLI::IsMember({"add_remove", "replace_one"}))
      ->capture_default_str();
  command.add_option("--format", arguments.format, "how to print")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

void add_sensitivity(CLI::App& command, CalibrateArguments& arguments) {
  command
      .add_option("--sensitivity", arguments.sensitivity,
                  "how far the statistic moves when one person is added or removed")
      ->capture_default_str();
}

void add_count(CLI::App& command, CalibrateArguments& arguments, const char* what) {
  command.add_option("--count", arguments.count, what)->capture_default_str();
}

void add_law(CLI::App& command, CalibrateArguments& arguments) {
  command.add_option("--rate", arguments.rate,
                     "each use sees a Poisson sample of this rate: above 0, at most 1");
  command.add_flag("--discrete", arguments.discrete,
                   "noise on the integers, as answers have it; the sensitivity is in steps");
}

template <class Run>
CLI::App& add(CLI::App& parent, const char* name, const char* text, const Run& run,
              std::shared_ptr<CalibrateArguments>& arguments) {
  arguments = std::make_shared<CalibrateArguments>();
  CLI::App* command = parent.add_subcommand(name, text);
  command->allow_extras(false);
  add_target(*command, *arguments);
  command->callback([arguments, run] { run(*arguments); });
  return *command;
}

}  // namespace

void add_calibrate(CLI::App& app) {
  CLI::App* calibrate = app.add_subcommand(
      "calibrate",
      "how much noise a guarantee needs\n\nThe least noise, the largest count, the best split of a "
      "budget: certified by the accountant, rounded to the safe side. For plans declared in "
      "advance. Touches no data and no ledger.\n\n"
      "Example: shoal calibrate gaussian --epsilon 1 --delta 1e-6 --count 100 --format json");
  // CLI11 would only say that a subcommand is missing.
  calibrate->allow_extras();
  calibrate->parse_complete_callback([calibrate] {
    const std::vector<std::string> unknown = calibrate->remaining();
    if (unknown.empty() && !calibrate->get_subcommands().empty()) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}; say what to calibrate: gaussian, laplace, count, queries or split",
                            unknown.empty() ? "there is nothing to calibrate"
                                            : fmt::format("there is no calibrate {}",
                                                          printable(unknown[0], 40))));
  });
  std::shared_ptr<CalibrateArguments> arguments;
  CLI::App& gaussian = add(
      *calibrate, "gaussian",
      "the least sigma of Gaussian noise\n\n"
      "Example: shoal calibrate gaussian --epsilon 8 --delta 1e-5 --count 2000 --rate 0.04",
      [](const CalibrateArguments& given) { calibrate_noise(given, true); }, arguments);
  add_sensitivity(gaussian, *arguments);
  add_count(gaussian, *arguments, "how often the noise is used");
  add_law(gaussian, *arguments);
  CLI::App& laplace = add(
      *calibrate, "laplace",
      "the least scale of Laplace noise\n\n"
      "Example: shoal calibrate laplace --epsilon 1 --delta 1e-6 --count 100",
      [](const CalibrateArguments& given) { calibrate_noise(given, false); }, arguments);
  add_sensitivity(laplace, *arguments);
  add_count(laplace, *arguments, "how often the noise is used");
  add_law(laplace, *arguments);
  CLI::App& count = add(
      *calibrate, "count",
      "how often noise may be used\n\n"
      "Example: shoal calibrate count --sigma 40 --epsilon 1 --delta 1e-6",
      [](const CalibrateArguments& given) { calibrate_count(given); }, arguments);
  count.add_option("--sigma", arguments->sigma, "of Gaussian noise");
  count.add_option("--scale", arguments->scale, "of Laplace noise");
  add_sensitivity(count, *arguments);
  add_law(count, *arguments);
  CLI::App& queries = add(
      *calibrate, "queries",
      "which noise for many questions\n\nLaplace or Gaussian noise, by the composition theorems "
      "of the textbook and by the accountant.\n\n"
      "Example: shoal calibrate queries --count 100 --epsilon 1 --delta 1e-6",
      [](const CalibrateArguments& given) { calibrate_queries(given); }, arguments);
  add_sensitivity(queries, *arguments);
  add_count(queries, *arguments, "how many questions");
  CLI::App& split = add(
      *calibrate, "split",
      "share a budget among different questions\n\nThe noise of each, so that the weighted sum "
      "of variances is smallest.\n\n"
      "Example: shoal calibrate split --sensitivities 1,10,1 --weights 1,1,100 --epsilon 1 "
      "--delta 1e-6",
      [](const CalibrateArguments& given) { calibrate_split(given); }, arguments);
  split.add_option("--sensitivities", arguments->sensitivities, "one a question, with commas")
      ->delimiter(',')
      ->required();
  split.add_option("--weights", arguments->weights, "how much each variance matters; all alike")
      ->delimiter(',');
  split.add_option("--noise", arguments->noise, "gaussian or laplace")
      ->check(CLI::IsMember({"gaussian", "laplace"}))
      ->capture_default_str();
  split.add_flag("--discrete", arguments->discrete,
                 "noise on the integers; the sensitivities are in steps");
}

}  // namespace shoal::cli
