// Where everything in a chart goes: the plot in the middle, the title above, axis labels around it,
// the legend to its right or below it, the notes last. Nothing covers the data, and no text leaves
// the picture.
#pragma once

#include "report/axis_scale.hpp"
#include "report/svg.hpp"

#include <shoal/report/chart.hpp>

#include <vector>

namespace shoal::report {

struct LegendEntry {
  std::size_t series = 0;
  Pixel sample;  // the left end of its sample of the line
};

constexpr double kLegendSample = 30;  // length of the sample

struct Layout {
  Box plot;
  AxisScale x;
  AxisScale y;
  Ticks x_ticks;
  Ticks y_ticks;
  std::vector<LegendEntry> legend;
  std::vector<TextLine> texts;  // all of them: title, labels, legend, notes
};

// The texts of the chart must be clean (see text.hpp). Throws invalid_argument if the size leaves
// no room for the data.
Layout lay_out(const Chart& chart, Size size, Span x, Span y);

}  // namespace shoal::report
