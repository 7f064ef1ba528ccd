#include "report/axis_scale.hpp"
#include "report/layout.hpp"
#include "report/series.hpp"
#include "report/svg.hpp"
#include "report/text.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/report/chart.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::report {
namespace {

constexpr int kLeastSide = 160;
constexpr int kMostSide = 20000;
constexpr double kPaddingX = 0.02;
constexpr double kPaddingY = 0.05;
constexpr double kStemDistance = 4;
constexpr std::string_view kGrid = "#E2E2E2";
constexpr std::string_view kFineGrid = "#F2F2F2";
constexpr std::string_view kZeroLine = "#A0A0A0";
constexpr std::string_view kAxis = "#333333";

void check_size(Size size) {
  for (const int side : {size.width, size.height}) {
    if (side >= kLeastSide && side <= kMostSide) continue;
    throw Error{ErrorCode::invalid_argument,
                fmt::format("a side of the chart is {} pixels; it must be from {} to {}", side,
                            kLeastSide, kMostSide)};
  }
}

// In words for messages: the name, or the place among the series.
std::string called(const Series& series, std::size_t index) {
  return series.name.empty() ? fmt::format("number {}", index + 1)
                             : fmt::format("'{}'", printable(series.name, 60));
}

template <typename Points>
void check_order(const Points& points, const std::string& who, std::string_view what) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (!(points[i].x < points[i - 1].x)) continue;
    throw Error{ErrorCode::invalid_argument,
                fmt::format("the {} of series {} go from x = {} back to {}; sort them by x", what,
                            who, format_number(points[i - 1].x), format_number(points[i].x))};
  }
}

void check_series(const Series& series, std::size_t index) {
  const std::string who = called(series, index);
  if (series.style == Style::step) check_order(series.points, who, "steps");
  check_order(series.band, who, "band points");
  for (const BandPoint& point : series.band) {
    if (!(point.lower > point.upper)) continue;
    throw Error{ErrorCode::invalid_argument,
                fmt::format("the band of series {} has its lower bound {} above its upper bound {} "
                            "at x = {}; swap them",
                            who, format_number(point.lower), format_number(point.upper),
                            format_number(point.x))};
  }
}

Chart cleaned(Chart chart) {
  chart.title = clean_text(chart.title, "title");
  chart.x.label = clean_text(chart.x.label, "label of the x axis");
  chart.y.label = clean_text(chart.y.label, "label of the y axis");
  for (Series& series : chart.series) series.name = clean_text(series.name, "name of a series");
  for (std::string& note : chart.notes) note = clean_text(note, "note");
  return chart;
}

// A log axis that could show none of its data is a mistake, not an empty chart.
class Positives {
 public:
  void see(double value) {
    if (!std::isfinite(value)) return;
    any_ = true;
    greatest_ = std::max(greatest_, value);
  }
  void check(const Axis& axis, std::string_view name) const {
    if (axis.scale != Scale::log10 || !any_ || greatest_ > 0) return;
    throw Error{ErrorCode::invalid_argument,
                fmt::format("the {} axis is logarithmic, but its largest value is {}; give it "
                            "positive values, or a linear scale",
                            name, format_number(greatest_))};
  }

 private:
  bool any_ = false;
  double greatest_ = -HUGE_VAL;
};

void check_positive(const Chart& chart) {
  Positives x;
  Positives y;
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      x.see(point.x);
      y.see(point.y);
    }
    for (const BandPoint& point : series.band) {
      x.see(point.x);
      y.see(point.upper);
    }
  }
  x.check(chart.x, "x");
  y.check(chart.y, "y");
}

struct Drawn {
  double x;
  double y;
};

// The coordinates of everything that has a place on both axes.
std::vector<Drawn> drawn(const Chart& chart) {
  std::vector<Drawn> all;
  const auto add = [&](double x, double y) {
    const std::optional<double> at_x = coordinate(chart.x.scale, x);
    const std::optional<double> at_y = coordinate(chart.y.scale, y);
    if (at_x && at_y) all.push_back({*at_x, *at_y});
  };
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      add(point.x, point.y);
      if (series.style == Style::stems && chart.y.scale == Scale::linear) add(point.x, 0);
    }
    for (const BandPoint& point : series.band) {
      add(point.x, point.lower);
      add(point.x, point.upper);
    }
  }
  return all;
}

struct Spans {
  Span x;
  Span y;
  bool empty = false;  // nothing has a place on both axes
};

// The y axis spans what the x axis shows.
Spans spans_of(const Chart& chart) {
  const std::optional<Span> chosen_x = chosen_span(chart.x, "x");
  const std::optional<Span> chosen_y = chosen_span(chart.y, "y");
  const std::vector<Drawn> all = drawn(chart);
  std::vector<double> xs;
  std::vector<double> ys;
  for (const Drawn& point : all) {
    xs.push_back(point.x);
    if (!chosen_x || (point.x >= chosen_x->low && point.x <= chosen_x->high)) {
      ys.push_back(point.y);
    }
  }
  if (ys.empty()) {
    for (const Drawn& point : all) ys.push_back(point.y);
  }
  return {chosen_x ? *chosen_x : data_span(chart.x.scale, xs, kPaddingX),
          chosen_y ? *chosen_y : data_span(chart.y.scale, ys, kPaddingY), all.empty()};
}

std::vector<Look> looks_of(const Chart& chart) {
  std::vector<Look> looks;
  double stems = 0;
  for (const Series& series : chart.series) {
    looks.push_back(look_of(looks.size()));
    if (series.style == Style::stems) looks.back().sideways = kStemDistance * stems++;
  }
  for (std::size_t i = 0; i < looks.size(); ++i) {
    if (chart.series[i].style == Style::stems) {
      looks[i].sideways -= kStemDistance * (stems - 1) / 2;
    }
  }
  return looks;
}

void draw_grid(std::string& svg, const Layout& layout) {
  const Box& plot = layout.plot;
  const auto across = [&](double at, std::string_view colour) {
    const double y = layout.y.pixel(at);
    add_line(svg, {plot.left, y}, {plot.right, y}, colour, 1);
  };
  const auto along = [&](double at, std::string_view colour) {
    const double x = layout.x.pixel(at);
    add_line(svg, {x, plot.top}, {x, plot.bottom}, colour, 1);
  };
  for (const double at : layout.x_ticks.minor) along(at, kFineGrid);
  for (const double at : layout.y_ticks.minor) across(at, kFineGrid);
  for (const Tick& tick : layout.x_ticks.major) along(tick.at, kGrid);
  for (const Tick& tick : layout.y_ticks.major) across(tick.at, kGrid);
  const Span& y = layout.y.span;
  if (layout.y.scale == Scale::linear && y.low < 0 && y.high > 0) across(0, kZeroLine);
}

void draw_axes(std::string& svg, const Layout& layout) {
  const Box& plot = layout.plot;
  add_line(svg, {plot.left, plot.bottom}, {plot.right, plot.bottom}, kAxis, 1.2);
  add_line(svg, {plot.left, plot.top}, {plot.left, plot.bottom}, kAxis, 1.2);
  for (const Tick& tick : layout.x_ticks.major) {
    const double x = layout.x.pixel(tick.at);
    add_line(svg, {x, plot.bottom}, {x, plot.bottom + 4}, kAxis, 1);
  }
  for (const Tick& tick : layout.y_ticks.major) {
    const double y = layout.y.pixel(tick.at);
    add_line(svg, {plot.left - 4, y}, {plot.left, y}, kAxis, 1);
  }
}

std::string opening(const Chart& chart, Size size) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" role=\"img\" font-family=\"sans-serif\" fill=\"#222222\">\n",
      size.width, size.height);
  if (!chart.title.empty()) svg += "<title>" + escape(chart.title) + "</title>\n";
  svg += fmt::format("<rect x=\"0\" y=\"0\" width=\"{}\" height=\"{}\" fill=\"#FFFFFF\"/>\n",
                     size.width, size.height);
  return svg;
}

}  // namespace

std::string to_svg(const Chart& given, Size size) {
  check_size(size);
  const Chart chart = cleaned(given);
  for (std::size_t i = 0; i < chart.series.size(); ++i) check_series(chart.series[i], i);
  check_positive(chart);
  const Spans spans = spans_of(chart);
  const Layout layout = lay_out(chart, size, spans.x, spans.y);
  const std::vector<Look> looks = looks_of(chart);

  std::string svg = opening(chart, size);
  draw_grid(svg, layout);
  for (std::size_t i = 0; i < looks.size(); ++i) {
    draw_band(svg, chart.series[i], layout, looks[i]);
  }
  draw_axes(svg, layout);
  for (std::size_t i = 0; i < looks.size(); ++i) {
    draw_points(svg, chart.series[i], layout, looks[i]);
  }
  for (const LegendEntry& entry : layout.legend) {
    draw_sample(svg, chart.series[entry.series], entry.sample, looks[entry.series]);
  }
  for (const TextLine& line : layout.texts) add_text(svg, line);
  if (spans.empty) {
    add_text(svg, {.x = (layout.plot.left + layout.plot.right) / 2,
                   .y = (layout.plot.top + layout.plot.bottom) / 2,
                   .text = "no data",
                   .anchor = Anchor::middle});
  }
  return svg + "</svg>\n";
}

}  // namespace shoal::report
