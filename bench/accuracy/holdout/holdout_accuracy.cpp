// Repeats the experiment of Science 2015 and draws what three holdouts report against the truth.
//   holdout_accuracy <repetitions> <folder> [no_signal | signal]
// Prints means over the repetitions and how often stated intervals missed; writes no_signal.svg and
// signal.svg.
#include "experiment.hpp"

#include <shoal/base/file.hpp>
#include <shoal/report/chart.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace shoal;
using namespace shoal::example;

struct Means {
  std::vector<double> reported, fresh;
};

using Way = std::vector<Report> Repetition::*;

Means means(const std::vector<Repetition>& all, Way way, std::size_t sizes) {
  Means sum{std::vector<double>(sizes, 0), std::vector<double>(sizes, 0)};
  for (const Repetition& one : all) {
    for (std::size_t s = 0; s < sizes; ++s) {
      sum.reported[s] += (one.*way)[s].reported / static_cast<double>(all.size());
      sum.fresh[s] += (one.*way)[s].fresh / static_cast<double>(all.size());
    }
  }
  return sum;
}

report::Series series(const std::string& name, const std::vector<double>& values,
                      const Setting& setting) {
  report::Series line{.name = name};
  for (std::size_t s = 0; s < values.size(); ++s) {
    line.points.push_back({static_cast<double>(setting.sizes[s]), values[s]});
  }
  return line;
}

int run(const std::string& title, const Setting& setting, int repetitions,
        const std::filesystem::path& file) {
  std::vector<Repetition> all;
  double slowest = 0;
  int missed_runs = 0;
  for (int r = 0; r < repetitions; ++r) {
    // Processor time: others may use the machine, too.
    const std::clock_t start = std::clock();
    all.push_back(run_experiment(setting, static_cast<std::uint64_t>(1000 + r)));
    slowest = std::max(slowest, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    bool missed = false;
    for (const Report& one : all.back().holdout) {
      missed = missed || one.fresh < one.lower || one.fresh > one.upper;
    }
    missed_runs += missed ? 1 : 0;
  }
  const std::size_t sizes = setting.sizes.size();
  const Means plain = means(all, &Repetition::standard, sizes);
  const Means published = means(all, &Repetition::thresholdout, sizes);
  const Means ours = means(all, &Repetition::holdout, sizes);
  fmt::print("{}, {} repetitions, slowest {:.2f} s of processor time, data included\n", title,
             repetitions, slowest);
  fmt::print("variables  plain: said true   thresholdout: said true   shoal: said true\n");
  for (std::size_t s = 0; s < sizes; ++s) {
    fmt::print("{:>9}  {:.3f} {:.3f}          {:.3f} {:.3f}                {:.3f} {:.3f}\n",
               setting.sizes[s], plain.reported[s], plain.fresh[s], published.reported[s],
               published.fresh[s], ours.reported[s], ours.fresh[s]);
  }
  fmt::print("repetitions with an interval that missed: {} of {}\n\n", missed_runs, repetitions);
  report::Chart chart;
  chart.title = title;
  chart.x = {.label = "variables chosen"};
  chart.y = {.label = "accuracy"};
  chart.series = {series("plain holdout: reported", plain.reported, setting),
                  series("plain holdout: true", plain.fresh, setting),
                  series("thresholdout: reported", published.reported, setting),
                  series("shoal: reported", ours.reported, setting),
                  series("shoal: true", ours.fresh, setting)};
  report::Series& band = chart.series[3];
  for (std::size_t s = 0; s < sizes; ++s) {
    double lower = 0;
    double upper = 0;
    for (const Repetition& one : all) {
      lower += one.holdout[s].lower / static_cast<double>(all.size());
      upper += one.holdout[s].upper / static_cast<double>(all.size());
    }
    band.band.push_back({static_cast<double>(setting.sizes[s]), lower, upper});
  }
  chart.notes.push_back(fmt::format(
      "means of {} repetitions; band: mean stated interval at confidence {}; epsilon {}",
      repetitions, kConfidence, kEpsilon));
  write_file_durably(file, report::to_svg(chart), IfExists::replace);
  return missed_runs;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::filesystem::path folder = argc > 2 ? argv[2] : ".";
  const std::string which = argc > 3 ? argv[3] : "";
  Setting setting;
  int missed = 0;
  if (which != "signal") {
    missed += run("No signal", setting, repetitions, folder / "no_signal.svg");
  }
  setting.signals = 20;
  setting.shift = 6 / std::sqrt(static_cast<double>(setting.rows));
  if (which != "no_signal") {
    missed += run("20 variables with a signal", setting, repetitions, folder / "signal.svg");
  }
  return missed == 0 ? 0 : 1;
}
