#include "report/svg.hpp"
#include "report/text.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/report/counts.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::report {
namespace {

constexpr double kWidth = 360;
constexpr double kTop = 28;
constexpr double kRow = 16;        // of one bar, at most
constexpr double kMostRows = 400;  // pixels for all of them
constexpr double kLabels = 110;
constexpr double kFont = 11;
constexpr std::string_view kBar = "#0072B2";

void check(bool fits) {
  if (fits) return;
  throw Error(ErrorCode::invalid_argument,
              "a picture of counts needs a value for each label, and at least one");
}

double drawable(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, drawable(value));
  return largest > 0 ? largest : 1;
}

std::string opened(double height, const std::string& title) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\">\n",
      number_text(kWidth), number_text(height));
  const std::string text = shorten(clean_text(title, "title"), kWidth - 8, 13);
  add_text(svg, {4, 17, text, {}, 13, Anchor::start, true, false});
  return svg;
}

void add_box(std::string& svg, double x, double y, double width, double height, double shade) {
  svg += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" fill-opacity=\"{}\"/>\n",
      number_text(x), number_text(y), number_text(width), number_text(height), kBar,
      number_text(shade));
}

// So many labels that each has room: every n-th.
std::size_t label_step(double each) {
  return static_cast<std::size_t>(std::max(1.0, std::ceil((kFont + 1) / each)));
}

void add_label(std::string& svg, const std::string& label, double y) {
  const std::string text = shorten(clean_text(label, "label"), kLabels - 8, kFont);
  add_text(svg, {kLabels - 4, y, text, {}, kFont, Anchor::end, false, false});
}

}  // namespace

std::string to_svg(const CountBars& bars) {
  check(!bars.labels.empty() && bars.labels.size() == bars.values.size());
  const auto many = static_cast<double>(bars.labels.size());
  const double each = std::min(kRow, kMostRows / many);
  constexpr double kNumbers = 58;
  const double longest = kWidth - kLabels - kNumbers;
  const double largest = largest_of(bars.values);
  std::string svg = opened(kTop + each * many + 6, bars.title);
  const std::size_t step = label_step(each);
  for (std::size_t i = 0; i < bars.labels.size(); ++i) {
    const double y = kTop + each * static_cast<double>(i);
    const double length = longest * drawable(bars.values[i]) / largest;
    add_box(svg, kLabels, y + each * 0.1, length, each * 0.8, 1);
    if (i % step != 0) continue;
    add_label(svg, bars.labels[i], y + each / 2 + 4);
    add_text(svg, {kLabels + length + 4,
                   y + each / 2 + 4,
                   format_rounded(std::round(drawable(bars.values[i])), 6),
                   {},
                   kFont,
                   Anchor::start,
                   false,
                   false});
  }
  return svg + "</svg>\n";
}

std::string to_svg(const CountGrid& grid) {
  check(!grid.rows.empty() && !grid.columns.empty() &&
        grid.values.size() == grid.rows.size() * grid.columns.size());
  constexpr double kColumnLabels = 80;
  const auto rows = static_cast<double>(grid.rows.size());
  const auto columns = static_cast<double>(grid.columns.size());
  const double width = (kWidth - kLabels - 6) / columns;
  const double height = std::min(kRow, kMostRows / rows);
  const double largest = largest_of(grid.values);
  std::string svg =
      opened(kTop + height * rows + kColumnLabels, grid.row_name + " by " + grid.column_name);
  for (std::size_t r = 0; r < grid.rows.size(); ++r) {
    const double y = kTop + height * static_cast<double>(r);
    if (r % label_step(height) == 0) add_label(svg, grid.rows[r], y + height / 2 + 4);
    for (std::size_t c = 0; c < grid.columns.size(); ++c) {
      const double share = drawable(grid.values[r * grid.columns.size() + c]) / largest;
      // Shades by the square root, so that small counts are seen beside large ones.
      if (share > 0) {
        add_box(svg, kLabels + width * static_cast<double>(c), y, width, height, std::sqrt(share));
      }
    }
  }
  const double bottom = kTop + height * rows;
  for (std::size_t c = 0; c < grid.columns.size(); c += label_step(width)) {
    const std::string text =
        shorten(clean_text(grid.columns[c], "label"), kColumnLabels - 8, kFont);
    add_text(svg, {kLabels + width * (static_cast<double>(c) + 0.5) + 4,
                   bottom + 6,
                   text,
                   {},
                   kFont,
                   Anchor::end,
                   false,
                   true});
  }
  return svg + "</svg>\n";
}

}  // namespace shoal::report
