#include "report/svg.hpp"

#include "report/text.hpp"

#include <fmt/format.h>

#include <array>

namespace shoal::report {
namespace {

// Okabe and Ito, without the yellow, which does not show on white.
constexpr std::array<std::string_view, 7> kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                      "#E69F00", "#56B4E9", "#000000"};
// Seven colours and six dashes have no common factor, so that the pairs repeat late.
constexpr std::array<std::string_view, 6> kDashes = {"",        "7 3",  "2 2.5",
                                                     "8 3 2 3", "13 4", "8 3 2 3 2 3"};
constexpr std::size_t kShapes = 6;
constexpr double kSuperscript = 0.75;

std::string_view anchor_name(Anchor anchor) {
  switch (anchor) {
    case Anchor::start:
      return "start";
    case Anchor::middle:
      return "middle";
    case Anchor::end:
      return "end";
  }
  return "start";
}

}  // namespace

Look look_of(std::size_t series) {
  return {kColours[series % kColours.size()], kDashes[series % kDashes.size()], series % kShapes};
}

std::string number_text(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string path_text(const Polyline& line, bool closed) {
  std::string path;
  std::string previous;
  for (const Pixel& p : line) {
    std::string place = number_text(p.x) + " " + number_text(p.y);
    if (place == previous) continue;
    path += (path.empty() ? "M" : "L") + place;
    previous = std::move(place);
  }
  if (closed && !path.empty()) path += "Z";
  return path;
}

std::string marker_path(std::size_t shape, Pixel centre, double radius) {
  const auto [x, y] = centre;
  const double r = radius;
  switch (shape) {
    case 0:
      return fmt::format("M{0} {2}A{3} {3} 0 1 0 {1} {2}A{3} {3} 0 1 0 {0} {2}Z",
                         number_text(x - r), number_text(x + r), number_text(y), number_text(r));
    case 1:
      return path_text({{x - r, y - r}, {x + r, y - r}, {x + r, y + r}, {x - r, y + r}}, true);
    case 2:
      return path_text({{x, y - r}, {x + r, y + r}, {x - r, y + r}}, true);
    case 3:
      return path_text({{x, y - r}, {x + r, y}, {x, y + r}, {x - r, y}}, true);
    case 4:
      return path_text({{x - r, y - r}, {x + r, y + r}}, false) +
             path_text({{x - r, y + r}, {x + r, y - r}}, false);
    default:
      return path_text({{x - r, y}, {x + r, y}}, false) +
             path_text({{x, y - r}, {x, y + r}}, false);
  }
}

void add_path(std::string& svg, std::string_view path, std::string_view attributes) {
  if (!path.empty()) svg += fmt::format("<path d=\"{}\" {}/>\n", path, attributes);
}

void add_line(std::string& svg, Pixel from, Pixel to, std::string_view stroke, double width) {
  svg += fmt::format(
      "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
      number_text(from.x), number_text(from.y), number_text(to.x), number_text(to.y), stroke,
      number_text(width));
}

void add_text(std::string& svg, const TextLine& line) {
  const std::string x = number_text(line.x);
  const std::string y = number_text(line.y);
  svg += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\"", x, y,
                     number_text(line.size), anchor_name(line.anchor));
  if (line.bold) svg += " font-weight=\"bold\"";
  if (line.upright) svg += fmt::format(" transform=\"rotate(-90 {} {})\"", x, y);
  svg += ">" + escape(line.text);
  if (!line.superscript.empty()) {
    svg +=
        fmt::format("<tspan dy=\"{}\" font-size=\"{}\">{}</tspan>", number_text(-line.size * 0.4),
                    number_text(line.size * kSuperscript), escape(line.superscript));
  }
  svg += "</text>\n";
}

void add_stroke(std::string& svg, std::string_view path, const Look& look) {
  std::string attributes = fmt::format(
      "fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-linejoin=\"round\"", look.colour);
  if (!look.dash.empty()) attributes += fmt::format(" stroke-dasharray=\"{}\"", look.dash);
  add_path(svg, path, attributes);
}

void add_fill(std::string& svg, std::string_view path, const Look& look) {
  add_path(svg, path, fmt::format("fill=\"{0}\" stroke=\"{0}\" stroke-width=\"1.2\"", look.colour));
}

void add_band(std::string& svg, std::string_view path, const Look& look) {
  add_path(svg, path, fmt::format("fill=\"{}\" fill-opacity=\"0.2\"", look.colour));
}

}  // namespace shoal::report
