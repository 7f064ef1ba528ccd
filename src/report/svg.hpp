// The pieces of SVG that a chart is written with. All coordinates are absolute, in pixels, to a
// hundredth.
#pragma once

#include "report/polyline.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace shoal::report {

enum class Anchor { start, middle, end };

struct TextLine {
  double x = 0;
  double y = 0;  // of the baseline
  std::string text = {};
  std::string superscript = {};
  double size = 12;
  Anchor anchor = Anchor::start;
  bool bold = false;
  bool upright = false;  // turned to read from bottom to top
};

// What tells one series from another.
struct Look {
  std::string_view colour;
  std::string_view dash;   // empty: solid
  std::size_t marker = 0;  // a shape, below 6
  double sideways = 0;     // pixels by which stems stand beside those of other series
};

// Forty-two series look different; then it begins again.
Look look_of(std::size_t series);

std::string number_text(double value);
std::string path_text(const Polyline& line, bool closed);
std::string marker_path(std::size_t shape, Pixel centre, double radius);

// Each appends one element and a line break.
void add_path(std::string& svg, std::string_view path, std::string_view attributes);
void add_line(std::string& svg, Pixel from, Pixel to, std::string_view stroke, double width);
void add_text(std::string& svg, const TextLine& line);

// A line in the colour and dashes of the series, and the fill of its band and markers.
void add_stroke(std::string& svg, std::string_view path, const Look& look);
void add_fill(std::string& svg, std::string_view path, const Look& look);
void add_band(std::string& svg, std::string_view path, const Look& look);

}  // namespace shoal::report
