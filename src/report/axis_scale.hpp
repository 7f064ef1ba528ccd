// From values to pixels along one axis.
#pragma once

#include "report/ticks.hpp"

#include <shoal/report/chart.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace shoal::report {

// The place of a value on its axis (see ticks.hpp), if it has one: see Point for those that do not.
std::optional<double> coordinate(Scale scale, double value);

// Checks the range an axis asks for and gives its span, if it asks for one. `name` is for messages.
std::optional<Span> chosen_span(const Axis& axis, std::string_view name);

// The span of the coordinates and `padding` of it more on both sides, but not across zero on a
// linear axis. Data without extent get a span around them.
Span data_span(Scale scale, std::span<const double> coordinates, double padding);

struct AxisScale {
  Scale scale = Scale::linear;
  Span span;
  double start = 0;  // the pixel of span.low
  double end = 1;    // the pixel of span.high

  // Far outside the span the pixel stays within a billion lengths of the axis: near enough to where
  // the value is that no line inside the chart moves, and always finite.
  double pixel(double coordinate) const;
};

}  // namespace shoal::report
