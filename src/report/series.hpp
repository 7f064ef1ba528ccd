// One series of a chart, drawn into its plot.
#pragma once

#include "report/layout.hpp"
#include "report/svg.hpp"

#include <shoal/report/chart.hpp>

#include <string>

namespace shoal::report {

void draw_band(std::string& svg, const Series& series, const Layout& layout, const Look& look);
void draw_points(std::string& svg, const Series& series, const Layout& layout, const Look& look);

// What the legend shows of it.
void draw_sample(std::string& svg, const Series& series, Pixel left, const Look& look);

}  // namespace shoal::report
