// Where an axis has its ticks and what they are called.
//
// Places are in axis coordinates: the value on a linear axis, its decimal logarithm on a log axis.
// Labels are made of integers and powers of ten, never of rounded doubles, so that no tick is
// called 0.30000000000000004.
#pragma once

#include <string>
#include <vector>

namespace shoal::report {

// A stretch of an axis, in axis coordinates; low < high.
struct Span {
  double low = 0;
  double high = 1;
};

// "2×10" with the superscript "−6", or plain "0.25" without one.
struct Label {
  std::string text;
  std::string superscript;
  bool operator==(const Label&) const = default;
};

struct Tick {
  double at = 0;
  Label label;
};

struct Ticks {
  std::vector<Tick> major;
  std::vector<double> minor;  // without labels
};

// Steps of 1, 2 or 5 times a power of ten; at most `most` + 1 ticks. The span must be wider than
// 1e-9 of its larger end.
Ticks linear_ticks(Span span, int most);

// Powers of ten; with less than three of them in the span, 1-2-5 or steps as on a linear axis.
Ticks log_ticks(Span span, int most);

}  // namespace shoal::report
