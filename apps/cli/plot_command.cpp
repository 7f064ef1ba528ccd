// shoal plot: the privacy of one or more events as a picture. Reads events, never data.
#include "commands.hpp"
#include "event_file.hpp"
#include "streams.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/text.hpp>
#include <shoal/privacy/privacy_loss.hpp>
#include <shoal/privacy/profile.hpp>
#include <shoal/privacy/tradeoff.hpp>
#include <shoal/report/chart.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <vector>

namespace shoal::cli {
namespace {

struct PlotArguments {
  std::vector<std::string> inputs, labels;
  std::string what = "profile", output, neighbors = "add_remove", direction = "removed";
  std::vector<double> delta_range = {1e-8, 1};
  std::string title;
  bool replace = false;
};

struct Named {
  std::string name;
  privacy::Event event;
};

constexpr int kPoints = 60;
// For pictures: finer than a pixel.
constexpr privacy::ProfileOptions kRough{.tolerance = 1e-4};

void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

std::vector<Named> read_events(const PlotArguments& arguments) {
  if (!arguments.labels.empty() && arguments.labels.size() != arguments.inputs.size()) {
    refuse(
        fmt::format("there are {} labels and {} events; give one --label for each event, or none",
                    arguments.labels.size(), arguments.inputs.size()));
  }
  std::vector<Named> events;
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i) {
    const std::string& path = arguments.inputs[i];
    const std::string file =
        path == "-" ? "standard input" : std::filesystem::path(path).stem().string();
    events.push_back({arguments.labels.empty() ? file : arguments.labels[i], read_event(path)});
  }
  return events;
}

report::Chart profile_chart(const std::vector<Named>& events, Neighbors neighbors,
                            const PlotArguments& arguments) {
  const double least = arguments.delta_range[0];
  const double most = arguments.delta_range[1];
  if (!(least >= 1e-290 && least < most && most <= 1)) {
    refuse(fmt::format("--delta-range is {} {}; it must rise, from at least 1e-290 to at most 1",
                       format_number(least), format_number(most)));
  }
  report::Chart chart;
  chart.title = "Privacy profile";
  chart.x = {.label = "epsilon"};
  chart.y = {.label = "delta", .scale = report::Scale::log10, .range = report::Range{least, most}};
  double farthest = 0;
  for (const Named& named : events) {
    const privacy::Profile profile(named.event, neighbors, kRough);
    const double end = profile.epsilon(Delta(least)).bounds.upper;
    if (std::isfinite(end)) farthest = std::max(farthest, end);
  }
  if (farthest == 0) farthest = 1;
  for (const Named& named : events) {
    // A fresh one: an accountant that was asked for a tiny delta keeps tables that slow it down.
    const privacy::Profile profile(named.event, neighbors, kRough);
    report::Series series{.name = named.name};
    for (int k = 0; k <= kPoints; ++k) {
      const double epsilon = farthest * k / kPoints;
      const privacy::Bounds delta = profile.delta(epsilon).bounds;
      series.points.push_back({epsilon, delta.upper});
      series.band.push_back({epsilon, delta.lower, delta.upper});
    }
    chart.series.push_back(std::move(series));
  }
  chart.notes.push_back("lines: proven upper bounds; bands reach down to the proven lower bounds");
  return chart;
}

report::Chart tradeoff_chart(const std::vector<Named>& events, Neighbors neighbors) {
  report::Chart chart;
  chart.title = "How well anybody can tell who is in the data";
  chart.x = {.label = "false positives", .range = report::Range{0, 1}};
  chart.y = {.label = "false negatives", .range = report::Range{0, 1}};
  for (const Named& named : events) {
    const privacy::TradeOff tests(named.event, neighbors, kRough);
    report::Series series{.name = named.name};
    for (int k = 0; k <= kPoints; ++k) {
      // Denser near both ends, where the curve bends.
      const double t = static_cast<double>(k) / kPoints;
      const double rate = t * t * (3 - 2 * t);
      const privacy::Bounds missed = tests.false_negative(rate, 2e-3);
      series.points.push_back({rate, missed.lower});
      series.band.push_back({rate, missed.lower, missed.upper});
    }
    chart.series.push_back(std::move(series));
  }
  chart.series.push_back({.name = "blind guessing", .points = {{0, 1}, {1, 0}}});
  chart.notes.push_back(
      "lines: no test lies below (proven); bands reach up to what the best tests may have");
  return chart;
}

report::Chart loss_chart(const std::vector<Named>& events, Neighbors neighbors,
                         const std::string& direction) {
  report::Chart chart;
  chart.title = fmt::format("Privacy loss, the person {}", direction);
  bool masses = false;
  bool densities = false;
  for (const Named& named : events) {
    const auto loss = direction == "removed"
                          ? privacy::PrivacyLoss::removed(named.event, neighbors, kRough)
                          : privacy::PrivacyLoss::added(named.event, neighbors, kRough);
    const privacy::LossTable table = loss.table(200);
    report::Series series{.name = named.name};
    series.style = table.exact ? report::Style::stems : report::Style::line;
    (table.exact ? masses : densities) = true;
    for (const privacy::LossPoint& point : table.points) {
      series.points.push_back({point.loss, table.exact ? point.mass : point.mass / table.step});
    }
    if (table.infinite > 0) {
      chart.notes.push_back(fmt::format("{}: infinite with a chance of at most {}", named.name,
                                        rounded_up(table.infinite)));
    }
    chart.series.push_back(std::move(series));
  }
  chart.x = {.label = "privacy loss"};
  chart.y = {.label = !densities ? "probability"
                      : masses   ? "density (lines), probability (stems)"
                                 : "density"};
  if (densities) chart.notes.push_back("densities are approximations, for the eye; no bounds");
  return chart;
}

void run(const PlotArguments& arguments) {
  const Neighbors neighbors = parse_neighbors(arguments.neighbors);
  const std::filesystem::path output(arguments.output);
  // Refused again when it is written; here, before the time is spent.
  if (!arguments.replace && std::filesystem::exists(output)) {
    throw Error(ErrorCode::conflict,
                fmt::format("{} exists; take another --output, or --replace it",
                            printable(arguments.output, 200)));
  }
  const std::vector<Named> events = read_events(arguments);
  report::Chart chart = arguments.what == "profile" ? profile_chart(events, neighbors, arguments)
                        : arguments.what == "tradeoff"
                            ? tradeoff_chart(events, neighbors)
                            : loss_chart(events, neighbors, arguments.direction);
  if (!arguments.title.empty()) chart.title = arguments.title;
  chart.notes.push_back(neighbors == Neighbors::add_remove
                            ? "neighbors: add_remove, one person's rows are there, or not"
                            : "neighbors: replace_one, one person's rows are exchanged");
  write_file_durably(output, report::to_svg(chart),
                     arguments.replace ? IfExists::replace : IfExists::refuse);
  Output out;
  out.write(fmt::format("wrote {}\n", printable(arguments.output, 200)));
  out.flush();
}

}  // namespace

void add_plot(CLI::App& app) {
  auto arguments = std::make_shared<PlotArguments>();
  CLI::App* command = app.add_subcommand(
      "plot",
      "draw the privacy of events as an SVG picture\n\n"
      "profile: delta over epsilon. tradeoff: the false negatives of the best test over its false "
      "positives. loss: the law of the privacy loss. Several events are drawn over each other. "
      "Touches no data and no ledger.\n\n"
      "Example: shoal plot laplace.json gaussian.json --what profile --output curves.svg");
  command->add_option("events", arguments->inputs, "files with events; - is standard input")
      ->required();
  command->add_option("--what", arguments->what, "what to draw")
      ->check(CLI::IsMember({"profile", "tradeoff", "loss"}))
      ->capture_default_str();
  command->add_option("--output,-o", arguments->output, "the SVG file to write")->required();
  command
      ->add_option("--label", arguments->labels,
                   "a name in the legend, one for each event (default: the file's)")
      ->take_all();
  command->add_option("--title", arguments->title, "over the picture (default: what it shows)");
  command->add_option("--neighbors", arguments->neighbors, "add_remove or replace_one")
      ->capture_default_str();
  command
      ->add_option("--delta-range", arguments->delta_range,
                   "for a profile: the smallest and the largest delta drawn")
      ->expected(2)
      ->capture_default_str();
  command
      ->add_option("--direction", arguments->direction, "for a loss: the person removed or added")
      ->check(CLI::IsMember({"removed", "added"}))
      ->capture_default_str();
  command->add_flag("--replace", arguments->replace, "overwrite an existing file");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace shoal::cli
