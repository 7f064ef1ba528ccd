#include "report/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace shoal::report {
namespace {

constexpr std::string_view kMinus = "\u2212";
// Forgives the rounding of a quotient, so that a tick on the very edge is kept.
constexpr double kSlack = 1e-9;
// Labels above 10^5 or below 10^-3 are written with a power of ten.
constexpr int kPlainFrom = -3;
constexpr int kPlainTo = 5;

std::string integer_text(std::int64_t value) {
  return (value < 0 ? std::string(kMinus) : "") + fmt::format("{}", std::abs(value));
}

// units * 10^exponent without a power of ten; keeps every decimal, so that a row of labels lines
// up.
std::string plain_text(std::int64_t units, int exponent) {
  std::string digits = fmt::format("{}", std::abs(units));
  if (exponent >= 0) {
    if (units != 0) digits.append(static_cast<std::size_t>(exponent), '0');
  } else {
    const auto decimals = static_cast<std::size_t>(-exponent);
    if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
    digits.insert(digits.size() - decimals, ".");
  }
  return (units < 0 ? std::string(kMinus) : "") + digits;
}

int magnitude_of(std::int64_t units, int exponent) {
  return static_cast<int>(fmt::format("{}", std::abs(units)).size()) - 1 + exponent;
}

// units * 10^exponent on an axis whose largest label is of the order 10^top.
Label number_label(std::int64_t units, int exponent, int top) {
  if (units == 0) return {"0", ""};
  if (top >= kPlainFrom && top <= kPlainTo) return {plain_text(units, exponent), ""};
  return {plain_text(units, exponent - top) + "\u00D710", integer_text(top)};
}

struct Step {
  int factor;  // 1, 2 or 5
  int exponent;
  std::int64_t first;  // the first and last multiple in the span
  std::int64_t last;
  double width() const { return factor * std::pow(10.0, exponent); }
};

// The finest step that makes at most `most` + 1 ticks. The next finer one makes more than three of
// them, and is at least two fifths as wide, so that there is a tick.
Step nice_step(Span span, int most) {
  for (int exponent = static_cast<int>(std::floor(std::log10((span.high - span.low) / most)));;
       ++exponent) {
    for (const int factor : {1, 2, 5}) {
      Step step{factor, exponent, 0, 0};
      step.first = static_cast<std::int64_t>(std::ceil(span.low / step.width() - kSlack));
      step.last = static_cast<std::int64_t>(std::floor(span.high / step.width() + kSlack));
      if (step.last - step.first <= most) return step;
    }
  }
}

int multiples_between(int first, int last, int stride) {
  return static_cast<int>(std::floor(1.0 * last / stride) - std::ceil(1.0 * first / stride)) + 1;
}

Ticks decade_ticks(Span span, int first, int last, int most) {
  const int decades = last - first + 1;
  int stride = 1;
  for (const int candidate : {1, 2, 3, 5, 10, 20, 50, 100, 200, 500}) {
    stride = candidate;
    if (multiples_between(first, last, stride) <= most + 1) break;
  }
  Ticks ticks;
  for (int decade = first; decade <= last; ++decade) {
    const double at = std::clamp<double>(decade, span.low, span.high);
    if (decade % stride == 0) {
      ticks.major.push_back({at, {"10", integer_text(decade)}});
    } else if (decades <= 60) {
      ticks.minor.push_back(at);
    }
  }
  return ticks;
}

void add_minor_ninths(Span span, Ticks& ticks) {
  for (int decade = static_cast<int>(std::floor(span.low)); decade <= span.high; ++decade) {
    for (int factor = 2; factor <= 9; ++factor) {
      const double at = decade + std::log10(factor);
      if (at >= span.low && at <= span.high) ticks.minor.push_back(at);
    }
  }
}

Ticks ticks_1_2_5(Span span) {
  Ticks ticks;
  for (int decade = static_cast<int>(std::floor(span.low)); decade <= span.high + kSlack;
       ++decade) {
    for (const int factor : {1, 2, 5}) {
      const double at = decade + std::log10(factor);
      if (at < span.low - kSlack || at > span.high + kSlack) continue;
      ticks.major.push_back(
          {std::clamp(at, span.low, span.high), number_label(factor, decade, decade)});
    }
  }
  return ticks;
}

// The ticks of the linear axis, put where a log axis has those values.
Ticks bent_linear_ticks(Span span, int most) {
  Ticks ticks = linear_ticks({std::pow(10.0, span.low), std::pow(10.0, span.high)}, most);
  // Padding cannot reach zero here, but a step from just below the span could round to it.
  std::erase_if(ticks.major, [](const Tick& tick) { return tick.at <= 0; });
  for (Tick& tick : ticks.major) tick.at = std::clamp(std::log10(tick.at), span.low, span.high);
  return ticks;
}

}  // namespace

Ticks linear_ticks(Span span, int most) {
  const Step step = nice_step(span, most);
  const std::int64_t largest = std::max(std::abs(step.first), std::abs(step.last)) * step.factor;
  const int top = magnitude_of(largest, step.exponent);
  Ticks ticks;
  for (std::int64_t k = step.first; k <= step.last; ++k) {
    ticks.major.push_back({std::clamp(static_cast<double>(k) * step.width(), span.low, span.high),
                           number_label(k * step.factor, step.exponent, top)});
  }
  return ticks;
}

Ticks log_ticks(Span span, int most) {
  const int first = static_cast<int>(std::ceil(span.low - kSlack));
  const int last = static_cast<int>(std::floor(span.high + kSlack));
  const int decades = last - first + 1;
  Ticks ticks = decade_ticks(span, first, last, most);
  if (decades < 3) {
    ticks = ticks_1_2_5(span);
    if (ticks.major.size() < 3) return bent_linear_ticks(span, most);
    if (ticks.major.size() > static_cast<std::size_t>(most) + 1) {
      ticks = decades == 2 ? decade_ticks(span, first, last, most) : bent_linear_ticks(span, most);
    }
  }
  if (decades <= 8 && ticks.minor.empty()) add_minor_ninths(span, ticks);
  return ticks;
}

}  // namespace shoal::report
