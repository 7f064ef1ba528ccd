// Pictures of counts as SVG text: bars for one list of values, a grid of shades for two. Like
// charts, they are pure functions of what they are given and know nothing of privacy: only released
// values belong in them.
#pragma once

#include <string>
#include <vector>

namespace shoal::report {

// One bar a label. Values that are negative or no numbers are drawn as nothing.
struct CountBars {
  std::string title = {};
  std::vector<std::string> labels = {};
  std::vector<double> values = {};
};

// values[row * columns + column]: the darker, the more.
struct CountGrid {
  std::string row_name = {};
  std::string column_name = {};
  std::vector<std::string> rows = {};
  std::vector<std::string> columns = {};
  std::vector<double> values = {};
};

// Throw invalid_argument if there are not as many values as labels, or none, and for text that XML
// cannot carry.
std::string to_svg(const CountBars& bars);
std::string to_svg(const CountGrid& grid);

}  // namespace shoal::report
