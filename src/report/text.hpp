// Text in a chart: what XML can carry, and how wide it will be.
//
// The reader's font is not known here, so widths are estimates, on the wide side of the common sans
// serif fonts: a line may end early, but it does not leave the picture.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shoal::report {

// The text with each run of white space as one space. Throws invalid_argument, with `what` it is
// that the text is for, if it is not UTF-8 or has a character that XML 1.0 does not allow.
std::string clean_text(std::string_view text, std::string_view what);

// For text and for attributes in double quotes.
std::string escape(std::string_view text);

// In pixels. The text must be UTF-8.
double text_width(std::string_view text, double font_size);

// Lines no wider than `width`, broken at spaces, or inside a word that is wider than a line.
std::vector<std::string> wrap(std::string_view text, double width, double font_size);

// The text, cut short with an ellipsis if it is wider than `width`.
std::string shorten(std::string_view text, double width, double font_size);

}  // namespace shoal::report
