// Charts, read back from their SVG: well-formed, inside the picture, and where the data say.
#include "report/svg.hpp"
#include "unit/report/chart_fixture.hpp"
#include "unit/report/svg_reader.hpp"

#include <shoal/base/error.hpp>
#include <shoal/report/chart.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <locale>
#include <set>

namespace shoal::report {
namespace {

using test::Element;
using test::first_overlap;
using test::kInfinity;
using test::kNotANumber;
using test::refusal;
using test::square;
using test::SvgReader;

constexpr double kHundredth = 0.011;  // coordinates are rounded to it
constexpr std::string_view kAxisColour = "#333333";

// The plot, from its two axis lines.
Box plot_of(const SvgReader& svg) {
  Box box;
  for (const Element& line : svg.named("line")) {
    if (line.get("stroke") != kAxisColour || line.get("stroke-width") != "1.2") continue;
    if (line.get("y1") == line.get("y2")) {
      box.left = line.number("x1");
      box.right = line.number("x2");
    } else {
      box.top = line.number("y1");
      box.bottom = line.number("y2");
    }
  }
  return box;
}

std::vector<Element> coloured(const SvgReader& svg, std::string_view attribute,
                              std::size_t series) {
  std::vector<Element> found;
  for (const Element& path : svg.named("path")) {
    if (path.get(std::string(attribute)) == look_of(series).colour) found.push_back(path);
  }
  return found;
}

std::vector<Polyline> lines_of(const SvgReader& svg, std::size_t series) {
  for (const Element& path : coloured(svg, "stroke", series)) {
    if (path.get("fill") == "none") return test::path_lines(path.get("d"));
  }
  return {};
}

void expect_at(Pixel p, double x, double y) {
  EXPECT_NEAR(p.x, x, kHundredth);
  EXPECT_NEAR(p.y, y, kHundredth);
}

// Everything is inside the picture, and what shows data, but for the size of a marker, in the plot.
std::string first_stray(const std::string& text) {
  const SvgReader svg(text);
  const double width = svg.elements().at(0).number("width");
  const double height = svg.elements().at(0).number("height");
  const Box plot = plot_of(svg);
  const Box near_plot{plot.left - 3.1, plot.top - 3.1, plot.right + 3.1, plot.bottom + 3.1};
  for (const Element& element : svg.elements()) {
    bool in_plot = false;
    bool out_of_plot = false;
    for (const Pixel& p : test::places(element)) {
      if (!Box{0, 0, width, height}.contains(p)) return element.name + " " + element.text;
      (near_plot.contains(p) ? in_plot : out_of_plot) = true;
    }
    if (element.name == "path" && in_plot && out_of_plot) return "a path leaves the plot";
    if (element.name == "text" && in_plot && element.text != "no data") {
      // Tick labels and legends may come near the plot, never into it.
      for (const Pixel& p : test::places(element)) {
        if (plot.contains(p)) return "text on the data: " + element.text;
      }
    }
  }
  return "";
}

Series ramp(std::string name, Style style, int count, double from, double factor) {
  Series series{.name = std::move(name), .style = style};
  for (int i = 0; i < count; ++i) {
    const double y = from * std::pow(factor, i);
    series.points.push_back({static_cast<double>(i + 1), y});
    series.band.push_back({static_cast<double>(i + 1), y / 2, y * 2});
  }
  return series;
}

std::vector<Chart> all_charts() {
  std::vector<Chart> charts(1);
  for (const Scale scale : {Scale::linear, Scale::log10}) {
    for (const Style style : {Style::line, Style::step, Style::points, Style::stems}) {
      Chart chart{.title =
                      "A title that is so long that it cannot stand in one line of a picture "
                      "of ordinary size, and is wrapped",
                  .x = {.label = "an index", .scale = scale},
                  .y = {.label = "a value <with> \"marks\" & signs", .scale = scale},
                  .notes = {"(1, 1e-6)-differential privacy", std::string(300, 'w')}};
      chart.series = {ramp("one", style, 30, 1, 0.7), ramp("two", style, 30, 1e-3, 1.4),
                      ramp("", style, 0, 1, 1), ramp("single", style, 1, 1, 1)};
      charts.push_back(chart);
      chart.x.range = Range{3.5, 20.25};
      chart.y.range = Range{0.01, 0.5};
      charts.push_back(chart);
      chart.series[0].points[7].y = kNotANumber;
      chart.series[0].points[9].y = kInfinity;
      chart.series[1].band[5].lower = -kInfinity;
      chart.series[1].band[6].upper = kInfinity;
      charts.push_back(chart);
      charts.push_back({.y = {.scale = scale}, .series = {ramp("huge", style, 300, 1, 0.1)}});
      charts.push_back({.y = {.scale = scale}, .series = {ramp("constant", style, 9, 7e9, 1)}});
      charts.push_back({.y = {.scale = scale}, .series = {ramp("tiny", style, 2, 1e-310, 1)}});
      Chart many;
      for (int i = 0; i < 12; ++i) {
        many.series.push_back(
            ramp("a long name for a series " + std::to_string(i), style, 5, 2, i));
      }
      charts.push_back(many);
    }
  }
  return charts;
}

TEST(Chart, IsWellFormedAndInsideThePicture) {
  for (const Chart& chart : all_charts()) {
    for (const Size size : {Size{}, Size{1600, 900}, Size{480, 460}}) {
      const std::string svg = to_svg(chart, size);
      EXPECT_EQ(first_stray(svg), "");
      EXPECT_EQ(first_overlap(svg), "");
    }
  }
}

TEST(Chart, RunsNothingAndRefersToNothing) {
  for (const Chart& chart : all_charts()) {
    const std::string svg = to_svg(chart);
    for (const std::string_view banned :
         {"script", "href", " id=", "url(", "style", "@", "nan", "inf", "<!", "<?"}) {
      EXPECT_EQ(svg.find(banned), std::string::npos) << banned;
    }
    EXPECT_EQ(svg.find("http"), svg.rfind("http"));  // the name space
  }
}

TEST(Chart, OfAnyDoublesIsInsideThePictureOrRefused) {
  const auto any_double = rc::gen::oneOf(
      rc::gen::arbitrary<double>(),
      rc::gen::map(rc::gen::inRange(-20, 20), [](int i) { return double(i); }),
      rc::gen::map(rc::gen::inRange(-323, 309), [](int e) { return std::pow(10.0, e); }),
      rc::gen::map(rc::gen::inRange(-323, 309), [](int e) { return -std::pow(10.0, e); }),
      rc::gen::element(kInfinity, -kInfinity, kNotANumber, 0.0, -0.0));
  EXPECT_TRUE(rc::check([&] {
    Chart chart;
    for (Axis* axis : {&chart.x, &chart.y}) {
      axis->scale = *rc::gen::element(Scale::linear, Scale::log10);
      if (*rc::gen::inRange(0, 3) == 0) axis->range = Range{*any_double, *any_double};
    }
    Series series{.name = "s"};
    series.style = *rc::gen::element(Style::line, Style::step, Style::points, Style::stems);
    for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
      series.points.push_back({*any_double, *any_double});
      series.band.push_back({*any_double, *any_double, *any_double});
    }
    const auto by_x = [](const auto& a, const auto& b) { return a.x < b.x; };
    std::erase_if(series.points, [](const Point& p) { return std::isnan(p.x); });
    std::erase_if(series.band, [](const BandPoint& p) { return std::isnan(p.x); });
    std::sort(series.points.begin(), series.points.end(), by_x);
    std::sort(series.band.begin(), series.band.end(), by_x);
    for (BandPoint& p : series.band) {
      if (p.lower > p.upper) std::swap(p.lower, p.upper);
    }
    chart.series = {series};
    std::string svg;
    try {
      svg = to_svg(chart);
    } catch (const Error& error) {
      RC_ASSERT(error.code() == ErrorCode::invalid_argument);
      return;
    }
    RC_ASSERT(first_stray(svg) == "");
    RC_ASSERT(first_overlap(svg) == "");
  }));
}

struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Chart, IsTheSameEveryTimeAndInEveryLocale) {
  for (const Chart& chart : all_charts()) {
    const std::string svg = to_svg(chart);
    EXPECT_EQ(to_svg(chart), svg);
    const std::locale before = std::locale::global(std::locale(std::locale(), new Comma));
    EXPECT_EQ(to_svg(chart), svg);
    std::locale::global(before);
  }
}

TEST(Chart, CarriesAnyText) {
  Chart chart = square({.name = "a<b & \"c\"", .points = {{1, 1}}});
  chart.title = "</text><script>alert('1')</script>";
  chart.notes = {"ε ≤ 1, δ = 10⁻⁶ 中文 😀"};
  std::set<std::string> texts;
  for (const Element& text : SvgReader(to_svg(chart)).named("text")) texts.insert(text.text);
  EXPECT_TRUE(texts.contains(chart.title));
  EXPECT_TRUE(texts.contains(chart.notes[0]));
  EXPECT_TRUE(texts.contains("a<b & \"c\""));
  chart.notes = {"bell \a"};
  EXPECT_EQ(refusal(chart),
            "the note has the character U+0007 at byte 5, which a chart cannot show; remove it");
}

TEST(Chart, DrawsALineWhereItIs) {
  const SvgReader svg(to_svg(square({.points = {{0, 0}, {5, 10}, {10, 2.5}}})));
  const Box plot = plot_of(svg);
  const auto lines = lines_of(svg, 0);
  ASSERT_EQ(lines.size(), 1u);
  ASSERT_EQ(lines[0].size(), 3u);
  expect_at(lines[0][0], plot.left, plot.bottom);
  expect_at(lines[0][1], (plot.left + plot.right) / 2, plot.top);
  expect_at(lines[0][2], plot.right, plot.bottom - (plot.bottom - plot.top) / 4);
}

TEST(Chart, CutsALineAtTheEdgeOfThePlot) {
  for (const double far : {2.0, 1e6, 1e200}) {
    const SvgReader svg(to_svg(square({.points = {{-10 * far, -10 * far}, {10 * far, 10 * far}}})));
    const Box plot = plot_of(svg);
    const auto lines = lines_of(svg, 0);
    ASSERT_EQ(lines.size(), 1u);
    ASSERT_EQ(lines[0].size(), 2u);
    expect_at(lines[0][0], plot.left, plot.bottom);
    expect_at(lines[0][1], plot.right, plot.top);
  }
}

TEST(Chart, SpansInYWhatItShowsInX) {
  Chart chart;
  chart.x.range = Range{0, 1};
  chart.series = {{.points = {{0, 0}, {1, 1}, {2, 1000}}}};
  const SvgReader svg(to_svg(chart));
  const Box plot = plot_of(svg);
  const double padded = (plot.bottom - plot.top) / 1.05;
  expect_at(lines_of(svg, 0).at(0).at(1), plot.right, plot.bottom - padded);
}

// Ticks on the x axis, and their labels: those on the line below it.
std::pair<std::size_t, std::size_t> x_ticks_and_labels(const SvgReader& svg) {
  const Box plot = plot_of(svg);
  std::size_t ticks = 0;
  std::size_t labels = 0;
  for (const Element& line : svg.named("line")) {
    if (line.get("stroke") == kAxisColour && line.number("y2") > plot.bottom) ++ticks;
  }
  for (const Element& text : svg.named("text")) {
    if (text.get("font-size") == "11" && text.number("y") > plot.bottom + 10) ++labels;
  }
  return {ticks, labels};
}

TEST(Chart, MakesRoomForLongLabels) {
  Chart chart = square({.points = {{1e9, 1}}});
  chart.x.range = Range{1e9, 1e9 + 8};
  const auto [ticks, labels] = x_ticks_and_labels(SvgReader(to_svg(chart)));
  EXPECT_EQ(ticks, labels);
  EXPECT_GE(labels, 3u);
  // Where there is no room for two, those that fit are shown.
  const std::string small = to_svg(chart, {200, 200});
  EXPECT_EQ(first_overlap(small), "");
  EXPECT_GE(x_ticks_and_labels(SvgReader(small)).second, 1u);
}

TEST(Chart, PutsLogarithmsOnALogAxis) {
  Chart chart = square({.points = {{1, 1e-6}, {100, 1e-3}, {1000, 0}, {10000, 1}}});
  chart.x = {.scale = Scale::log10, .range = Range{1, 1e4}};
  chart.y = {.scale = Scale::log10, .range = Range{1e-6, 1}};
  const SvgReader svg(to_svg(chart));
  const Box plot = plot_of(svg);
  const auto lines = lines_of(svg, 0);
  ASSERT_EQ(lines.size(), 1u);  // the zero breaks it; what is left of it is a dot
  expect_at(lines[0][1], (plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2);
  bool labelled = false;
  for (const Element& text : svg.named("text")) {
    labelled = labelled || (text.text == "10" && text.superscript == "−6");
  }
  EXPECT_TRUE(labelled);
}

TEST(Chart, BreaksTheLineAtWhatIsNotFinite) {
  for (const double gap : {kNotANumber, kInfinity, -kInfinity}) {
    const SvgReader svg(
        to_svg(square({.points = {{0, 1}, {1, 2}, {2, gap}, {3, 4}, {4, 3}, {5, gap}, {6, 6}}})));
    EXPECT_EQ(lines_of(svg, 0).size(), 2u);
    const auto dots = coloured(svg, "fill", 0);
    ASSERT_EQ(dots.size(), 1u) << "the lonely point is a dot";
    EXPECT_EQ(test::path_lines(dots[0].get("d")).size(), 1u);
  }
}

TEST(Chart, StepsHoldUntilTheNextX) {
  const SvgReader svg(
      to_svg(square({.points = {{0, 0}, {5, 10}, {10, 10}}, .style = Style::step})));
  const Box plot = plot_of(svg);
  const auto lines = lines_of(svg, 0);
  ASSERT_EQ(lines.size(), 1u);
  ASSERT_EQ(lines[0].size(), 4u);
  expect_at(lines[0][1], (plot.left + plot.right) / 2, plot.bottom);
  expect_at(lines[0][2], (plot.left + plot.right) / 2, plot.top);
}

TEST(Chart, StemsStandOnZeroAndBesideEachOther) {
  Chart chart;
  chart.x.range = Range{0, 10};
  chart.y.range = Range{-10, 10};
  chart.series = {{.points = {{5, 10}, {7, -10}}, .style = Style::stems},
                  {.points = {{5, 5}}, .style = Style::stems}};
  const SvgReader svg(to_svg(chart));
  const Box plot = plot_of(svg);
  const double zero = (plot.top + plot.bottom) / 2;
  const double middle = (plot.left + plot.right) / 2;
  const auto first = lines_of(svg, 0);
  ASSERT_EQ(first.size(), 2u);
  expect_at(first[0][0], middle - 2, zero);
  expect_at(first[0][1], middle - 2, plot.top);
  expect_at(first[1][0], plot.left + 0.7 * (plot.right - plot.left) - 2, plot.bottom);
  expect_at(first[1][1], plot.left + 0.7 * (plot.right - plot.left) - 2, zero);
  expect_at(lines_of(svg, 1).at(0).at(0), middle + 2, zero);
}

TEST(Chart, StemsBringZeroIntoView) {
  Chart chart;
  chart.series = {{.points = {{1, 5}, {2, 6}}, .style = Style::stems}};
  const SvgReader svg(to_svg(chart));
  EXPECT_NEAR(lines_of(svg, 0).at(0).at(0).y, plot_of(svg).bottom, kHundredth);
  EXPECT_TRUE(
      std::ranges::any_of(svg.named("text"), [](const Element& text) { return text.text == "0"; }));
}

TEST(Chart, BandsAreTranslucentAndCut) {
  Chart chart = square({.band = {{-10, 2, 4}, {20, 2, kInfinity}}});
  const SvgReader svg(to_svg(chart));
  const Box plot = plot_of(svg);
  const auto bands = coloured(svg, "fill", 0);
  ASSERT_EQ(bands.size(), 1u);
  EXPECT_EQ(bands[0].get("fill-opacity"), "0.2");
  double lowest = 0;
  for (const Pixel& p : test::places(bands[0])) lowest = std::max(lowest, p.y);
  EXPECT_NEAR(lowest, plot.bottom - 0.2 * (plot.bottom - plot.top), kHundredth);
  chart.y = {.scale = Scale::log10, .range = Range{1, 100}};
  chart.series[0].band = {{0, 0, 10}, {10, -3, 10}, {20, kNotANumber, 10}};
  const SvgReader log(to_svg(chart));
  lowest = 0;
  for (const Pixel& p : test::places(coloured(log, "fill", 0).at(0)))
    lowest = std::max(lowest, p.y);
  EXPECT_NEAR(lowest, plot_of(log).bottom, kHundredth) << "down to zero is down to the edge";
}

TEST(Chart, OfThousandsOfPointsIsSmall) {
  Series straight{.name = "straight"};
  Series noise{.name = "noise"};
  Series cloud{.name = "cloud", .style = Style::points};
  unsigned state = 1;
  for (int i = 0; i < 100000; ++i) {
    state = state * 1664525u + 1013904223u;
    const double u = static_cast<double>(state >> 8) / (1 << 24);
    straight.points.push_back({i * 1e-4, i * 1e-4});
    noise.points.push_back({i * 1e-4, 10 * u});
    cloud.points.push_back({5 + u / 1e4, 5});
  }
  EXPECT_LT(to_svg(square(straight)).size(), to_svg(square({.points = {{0, 0}}})).size() + 500);
  EXPECT_LT(to_svg(square(noise)).size(), 150000u);
  EXPECT_LT(to_svg(square(cloud)).size(), 6000u);
  for (Series* series : {&straight, &noise, &cloud}) series->style = Style::stems;
  EXPECT_LT(to_svg(square(noise)).size(), 100000u);
}

TEST(Chart, TellsSeriesApartInGreyToo) {
  std::set<std::pair<std::string_view, std::string_view>> looks;
  for (std::size_t i = 0; i < 42; ++i) looks.insert({look_of(i).colour, look_of(i).dash});
  EXPECT_EQ(looks.size(), 42u);
  std::set<std::string_view> dashes;
  for (std::size_t i = 0; i < 6; ++i) dashes.insert(look_of(i).dash);
  EXPECT_EQ(dashes.size(), 6u);
}

TEST(Chart, PutsTheLegendBesideOrBelowThePlot) {
  Chart chart = square({.name = "short", .points = {{0, 0}, {10, 10}}});
  chart.series.push_back({.points = {{0, 1}}});  // without a name: not in the legend
  for (const bool below : {false, true}) {
    if (below) chart.series[0].name = std::string(40, 'n');
    const SvgReader svg(to_svg(chart));
    const Box plot = plot_of(svg);
    const auto strokes = coloured(svg, "stroke", 0);
    ASSERT_EQ(strokes.size(), 2u);  // the line and its sample
    for (const Pixel& p : test::places(strokes[1])) {
      if (below) {
        EXPECT_GT(p.y, plot.bottom + 20);
      } else {
        EXPECT_GT(p.x, plot.right + 5);
      }
    }
    EXPECT_EQ(coloured(svg, "stroke", 1).size(), 1u);
  }
}

TEST(Chart, SaysThatThereAreNoData) {
  for (const Chart& chart : {Chart{}, square({}), square({.points = {{1, kNotANumber}}})}) {
    EXPECT_NE(to_svg(chart).find(">no data<"), std::string::npos);
  }
  EXPECT_EQ(to_svg(square({.points = {{1, 1}}})).find("no data"), std::string::npos);
}

}  // namespace
}  // namespace shoal::report
