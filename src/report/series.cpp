#include "report/series.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace shoal::report {
namespace {

constexpr double kMarker = 3;
constexpr double kSmallMarker = 2;
// More stems than this stand so close that their heads would cover each other.
constexpr std::size_t kMostHeads = 120;
// Things nearer than this to each other look like one.
constexpr double kCell = 0.25;

std::optional<Pixel> place(const Point& point, const Layout& layout) {
  const std::optional<double> x = coordinate(layout.x.scale, point.x);
  const std::optional<double> y = coordinate(layout.y.scale, point.y);
  if (!x || !y) return std::nullopt;
  return Pixel{layout.x.pixel(*x), layout.y.pixel(*y)};
}

void extend(Polyline& line, Pixel next, Style style) {
  if (style == Style::step && !line.empty()) line.push_back({next.x, line.back().y});
  line.push_back(next);
}

// The stretches between points that cannot be drawn.
std::vector<Polyline> runs(const Series& series, const Layout& layout) {
  std::vector<Polyline> found(1);
  for (const Point& point : series.points) {
    if (const std::optional<Pixel> at = place(point, layout)) {
      extend(found.back(), *at, series.style);
    } else if (!found.back().empty()) {
      found.emplace_back();
    }
  }
  return found;
}

bool extends(const Polyline& line) {
  return std::any_of(line.begin(), line.end(), [&](const Pixel& p) {
    return std::hypot(p.x - line[0].x, p.y - line[0].y) > kCell;
  });
}

void draw_lines(std::string& svg, const Series& series, const Layout& layout, const Look& look) {
  std::string path;
  std::string dots;
  for (const Polyline& run : runs(series, layout)) {
    // A point without neighbours would be a line without length, which shows nothing.
    if (!extends(run)) {
      if (!run.empty() && layout.plot.contains(run[0])) {
        dots += marker_path(look.marker, run[0], kSmallMarker);
      }
      continue;
    }
    for (const Polyline& part : clip_line(thin(run), layout.plot)) path += path_text(part, false);
  }
  add_stroke(svg, path, look);
  add_fill(svg, dots, look);
}

using Cell = std::pair<double, double>;

Cell cell_of(Pixel p) { return {std::floor(p.x / kCell), std::floor(p.y / kCell)}; }

void draw_markers(std::string& svg, const Series& series, const Layout& layout, const Look& look) {
  std::string path;
  std::set<Cell> taken;
  for (const Point& point : series.points) {
    const std::optional<Pixel> at = place(point, layout);
    if (!at || !layout.plot.contains(*at) || !taken.insert(cell_of(*at)).second) continue;
    path += marker_path(look.marker, *at, kMarker);
  }
  add_fill(svg, path, look);
}

// Where stems stand: zero, if the plot shows it, or its edge nearest to zero.
double stem_foot(const Layout& layout) {
  if (layout.y.scale == Scale::log10) return layout.plot.bottom;
  return std::clamp(layout.y.pixel(0), layout.plot.top, layout.plot.bottom);
}

void draw_stems(std::string& svg, const Series& series, const Layout& layout, const Look& look) {
  const Box& plot = layout.plot;
  const double foot = stem_foot(layout);
  // The highest and the lowest head at each place.
  std::map<double, std::pair<Pixel, Pixel>> stems;
  for (const Point& point : series.points) {
    const std::optional<Pixel> at = place(point, layout);
    if (!at || at->x < plot.left || at->x > plot.right) continue;
    const auto [stem, fresh] = stems.try_emplace(std::floor(at->x / kCell), *at, *at);
    if (at->y < stem->second.first.y) stem->second.first = *at;
    if (at->y > stem->second.second.y) stem->second.second = *at;
  }
  std::string path;
  std::string heads;
  for (const auto& [cell, ends] : stems) {
    const auto& [high, low] = ends;
    const double x = std::clamp(high.x + look.sideways, plot.left, plot.right);
    const double top = std::clamp(std::min(high.y, foot), plot.top, plot.bottom);
    const double bottom = std::clamp(std::max(low.y, foot), plot.top, plot.bottom);
    if (number_text(top) != number_text(bottom)) {
      path += path_text({{x, bottom}, {x, top}}, false);
    }
    if (stems.size() > kMostHeads) continue;
    if (plot.contains(high)) heads += marker_path(look.marker, {x, high.y}, kSmallMarker);
    if (low.y > high.y && plot.contains(low)) {
      heads += marker_path(look.marker, {x, low.y}, kSmallMarker);
    }
  }
  // Stems are many and short: a dash would look like data.
  Look solid = look;
  solid.dash = "";
  add_stroke(svg, path, solid);
  add_fill(svg, heads, look);
}

// A bound of a band; one without a place on the axis is past the edge on its side.
double bound_pixel(double bound, const Layout& layout) {
  const double height = layout.y.start - layout.y.end;
  if (const std::optional<double> at = coordinate(layout.y.scale, bound)) {
    return layout.y.pixel(*at);
  }
  const bool above = bound > 1;
  return above ? layout.plot.top - height : layout.plot.bottom + height;
}

void add_area(std::string& path, const Polyline& upper, const Polyline& lower, const Box& plot) {
  if (upper.size() < 2) return;
  Polyline area = thin(upper);
  const Polyline back = thin(lower);
  area.insert(area.end(), back.rbegin(), back.rend());
  path += path_text(clip_area(area, plot), true);
}

}  // namespace

void draw_band(std::string& svg, const Series& series, const Layout& layout, const Look& look) {
  std::string path;
  Polyline upper;
  Polyline lower;
  const auto finish = [&] {
    add_area(path, upper, lower, layout.plot);
    upper.clear();
    lower.clear();
  };
  for (const BandPoint& point : series.band) {
    const std::optional<double> x = coordinate(layout.x.scale, point.x);
    if (!x || std::isnan(point.lower) || std::isnan(point.upper)) {
      finish();
      continue;
    }
    extend(upper, {layout.x.pixel(*x), bound_pixel(point.upper, layout)}, series.style);
    extend(lower, {layout.x.pixel(*x), bound_pixel(point.lower, layout)}, series.style);
  }
  finish();
  add_band(svg, path, look);
}

void draw_points(std::string& svg, const Series& series, const Layout& layout, const Look& look) {
  switch (series.style) {
    case Style::line:
    case Style::step:
      draw_lines(svg, series, layout, look);
      break;
    case Style::points:
      draw_markers(svg, series, layout, look);
      break;
    case Style::stems:
      draw_stems(svg, series, layout, look);
      break;
  }
}

void draw_sample(std::string& svg, const Series& series, Pixel left, const Look& look) {
  const Pixel right{left.x + kLegendSample, left.y};
  const Pixel middle{left.x + kLegendSample / 2, left.y};
  if (!series.band.empty()) {
    add_band(svg,
             path_text({{left.x, left.y - 6},
                        {right.x, left.y - 6},
                        {right.x, left.y + 6},
                        {left.x, left.y + 6}},
                       true),
             look);
  }
  switch (series.style) {
    case Style::line:
    case Style::step:
      add_stroke(svg, path_text({left, right}, false), look);
      break;
    case Style::points:
      add_fill(svg, marker_path(look.marker, middle, kMarker), look);
      break;
    case Style::stems: {
      Look solid = look;
      solid.dash = "";
      add_stroke(svg, path_text({{middle.x, left.y + 6}, {middle.x, left.y - 4}}, false), solid);
      add_fill(svg, marker_path(look.marker, {middle.x, left.y - 4}, kSmallMarker), look);
      break;
    }
  }
}

}  // namespace shoal::report
