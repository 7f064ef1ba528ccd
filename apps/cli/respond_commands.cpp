// shoal respond and shoal tally: randomized response, line by line, and frequencies from the
// reports. No ledger: each person randomizes on their own side, and what is tallied is public.
#include "commands.hpp"
#include "streams.hpp"
#include "table.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/frequency.hpp>
#include <shoal/mechanism/randomized_response.hpp>
#include <shoal/random/secure_source.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kBatch = 4096;
constexpr std::size_t kShownBytes = 40;

struct ResponseArguments {
  std::string input, categories, format = "table";
  double epsilon = 0, confidence = 0.95;
  bool together = false;
};

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

// The public list of what can be answered: at least two different names.
class Categories {
 public:
  explicit Categories(const std::string& list) : list_(list) {
    std::string_view rest = list_;
    while (true) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      add(rest.substr(0, comma));
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
    }
    if (names_.size() < 2) {
      refuse(fmt::format("--categories has only {}; name at least two, such as yes,no",
                         printable(names_.front(), kShownBytes)));
    }
  }
  Categories(const Categories&) = delete;
  Categories& operator=(const Categories&) = delete;

  std::size_t size() const { return names_.size(); }
  std::string_view operator[](std::size_t index) const { return names_[index]; }

  // The number of the category on the line that was read last.
  std::uint64_t index_of(std::string_view line, const LineReader& lines) const {
    const auto found = index_.find(line);
    if (found != index_.end()) return found->second;
    const std::string place = lines.place(lines.line());
    if (line.empty()) {
      throw Error(ErrorCode::parse_error,
                  fmt::format("{} is empty; each line must hold one category", place));
    }
    throw Error(
        ErrorCode::parse_error,
        fmt::format("{} is \"{}\", which is none of the {} categories; correct it or add it to "
                    "--categories",
                    place, printable(line, kShownBytes), names_.size()));
  }

 private:
  void add(std::string_view name) {
    if (name.empty()) refuse("--categories has an empty name; write them as in yes,no");
    const std::string shown = printable(name, kShownBytes);
    const bool control = std::any_of(name.begin(), name.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    });
    if (name.front() == ' ' || name.back() == ' ' || control || !is_utf8(name, false)) {
      refuse(
          fmt::format("category {} of --categories, \"{}\", has a space at an end, a control "
                      "character or bytes that are not UTF-8; write them as in yes,no",
                      names_.size() + 1, shown));
    }
    if (!index_.emplace(name, names_.size()).second) {
      refuse(fmt::format("--categories names {} twice; name each once", shown));
    }
    names_.push_back(name);
  }

  std::string list_;
  std::vector<std::string_view> names_;  // into list_
  std::unordered_map<std::string_view, std::uint64_t> index_;
};

mechanism::RandomizedResponse spec_of(const ResponseArguments& arguments,
                                      const Categories& categories) {
  const mechanism::RandomizedResponse spec{arguments.epsilon, categories.size()};
  validate(spec);
  return spec;
}

void respond(const ResponseArguments& arguments) {
  const Categories categories(arguments.categories);
  const mechanism::RandomizedResponse spec = spec_of(arguments, categories);
  const mechanism::RandomizedResponseSampler sampler = prepare(spec);
  const bool json = arguments.format == "json";
  std::vector<std::string> printed;  // by category
  for (std::size_t i = 0; i < categories.size(); ++i) {
    printed.push_back(json ? Json(categories[i]).dump() : std::string(categories[i]) + "\n");
  }
  LineReader lines(arguments.input, "truths", Printing::as_it_goes);
  random::SecureSource bits;
  Output output;
  std::vector<std::uint64_t> truths;
  std::vector<std::uint64_t> reports;
  bool first = true;
  const auto report = [&] {
    reports.resize(truths.size());
    sampler.report_all(truths, reports, bits);
    for (const std::uint64_t category : reports) {
      if (json) output.write(std::exchange(first, false) ? "" : ",\n");
      output.write(printed[category]);
    }
    truths.clear();
  };
  if (json) {
    output.write(fmt::format("{{\"mechanism\": {}, \"reports\": [\n", to_json(spec)));
  }
  while (true) {
    try {
      const auto line = lines.next();
      if (!line) break;
      truths.push_back(categories.index_of(*line, lines));
    } catch (const Error&) {
      // The lines before the bad one were promised their reports.
      report();
      output.flush();
      throw;
    }
    const bool waits = lines.must_wait();
    if (truths.size() == kBatch || waits) report();
    if (waits) output.flush();
  }
  report();
  if (json) output.write("\n]}\n");
  output.flush();
}

struct Tally {
  std::int64_t reports = 0;
  std::vector<std::int64_t> counts;
  std::vector<mechanism::Estimate> estimates;
  std::vector<double> standard_errors;
  std::vector<double> consistent;
};

Tally tally_of(const ResponseArguments& arguments, const Categories& categories,
               const mechanism::RandomizedResponse& spec) {
  const Confidence confidence(arguments.confidence);
  LineReader lines(arguments.input, "reports", Printing::at_the_end);
  Tally tally;
  tally.counts.assign(categories.size(), 0);
  while (const auto line = lines.next()) {
    ++tally.counts[categories.index_of(*line, lines)];
    ++tally.reports;
  }
  lines.finish();
  if (tally.reports == 0) refuse("there are no reports; give at least one line");
  if (arguments.together) {
    tally.estimates = frequency_intervals(spec, tally.counts, confidence);
  }
  for (std::size_t i = 0; i < categories.size(); ++i) {
    if (!arguments.together) {
      tally.estimates.push_back(
          frequency_interval(spec, tally.counts[i], tally.reports, confidence));
    }
    const double frequency = std::clamp(tally.estimates[i].value, 0.0, 1.0);
    tally.standard_errors.push_back(std::sqrt(frequency_variance(spec, frequency, tally.reports)));
  }
  tally.consistent = consistent_frequencies(spec, tally.counts);
  return tally;
}

std::string tally_table(const ResponseArguments& arguments, const Categories& categories,
                        const Tally& tally) {
  const std::string percent = format_number(arguments.confidence * 100) + "%";
  TextTable table(
      {"category", "reports", "frequency", percent + " interval", "standard error", "consistent"},
      {Align::left, Align::right, Align::right, Align::left, Align::right, Align::right});
  const auto shown = [](double value) { return fmt::format("{:.5f}", value); };
  for (std::size_t i = 0; i < categories.size(); ++i) {
    const mechanism::Estimate& estimate = tally.estimates[i];
    table.add({printable(categories[i], 60), grouped(static_cast<double>(tally.counts[i]), 18),
               shown(estimate.value),
               fmt::format("{} to {}", shown(estimate.lower), shown(estimate.upper)),
               shown(tally.standard_errors[i]), shown(tally.consistent[i])});
  }
  return fmt::format(
      "{}\n"
      "  reports     {}\n"
      "  intervals   {}\n"
      "  consistent  not negative, sums to one: nearer to the truth, no longer unbiased\n"
      "  means       each report is {}-differentially private for the person who gave it\n",
      table.text(), grouped(static_cast<double>(tally.reports), 18),
      arguments.together
          ? fmt::format("hold all together with {} confidence", percent)
          : fmt::format("hold each with {} confidence; --together for all at once", percent),
      format_number(arguments.epsilon));
}

std::string tally_json(const ResponseArguments& arguments, const Categories& categories,
                       const mechanism::RandomizedResponse& spec, const Tally& tally) {
  Json json = {{"mechanism", Json::parse(to_json(spec))},
               {"reports", tally.reports},
               {"confidence", arguments.confidence},
               {"intervals", arguments.together ? "together" : "each"}};
  json["categories"] = Json::array();
  for (std::size_t i = 0; i < categories.size(); ++i) {
    json["categories"].push_back({{"name", categories[i]},
                                  {"reports", tally.counts[i]},
                                  {"frequency", tally.estimates[i].value},
                                  {"lower", tally.estimates[i].lower},
                                  {"upper", tally.estimates[i].upper},
                                  {"standard_error", tally.standard_errors[i]},
                                  {"consistent", tally.consistent[i]}});
  }
  return json.dump(2) + "\n";
}

void tally(const ResponseArguments& arguments) {
  const Categories categories(arguments.categories);
  const mechanism::RandomizedResponse spec = spec_of(arguments, categories);
  const Tally result = tally_of(arguments, categories, spec);
  Output output;
  output.write(arguments.format == "json" ? tally_json(arguments, categories, spec, result)
                                          : tally_table(arguments, categories, result));
  output.flush();
}

CLI::App* add_common(CLI::App& app, const char* name, const char* help, const char* input,
                     const std::shared_ptr<ResponseArguments>& arguments) {
  CLI::App* command = app.add_subcommand(name, help);
  command->add_option("input", arguments->input, input);
  command->add_option("--epsilon", arguments->epsilon, "what one report may tell, at most 1000")
      ->required();
  command
      ->add_option("--categories", arguments->categories,
                   "what can be answered: names with commas between, at least two")
      ->required();
  command->add_option("--format", arguments->format, "how to print")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  return command;
}

}  // namespace

void add_respond(CLI::App& app) {
  auto arguments = std::make_shared<ResponseArguments>();
  CLI::App* command = add_common(
      app, "respond",
      "randomize answers, line by line (randomized response)\n\nReads truths and writes reports, "
      "one a line and in the same order. To be run where the truths are: each report by itself is "
      "epsilon-differentially private, whoever reads it. No ledger is involved: two reports of one "
      "truth cost epsilon twice.\n\n"
      "Example: shoal respond --epsilon 1 --categories yes,no < truths.txt > reports.txt",
      "a file of truths, one a line (default: standard input)", arguments);
  command->callback([arguments] { respond(*arguments); });
}

void add_tally(CLI::App& app) {
  auto arguments = std::make_shared<ResponseArguments>();
  CLI::App* command = add_common(
      app, "tally",
      "estimate frequencies from randomized answers\n\nReads the reports that shoal respond wrote "
      "with the same epsilon and the same categories in any order. It sees nothing private and "
      "spends nothing.\n\n"
      "Example: shoal tally --epsilon 1 --categories yes,no < reports.txt",
      "a file of reports, one a line (default: standard input)", arguments);
  command
      ->add_option("--confidence", arguments->confidence, "of the intervals, from 0.5 to below 1")
      ->capture_default_str();
  command->add_flag("--together", arguments->together,
                    "intervals that all hold at once with that confidence, not each by itself");
  command->callback([arguments] { tally(*arguments); });
}

}  // namespace shoal::cli
