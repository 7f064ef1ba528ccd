// What a chart refuses, and in which words.
#include "unit/report/chart_fixture.hpp"

#include <shoal/report/chart.hpp>

#include <gtest/gtest.h>

#include <string>

namespace shoal::report {
namespace {

using test::kInfinity;
using test::kNotANumber;
using test::refusal;
using test::square;

TEST(ChartRefusal, ALogAxisWithoutPositiveData) {
  Chart chart;
  chart.y.scale = Scale::log10;
  chart.series = {{.points = {{1, 0}, {2, -3.5}}}};
  EXPECT_EQ(refusal(chart),
            "the y axis is logarithmic, but its largest value is 0; give it positive values, or a "
            "linear scale");
  chart.series.push_back({.points = {{1, 1e-9}}});
  EXPECT_EQ(refusal(chart), "not refused");
  std::swap(chart.x.scale, chart.y.scale);
  chart.series = {{.points = {{-1, 1}}}};
  EXPECT_NE(refusal(chart).find("the x axis is logarithmic"), std::string::npos);
}

TEST(ChartRefusal, WhatCannotBeMeant) {
  Chart chart = square({.name = "s", .points = {{2, 0}, {1, 0}}, .style = Style::step});
  EXPECT_EQ(refusal(chart), "the steps of series 's' go from x = 2 back to 1; sort them by x");
  chart = square({.band = {{2, 0, 1}, {1, 0, 1}}});
  EXPECT_EQ(refusal(chart),
            "the band points of series number 1 go from x = 2 back to 1; sort them by x");
  chart = square({.band = {{2, 3, 1}}});
  EXPECT_EQ(refusal(chart),
            "the band of series number 1 has its lower bound 3 above its upper bound 1 at x = 2; "
            "swap them");
  for (const Range& range :
       {Range{1, 1}, Range{2, 1}, Range{0, kInfinity}, Range{kNotANumber, 1}, Range{1, kNotANumber},
        Range{1, 1 + 1e-12}, Range{0, 1e-301}, Range{-1e301, 0}}) {
    chart = square({});
    chart.y.range = range;
    EXPECT_TRUE(refusal(chart).starts_with("the range of the y axis is ")) << range.high;
  }
  chart = square({});
  chart.x.scale = Scale::log10;
  EXPECT_EQ(refusal(chart),
            "the range of the x axis is 0 to 10; a log axis must begin at 1e-300 or above");
}

TEST(ChartRefusal, ASizeWithoutRoom) {
  EXPECT_EQ(refusal({}, {100, 400}),
            "a side of the chart is 100 pixels; it must be from 160 to 20000");
  EXPECT_EQ(refusal({}, {400, 20001}),
            "a side of the chart is 20001 pixels; it must be from 160 to 20000");
  Chart chart;
  chart.notes.assign(30, "note");
  EXPECT_NE(refusal(chart).find("make it larger, or its texts and legend shorter"),
            std::string::npos);
  EXPECT_EQ(refusal({}, {160, 160}), "not refused");
}

}  // namespace
}  // namespace shoal::report
