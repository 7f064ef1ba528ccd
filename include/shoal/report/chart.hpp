// Charts as SVG text, fit for a paper: curves, steps, points and probability functions with bands.
//
// A chart is data. `to_svg` is a pure function of it: the same chart gives the same bytes, in every
// locale. The text is well-formed XML without scripts, references or identifiers, so that several
// charts can stand in one page. Colours are safe for colour-blind readers, and dashes and markers
// tell the series apart in grey.
//
// It shows what it is given and knows nothing of privacy: only released values belong in a chart.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace shoal::report {

enum class Scale { linear, log10 };

struct Range {
  double low = 0;
  double high = 1;
};

// Without a range, the axis spans the data and a little more. With one, what lies outside is cut
// off.
struct Axis {
  std::string label = {};
  Scale scale = Scale::linear;
  std::optional<Range> range = {};
};

enum class Style {
  line,    // straight from point to point
  step,    // each value holds until the next x; x must not decrease
  points,  // markers alone
  stems,   // an upright from zero (from the bottom, on a log axis) to each point: for pmfs
};

// A point that is not finite, is above 1e300 in magnitude, or on a log axis is below 1e-300, cannot
// be drawn and interrupts the line.
struct Point {
  double x = 0;
  double y = 0;
};

// lower <= upper; an infinite bound, or one that is not positive on a log axis, reaches past the
// edge of the chart. NaN interrupts the band.
struct BandPoint {
  double x = 0;
  double lower = 0;
  double upper = 0;
};

struct Series {
  std::string name = {};  // in the legend; empty: not there
  std::vector<Point> points = {};
  Style style = Style::line;
  std::vector<BandPoint> band = {};  // x must not decrease
};

// Texts are UTF-8; line breaks count as spaces, and long texts are wrapped.
struct Chart {
  std::string title = {};
  Axis x = {};
  Axis y = {};
  std::vector<Series> series = {};
  std::vector<std::string> notes = {};  // lines under the chart, such as the privacy statement
};

struct Size {
  int width = 720;
  int height = 440;
};

// Throws invalid_argument for a range or band that is upside down, for a log axis whose data are
// all non-positive, for x that must not decrease and does, for text that XML cannot carry, and for
// a size that leaves no room for the data. A chart without data has axes and says so.
std::string to_svg(const Chart& chart, Size size = {});

}  // namespace shoal::report
