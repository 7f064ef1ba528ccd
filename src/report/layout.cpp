#include "report/layout.hpp"

#include "report/text.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::report {
namespace {

constexpr double kMargin = 12;
constexpr double kRightMargin = 24;  // half of a label of the last tick
constexpr double kGap = 8;
constexpr double kTickLength = 4;
constexpr double kTitleSize = 15;
constexpr double kLabelSize = 13;
constexpr double kTickSize = 11;
constexpr double kLegendSize = 12;
constexpr double kNoteSize = 11;
constexpr double kTickRow = 22;
constexpr double kLegendRow = 18;
constexpr double kRightLegendShare = 0.3;
constexpr Pixel kLeastPlot = {80, 60};

double row_of(double font_size) { return std::ceil(font_size * 1.35); }

double width_of(const Label& label) {
  return text_width(label.text, kTickSize) + text_width(label.superscript, kTickSize * 0.75);
}

// Puts lines under each other from `top` on, and gives the end of the last.
double stack(std::vector<TextLine>& texts, const std::vector<std::string>& lines, double top,
             TextLine pattern) {
  for (const std::string& line : lines) {
    top += row_of(pattern.size);
    pattern.text = line;
    pattern.y = top - pattern.size * 0.35;
    texts.push_back(pattern);
  }
  return top;
}

double height_of(const std::vector<std::string>& lines, double font_size) {
  return static_cast<double>(lines.size()) * row_of(font_size);
}

struct Named {
  std::size_t series;
  std::string name;
  double width;
};

std::vector<Named> named_series(const Chart& chart, double widest) {
  std::vector<Named> named;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (chart.series[i].name.empty()) continue;
    std::string name = shorten(chart.series[i].name, widest, kLegendSize);
    const double width = text_width(name, kLegendSize);
    named.push_back({i, std::move(name), width});
  }
  return named;
}

void add_entry(Layout& layout, const Named& entry, Pixel corner) {
  const double middle = corner.y + kLegendRow / 2;
  layout.legend.push_back({entry.series, {corner.x, middle}});
  layout.texts.push_back({.x = corner.x + kLegendSample + kGap,
                          .y = middle + kLegendSize * 0.35,
                          .text = entry.name,
                          .size = kLegendSize});
}

// Entries in rows from the left, as many in a row as fit. Gives the height; without a layout it
// only measures.
double flow_legend(Layout* layout, const std::vector<Named>& entries, double left, double right,
                   double top) {
  double x = left;
  double y = top;
  for (const Named& entry : entries) {
    const double width = kLegendSample + kGap + entry.width;
    if (x > left && x + width > right) {
      x = left;
      y += kLegendRow;
    }
    if (layout != nullptr) add_entry(*layout, entry, {x, y});
    x += width + 2 * kGap;
  }
  return entries.empty() ? 0 : y + kLegendRow + kGap - top;
}

Ticks ticks_for(Scale scale, Span span, int most) {
  return scale == Scale::linear ? linear_ticks(span, most) : log_ticks(span, most);
}

bool crowded(const Ticks& ticks, const AxisScale& axis) {
  for (std::size_t i = 1; i < ticks.major.size(); ++i) {
    const Tick& a = ticks.major[i - 1];
    const Tick& b = ticks.major[i];
    const double needed = (width_of(a.label) + width_of(b.label)) / 2 + kGap;
    if (axis.pixel(b.at) - axis.pixel(a.at) < needed) return true;
  }
  return false;
}

void place_x_ticks(Layout& layout, double picture_width) {
  int most = std::clamp(static_cast<int>((layout.plot.right - layout.plot.left) / 70), 2, 12);
  layout.x_ticks = ticks_for(layout.x.scale, layout.x.span, most);
  while (most > 2 && crowded(layout.x_ticks, layout.x)) {
    layout.x_ticks = ticks_for(layout.x.scale, layout.x.span, --most);
  }
  double free_from = 0;
  for (const Tick& tick : layout.x_ticks.major) {
    const double half = width_of(tick.label) / 2;
    const double centre = std::clamp(layout.x.pixel(tick.at), half + 2, picture_width - half - 2);
    // A picture too small even for two labels shows those that fit.
    if (centre - half < free_from) continue;
    free_from = centre + half + kGap / 2;
    layout.texts.push_back({.x = centre,
                            .y = layout.plot.bottom + kTickLength + 4 + kTickSize,
                            .text = tick.label.text,
                            .superscript = tick.label.superscript,
                            .size = kTickSize,
                            .anchor = Anchor::middle});
  }
}

void place_y_ticks(Layout& layout) {
  for (const Tick& tick : layout.y_ticks.major) {
    layout.texts.push_back({.x = layout.plot.left - kTickLength - 4,
                            .y = layout.y.pixel(tick.at) + kTickSize * 0.35,
                            .text = tick.label.text,
                            .superscript = tick.label.superscript,
                            .size = kTickSize,
                            .anchor = Anchor::end});
  }
}

// Gives the right edge of the labels.
double place_y_label(Layout& layout, const std::string& label) {
  const double height = layout.plot.bottom - layout.plot.top;
  double x = kMargin;
  for (const std::string& line : wrap(label, height, kLabelSize)) {
    x += row_of(kLabelSize);
    layout.texts.push_back({.x = x - kLabelSize * 0.35,
                            .y = (layout.plot.top + layout.plot.bottom) / 2,
                            .text = line,
                            .size = kLabelSize,
                            .anchor = Anchor::middle,
                            .upright = true});
  }
  return x;
}

void check_room(const Box& plot, Size size) {
  if (plot.right - plot.left >= kLeastPlot.x && plot.bottom - plot.top >= kLeastPlot.y) return;
  throw Error{
      ErrorCode::invalid_argument,
      fmt::format("a chart of {} x {} leaves {:.0f} x {:.0f} pixels for the data, less than "
                  "{} x {}; make it larger, or its texts and legend shorter",
                  size.width, size.height, std::max(0.0, plot.right - plot.left),
                  std::max(0.0, plot.bottom - plot.top), kLeastPlot.x, kLeastPlot.y)};
}

}  // namespace

Layout lay_out(const Chart& chart, Size size, Span x, Span y) {
  Layout layout;
  const double width = size.width;
  const double inner = width - 2 * kMargin;
  const std::vector<std::string> x_label = wrap(chart.x.label, inner * 0.75, kLabelSize);
  std::vector<std::string> notes;
  for (const std::string& note : chart.notes) {
    for (std::string& line : wrap(note, inner, kNoteSize)) notes.push_back(std::move(line));
  }

  Box& plot = layout.plot;
  const TextLine title{.x = width / 2, .size = kTitleSize, .anchor = Anchor::middle, .bold = true};
  plot.top =
      kGap + stack(layout.texts, wrap(chart.title, inner, kTitleSize), kMargin - kGap, title);
  plot.bottom = size.height - kMargin - height_of(notes, kNoteSize) -
                height_of(x_label, kLabelSize) - kTickRow;

  const double widest_name = inner - kLegendSample - kGap;
  const std::vector<Named> names = named_series(chart, widest_name);
  double longest = 0;
  for (const Named& entry : names) longest = std::max(longest, entry.width);
  const double legend_width = kLegendSample + kGap + longest;
  const bool beside = !names.empty() && legend_width <= kRightLegendShare * width &&
                      static_cast<double>(names.size()) * kLegendRow <= plot.bottom - plot.top;
  const double below = beside ? 0 : flow_legend(nullptr, names, kMargin, width - kMargin, 0);
  plot.bottom -= below;
  plot.right = beside ? width - kMargin - legend_width - 2 * kGap : width - kRightMargin;
  check_room({0, plot.top, plot.right, plot.bottom}, size);

  // Powers of ten are counted, not read off between the ticks, so that they may stand closer.
  const double distance = chart.y.scale == Scale::linear ? 45 : 32;
  const int most = std::clamp(static_cast<int>((plot.bottom - plot.top) / distance), 3, 12);
  layout.y_ticks = ticks_for(chart.y.scale, y, most);
  double widest_tick = 0;
  for (const Tick& tick : layout.y_ticks.major) {
    widest_tick = std::max(widest_tick, width_of(tick.label));
  }
  plot.left = place_y_label(layout, chart.y.label) + widest_tick + kTickLength + kGap + 4;
  check_room(plot, size);
  layout.x = {chart.x.scale, x, plot.left, plot.right};
  layout.y = {chart.y.scale, y, plot.bottom, plot.top};
  place_x_ticks(layout, width);
  place_y_ticks(layout);

  double label_width = 0;
  for (const std::string& line : x_label) {
    label_width = std::max(label_width, text_width(line, kLabelSize));
  }
  const double centre = std::clamp((plot.left + plot.right) / 2, kMargin + label_width / 2,
                                   width - kMargin - label_width / 2);
  double down = stack(layout.texts, x_label, plot.bottom + kTickRow,
                      {.x = centre, .size = kLabelSize, .anchor = Anchor::middle});
  if (beside) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      add_entry(layout, names[i],
                {plot.right + 2 * kGap, plot.top + static_cast<double>(i) * kLegendRow});
    }
  } else {
    flow_legend(&layout, names, kMargin, width - kMargin, down + kGap / 2);
  }
  stack(layout.texts, notes, down + below + kGap / 2, {.x = kMargin, .size = kNoteSize});
  return layout;
}

}  // namespace shoal::report
