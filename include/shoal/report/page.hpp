// A page of HTML, whole in one file: no scripts, no references, nothing to fetch. Text is escaped.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::report {

class Page {
 public:
  // Throws invalid_argument, as all of them do, for text that XML cannot carry.
  explicit Page(std::string_view title);

  void heading(std::string_view text);
  void paragraph(std::string_view text);
  // A header and rows of as many cells each.
  void table(std::span<const std::string> header, std::span<const std::vector<std::string>> rows);
  // The same behind a line of text, to be opened: for long ones.
  void folded_table(std::string_view summary, std::span<const std::string> header,
                    std::span<const std::vector<std::string>> rows);
  // SVG from this layer, side by side with the picture before it.
  void picture(std::string_view svg);

  std::string to_html() const;

 private:
  void close_pictures();

  std::string title_;
  std::string body_;
  bool pictures_ = false;
};

}  // namespace shoal::report
