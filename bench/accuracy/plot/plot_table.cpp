// Draws a Markdown table of results by epsilon as curves.
//
//   plot_table TITLE MEASURE OUTPUT.svg [METHOD...] < table.md
//
// The first row of the table names the epsilons, every other one a method and its results, "84.8 +-
// 0.1" or a number alone. Other lines are skipped, and so are other methods than those named.
#include <shoal/report/chart.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace shoal::bench {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream parts(line.substr(1));
  for (std::string cell; std::getline(parts, cell, '|');) {
    const std::size_t first = cell.find_first_not_of(" *");
    if (first == std::string::npos) continue;
    cells.push_back(cell.substr(first, cell.find_last_not_of(" *") - first + 1));
  }
  return cells;
}

report::Series series_of(const std::vector<std::string>& cells,
                         const std::vector<double>& epsilons) {
  report::Series series;
  series.name = cells.front();
  for (std::size_t k = 0; k + 1 < cells.size() && k < epsilons.size(); ++k) {
    char* end = nullptr;
    const double mean = std::strtod(cells[k + 1].c_str(), &end);
    if (end == cells[k + 1].c_str()) continue;
    const char* error = std::strstr(end, "+- ");
    const double spread = error ? std::strtod(error + 3, nullptr) : 0;
    series.points.push_back({epsilons[k], mean});
    series.band.push_back({epsilons[k], mean - spread, mean + spread});
  }
  return series;
}

report::Chart chart_of(std::istream& table, const std::vector<std::string>& methods) {
  report::Chart chart;
  std::vector<double> epsilons;
  for (std::string line; std::getline(table, line);) {
    if (line.rfind("| ", 0) != 0) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (!epsilons.empty()) {
      if (methods.empty() || std::find(methods.begin(), methods.end(), cells[0]) != methods.end())
        chart.series.push_back(series_of(cells, epsilons));
      continue;
    }
    for (std::size_t k = 1; k < cells.size(); ++k) epsilons.push_back(std::atof(cells[k].c_str()));
  }
  if (chart.series.empty()) throw std::runtime_error("there is no table");
  chart.x.label = "epsilon";
  chart.x.scale = report::Scale::log10;
  return chart;
}

}  // namespace
}  // namespace shoal::bench

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: plot_table TITLE MEASURE OUTPUT.svg [METHOD...] < table.md\n");
    return 2;
  }
  try {
    shoal::report::Chart chart = shoal::bench::chart_of(std::cin, {argv + 4, argv + argc});
    chart.title = argv[1];
    chart.y.label = argv[2];
    chart.notes = {"Bands: a standard error to either side."};
    std::ofstream(argv[3]) << shoal::report::to_svg(chart, {900, 560});
  } catch (const std::exception& failure) {
    fmt::print(stderr, "plot_table: {}\n", failure.what());
    return 1;
  }
  return 0;
}
