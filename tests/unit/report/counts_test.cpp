// Pictures of counts and the page around them: well-formed, to scale, escaped.
#include "svg_reader.hpp"

#include <shoal/base/error.hpp>
#include <shoal/report/counts.hpp>
#include <shoal/report/page.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace shoal::report {
namespace {

TEST(CountBarsTest, LengthsAreInProportion) {
  const std::string svg = to_svg(CountBars{"sex & age", {"f", "<m>", "NULL"}, {200, 100, 0}});
  const test::SvgReader reader(svg);
  const auto boxes = reader.named("rect");
  ASSERT_EQ(boxes.size(), 3u);
  EXPECT_NEAR(boxes[1].number("width") / boxes[0].number("width"), 0.5, 1e-3);
  EXPECT_EQ(boxes[2].number("width"), 0);
  EXPECT_EQ(reader.named("text")[0].text, "sex & age");
  EXPECT_EQ(reader.named("text")[3].text, "<m>");
}

TEST(CountBarsTest, WhatCannotBeDrawnIsDrawnAsNothing) {
  const double infinite = std::numeric_limits<double>::infinity();
  const test::SvgReader reader(
      to_svg(CountBars{"t", {"a", "b", "c"}, {infinite, -3, std::nan("")}}));
  for (const auto& box : reader.named("rect")) EXPECT_EQ(box.number("width"), 0);
}

TEST(CountBarsTest, ManyBarsStayInThePicture) {
  const CountBars bars{"t", std::vector<std::string>(5000, "label"), std::vector<double>(5000, 1)};
  const test::SvgReader reader(to_svg(bars));
  const double height = reader.named("svg")[0].number("height");
  for (const auto& box : reader.named("rect"))
    ASSERT_LE(box.number("y") + box.number("height"), height);
}

TEST(CountGridTest, ShadesGrowWithTheCounts) {
  const test::SvgReader reader(
      to_svg(CountGrid{"sex", "age", {"f", "m"}, {"0", "1", "2"}, {100, 25, 0, 1, 100, 4}}));
  const auto boxes = reader.named("rect");
  ASSERT_EQ(boxes.size(), 5u);  // nothing for nothing
  EXPECT_EQ(boxes[0].number("fill-opacity"), 1);
  EXPECT_EQ(boxes[1].number("fill-opacity"), 0.5);
  EXPECT_EQ(boxes[2].number("fill-opacity"), 0.1);
  EXPECT_EQ(reader.named("text")[0].text, "sex by age");
}

TEST(CountsTest, RefusesWhatDoesNotFit) {
  EXPECT_THROW(to_svg(CountBars{"t", {"a"}, {}}), Error);
  EXPECT_THROW(to_svg(CountBars{"t", {}, {}}), Error);
  EXPECT_THROW(to_svg(CountGrid{"a", "b", {"x"}, {"y"}, {1, 2}}), Error);
}

TEST(PageTest, IsOneFileWithNothingToFetch) {
  Page page("a <b>");
  page.heading("first & only");
  page.picture(to_svg(CountBars{"t", {"a"}, {1}}));
  page.picture(to_svg(CountBars{"u", {"a"}, {1}}));
  const std::vector<std::string> header = {"x", "y"};
  const std::vector<std::vector<std::string>> rows = {{"1", "<script>"}};
  page.table(header, rows);
  const std::string html = page.to_html();
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(html.find("<td>&lt;script&gt;</td>"), std::string::npos);
  EXPECT_NE(html.find("<h1>a &lt;b&gt;</h1>"), std::string::npos);
  for (const char* word : {"<script", "href", "src=", "@import", "url("})
    EXPECT_EQ(html.find(word), std::string::npos) << word;
  // The pictures stand in one row, which the table ends.
  EXPECT_EQ(html.find("class=\"pictures\""), html.rfind("class=\"pictures\""));
  EXPECT_NO_THROW(test::SvgReader(html.substr(html.find("<html"))));
  EXPECT_THROW(page.paragraph("\x01"), Error);
  EXPECT_THROW(page.table(header, std::vector<std::vector<std::string>>{{"1"}}), Error);
}

}  // namespace
}  // namespace shoal::report
