// What the tests of charts share: a chart whose places are known, and the text of a refusal.
#pragma once

#include <shoal/base/error.hpp>
#include <shoal/report/chart.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

namespace shoal::test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

inline std::string refusal(const report::Chart& chart, report::Size size = {}) {
  try {
    report::to_svg(chart, size);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "not refused";
}

// Axes from 0 to 10, so that places are known.
inline report::Chart square(report::Series series) {
  report::Chart chart;
  chart.x.range = chart.y.range = report::Range{0, 10};
  chart.series = {std::move(series)};
  return chart;
}

}  // namespace shoal::test
