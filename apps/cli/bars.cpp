#include "bars.hpp"

#include <shoal/base/text.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace shoal::cli {
namespace {

struct Span {
  double lower = 0, value = 0, upper = 0;
};

std::optional<Span> span_of(const plan::Cell& cell) {
  const auto* value = std::get_if<double>(&cell.value);
  if (!value || !cell.lower || !cell.upper) return std::nullopt;
  if (!std::isfinite(*value) || !std::isfinite(*cell.lower) || !std::isfinite(*cell.upper)) {
    return std::nullopt;
  }
  return Span{*cell.lower, *value, *cell.upper};
}

std::string picture(std::size_t lower, std::size_t value, std::size_t upper) {
  std::string text(lower, ' ');
  for (std::size_t at = lower; at <= upper; ++at) {
    text += at == value ? "●" : at == lower ? "├" : at == upper ? "┤" : "─";
  }
  return text;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = to_lower(variable(name));
    if (value.empty()) continue;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

std::vector<std::string> interval_bars(const std::vector<const plan::Cell*>& cells,
                                       std::size_t width) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  std::size_t known = 0;
  for (const plan::Cell* cell : cells) {
    const auto span = span_of(*cell);
    if (!span) continue;
    ++known;
    least = std::min(least, span->lower);
    most = std::max(most, span->upper);
  }
  const double range = most - least;
  if (known < 2 || width < 3 || !(range > 0) || !std::isfinite(range)) return {};
  // A value may lie outside of its interval, and so of the scale: it then stands at the end.
  const auto place = [&](double value) {
    const double part = std::clamp((value - least) / range, 0.0, 1.0);
    return static_cast<std::size_t>(std::lround(part * static_cast<double>(width - 1)));
  };
  std::vector<std::string> bars;
  for (const plan::Cell* cell : cells) {
    const auto span = span_of(*cell);
    if (!span) {
      bars.emplace_back();
      continue;
    }
    const std::size_t lower = place(span->lower);
    const std::size_t upper = place(span->upper);
    bars.push_back(picture(lower, std::clamp(place(span->value), lower, upper), upper));
  }
  return bars;
}

std::optional<std::size_t> room_for_bars() {
  if (::isatty(STDOUT_FILENO) != 1 || !is_utf8_locale()) return std::nullopt;
  if (!variable("SHOAL_NO_BARS").empty() || variable("TERM") == "dumb") return std::nullopt;
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : std::size_t{80};
}

}  // namespace shoal::cli
