// The parts of a chart that can be checked by themselves: ticks, text, thinning and clipping.
#include "report/ticks.hpp"

#include "report/polyline.hpp"
#include "report/text.hpp"

#include <shoal/base/error.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

namespace shoal::report {
namespace {

std::string joined(const Ticks& ticks) {
  std::string text;
  for (const Tick& tick : ticks.major) {
    if (!text.empty()) text += ' ';
    text += tick.label.text;
    if (!tick.label.superscript.empty()) text += '^' + tick.label.superscript;
  }
  return text;
}

TEST(LinearTicks, AreCalledByTheirExactDecimals) {
  EXPECT_EQ(joined(linear_ticks({0, 1}, 5)), "0 0.2 0.4 0.6 0.8 1.0");
  EXPECT_EQ(joined(linear_ticks({0, 0.7}, 8)), "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7");
  EXPECT_EQ(joined(linear_ticks({-1.1, 1.1}, 5)), "−1.0 −0.5 0 0.5 1.0");
  EXPECT_EQ(joined(linear_ticks({3, 47}, 5)), "10 20 30 40");
  EXPECT_EQ(joined(linear_ticks({0, 900000}, 5)), "0 200000 400000 600000 800000");
  EXPECT_EQ(joined(linear_ticks({0, 1e6}, 4)), "0 0.5×10^6 1.0×10^6");
  EXPECT_EQ(joined(linear_ticks({-2e-6, 4e-6}, 3)), "−2×10^−6 0 2×10^−6 4×10^−6");
  EXPECT_EQ(joined(linear_ticks({1e9, 1e9 + 2}, 2)),
            "1.000000000×10^9 1.000000001×10^9 1.000000002×10^9");
  EXPECT_EQ(joined(linear_ticks({-1e300, 1e300}, 2)), "−1×10^300 0 1×10^300");
}

TEST(LogTicks, ArePowersOfTenOrFinerWhereThoseAreFew) {
  EXPECT_EQ(joined(log_ticks({-3, 0}, 5)), "10^−3 10^−2 10^−1 10^0");
  EXPECT_EQ(joined(log_ticks({-12, 0}, 7)), "10^−12 10^−10 10^−8 10^−6 10^−4 10^−2 10^0");
  EXPECT_EQ(joined(log_ticks({-300, 0}, 4)), "10^−300 10^−200 10^−100 10^0");
  EXPECT_EQ(joined(log_ticks({0, 1.5}, 6)), "1 2 5 10 20");
  EXPECT_EQ(joined(log_ticks({-6, -5}, 6)), "1×10^−6 2×10^−6 5×10^−6 1×10^−5");
  EXPECT_EQ(joined(log_ticks({std::log10(0.95), std::log10(1.15)}, 4)), "0.95 1.00 1.05 1.10 1.15");
}

TEST(LogTicks, StandAtTheirValues) {
  const Ticks fine = log_ticks({std::log10(3.0), std::log10(4.1)}, 4);
  EXPECT_EQ(joined(fine), "3.0 3.5 4.0");
  EXPECT_NEAR(std::pow(10, fine.major.at(1).at), 3.5, 1e-12);
  const Ticks decades = log_ticks({-1, 2}, 5);
  EXPECT_NEAR(decades.minor.at(0), std::log10(0.2), 1e-12);
  EXPECT_EQ(decades.minor.size(), 24u);
}

TEST(Ticks, StayInTheSpanInOrderAndFew) {
  EXPECT_TRUE(rc::check("linear", [] {
    const double middle = static_cast<double>(*rc::gen::inRange(-1000000, 1000000));
    const double width = std::pow(10, *rc::gen::inRange(-2, 12)) * *rc::gen::inRange(1, 100);
    const int most = *rc::gen::inRange(2, 13);
    const Span span{middle - width, middle + width};
    const Ticks ticks = linear_ticks(span, most);
    RC_ASSERT(!ticks.major.empty());
    RC_ASSERT(ticks.major.size() <= static_cast<std::size_t>(most) + 1);
    RC_ASSERT(ticks.major.front().at >= span.low && ticks.major.back().at <= span.high);
    for (std::size_t i = 1; i < ticks.major.size(); ++i) {
      RC_ASSERT(ticks.major[i].at > ticks.major[i - 1].at);
      RC_ASSERT(!(ticks.major[i].label == ticks.major[i - 1].label));
    }
  }));
  EXPECT_TRUE(rc::check("log", [] {
    const double low = *rc::gen::inRange(-30000, 30000) / 100.0;
    const Span span{low, low + *rc::gen::inRange(1, 40000) / 100.0};
    const int most = *rc::gen::inRange(2, 13);
    if (span.high > 300) return;
    const Ticks ticks = log_ticks(span, most);
    RC_ASSERT(!ticks.major.empty());
    RC_ASSERT(ticks.major.size() <= static_cast<std::size_t>(most) + 1);
    RC_ASSERT(ticks.major.front().at >= span.low && ticks.major.back().at <= span.high);
    for (std::size_t i = 1; i < ticks.major.size(); ++i) {
      RC_ASSERT(ticks.major[i].at > ticks.major[i - 1].at);
    }
    for (const double at : ticks.minor) RC_ASSERT(at >= span.low && at <= span.high);
  }));
}

TEST(Text, IsRefusedIfXmlCannotCarryIt) {
  EXPECT_EQ(clean_text(" two\n\tlines ε ", "note"), "two lines ε");
  for (const std::string bad :
       {"\x01", "\x7F", "\xC3", "\xC3(", "\xED\xA0\x80", "\xEF\xBF\xBF", "\xC0\x80",
        "\xF8\x88\x80\x80\x80", "\xE0\x80\xAF", "\x80", "\xF4\x90\x80\x80"}) {
    EXPECT_THROW(clean_text("a" + bad, "note"), Error);
  }
  try {
    clean_text("ab\x02", "title");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_STREQ(
        error.what(),
        "the title has the character U+0002 at byte 2, which a chart cannot show; remove it");
  }
}

TEST(Text, WrapsAtSpacesAndInsideLongWords) {
  const std::string text = "differential privacy for everyone";
  for (const std::string& line : wrap(text, 150, 12)) EXPECT_LE(text_width(line, 12), 150);
  std::string again;
  for (const std::string& line : wrap(text, 150, 12)) again += (again.empty() ? "" : " ") + line;
  EXPECT_EQ(again, text);
  EXPECT_EQ(wrap(text, 150, 12).size(), 2u);
  // An umlaut is not cut in two.
  std::string word;
  for (const std::string& line : wrap("äääääääääää", 20, 12)) {
    EXPECT_EQ(line.size() % 2, 0u);
    word += line;
  }
  EXPECT_EQ(word, "äääääääääää");
  EXPECT_TRUE(wrap("", 100, 12).empty());
  EXPECT_EQ(wrap("ab", 0, 12).size(), 2u);
}

TEST(Text, IsShortenedWithAnEllipsis) {
  EXPECT_EQ(shorten("short", 100, 12), "short");
  const std::string cut = shorten("a name that has no room at all", 100, 12);
  EXPECT_TRUE(cut.ends_with("…"));
  EXPECT_LE(text_width(cut, 12), 100);
}

double distance_to_line(Pixel p, const Polyline& line) {
  double least = HUGE_VAL;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const double dx = line[i + 1].x - line[i].x;
    const double dy = line[i + 1].y - line[i].y;
    const double squared = dx * dx + dy * dy;
    const double dot = (p.x - line[i].x) * dx + (p.y - line[i].y) * dy;
    const double t = squared > 0 ? std::min(1.0, std::max(0.0, dot / squared)) : 0;
    least = std::min(least, std::hypot(p.x - line[i].x - t * dx, p.y - line[i].y - t * dy));
  }
  return least;
}

TEST(Thin, LeavesOutWhatTheEyeDoesNotSee) {
  Polyline straight;
  Polyline curve;
  for (int i = 0; i <= 5000; ++i) {
    const double x = i * 0.1;
    straight.push_back({x, 400 - 0.7 * x});
    curve.push_back({x, 200 + 150 * std::sin(x / 40)});
  }
  // One point for each piece of the search stays.
  EXPECT_LE(thin(straight).size(), 5000 / 512 + 3u);
  const Polyline thinned = thin(curve);
  EXPECT_LT(thinned.size(), 200u);
  for (const Pixel& p : curve) EXPECT_LT(distance_to_line(p, thinned), 0.3);
}

TEST(Thin, KeepsEndsPeaksAndTurns) {
  Polyline line = {{0, 0}, {10, 0}, {20, 0}, {5, 0}};
  EXPECT_EQ(thin(line).size(), 3u) << "a line that turns back is longer than its ends tell";
  Polyline peak;
  for (int i = 0; i < 1000; ++i) peak.push_back({i * 0.0002, i == 500 ? -50.0 : 0.0});
  const Polyline kept = thin(peak);
  EXPECT_LE(kept.size(), 4u);
  EXPECT_TRUE(std::any_of(kept.begin(), kept.end(), [](Pixel p) { return p.y == -50; }));
  EXPECT_EQ(thin({{3, 4}}).size(), 1u);
  EXPECT_TRUE(thin({}).empty());
}

TEST(ClipLine, CutsAtTheEdges) {
  const Box box{0, 0, 10, 10};
  const auto parts = clip_line({{-5, 5}, {5, 5}, {5, 20}, {8, 20}, {8, 5}, {30, 5}}, box);
  ASSERT_EQ(parts.size(), 2u);
  ASSERT_EQ(parts[0].size(), 3u);
  EXPECT_EQ(parts[0][0].x, 0);
  EXPECT_EQ(parts[0][2].y, 10);
  ASSERT_EQ(parts[1].size(), 3u);
  EXPECT_EQ(parts[1][0].y, 10);
  EXPECT_EQ(parts[1][2].x, 10);
  // Out and in again with the corner outside: nothing joins the two along the edge.
  EXPECT_EQ(clip_line({{5, 5}, {15, 7}, {5, 9}}, box).size(), 2u);
  EXPECT_TRUE(clip_line({{-1, -1}, {20, -1}}, box).empty());
  EXPECT_TRUE(clip_line({{-1, 8}, {2, 20}}, box).empty());
  EXPECT_TRUE(clip_line({{11, 5}}, box).empty());
}

TEST(ClipArea, KeepsTheAreaInside) {
  const Box box{0, 0, 10, 10};
  const auto area = [](const Polyline& polygon) {
    double sum = 0;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const Pixel a = polygon[i];
      const Pixel b = polygon[(i + 1) % polygon.size()];
      sum += a.x * b.y - b.x * a.y;
    }
    return std::fabs(sum) / 2;
  };
  EXPECT_DOUBLE_EQ(area(clip_area({{-5, -5}, {5, -5}, {5, 5}, {-5, 5}}, box)), 25);
  EXPECT_DOUBLE_EQ(area(clip_area({{-90, -90}, {90, -90}, {90, 90}, {-90, 90}}, box)), 100);
  EXPECT_DOUBLE_EQ(area(clip_area({{0, 0}, {20, 0}, {0, 20}}, box)), 100);
  EXPECT_DOUBLE_EQ(area(clip_area({{0, 0}, {12, 0}, {0, 12}}, box)), 68);
  EXPECT_TRUE(clip_area({{20, 20}, {30, 20}, {30, 30}}, box).empty());
}

}  // namespace
}  // namespace shoal::report
