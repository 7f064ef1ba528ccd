#include "report/axis_scale.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::report {
namespace {

constexpr double kLargest = 1e300;
constexpr double kSmallest = 1e-300;
// Narrower spans would need labels of more than ten digits; narrower decades more than eight.
constexpr double kNarrowest = 1e-9;
constexpr double kNarrowestDecades = 1e-8;
constexpr double kFar = 1e9;

double larger_end(double low, double high) { return std::max(std::fabs(low), std::fabs(high)); }

bool too_narrow(double low, double high) {
  return high - low < std::max(kNarrowest * larger_end(low, high), kSmallest);
}

[[noreturn]] void refuse(const Range& range, std::string_view name, std::string_view remedy) {
  throw Error{ErrorCode::invalid_argument,
              fmt::format("the range of the {} axis is {} to {}; {}", name,
                          format_number(range.low), format_number(range.high), remedy)};
}

Span around(double value) {
  const double size = std::fabs(value);
  if (size < kSmallest / kNarrowest) return {-1, 1};
  return {value - size / 10, value + size / 10};
}

}  // namespace

std::optional<double> coordinate(Scale scale, double value) {
  if (!(std::fabs(value) <= kLargest)) return std::nullopt;
  if (scale == Scale::linear) return value;
  if (value < kSmallest) return std::nullopt;
  return std::log10(value);
}

std::optional<Span> chosen_span(const Axis& axis, std::string_view name) {
  if (!axis.range) return std::nullopt;
  const Range& range = *axis.range;
  if (!(larger_end(range.low, range.high) <= kLargest)) {
    refuse(range, name, "both ends must be finite, and at most 1e300 in magnitude");
  }
  if (!(range.low < range.high)) refuse(range, name, "the low end must be below the high end");
  if (axis.scale == Scale::log10 && range.low < kSmallest) {
    refuse(range, name, "a log axis must begin at 1e-300 or above");
  }
  const Span span{*coordinate(axis.scale, range.low), *coordinate(axis.scale, range.high)};
  const bool narrow = axis.scale == Scale::linear ? too_narrow(span.low, span.high)
                                                  : span.high - span.low < kNarrowestDecades;
  if (narrow) refuse(range, name, "that is too narrow for labels; widen it");
  return span;
}

Span data_span(Scale scale, std::span<const double> coordinates, double padding) {
  if (coordinates.empty()) return {0, 1};
  const auto [least, greatest] = std::minmax_element(coordinates.begin(), coordinates.end());
  const double low = *least;
  const double high = *greatest;
  const double pad = padding * (high - low);
  if (scale == Scale::log10) {
    if (high - low < kNarrowestDecades) return {low - 0.5, high + 0.5};
    return {low - pad, high + pad};
  }
  if (too_narrow(low, high)) return around(larger_end(low, high) == high ? high : low);
  return {low >= 0 ? std::max(0.0, low - pad) : low - pad,
          high <= 0 ? std::min(0.0, high + pad) : high + pad};
}

double AxisScale::pixel(double at) const {
  const double fraction = std::clamp((at - span.low) / (span.high - span.low), -kFar, kFar);
  return start + fraction * (end - start);
}

}  // namespace shoal::report
