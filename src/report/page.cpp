#include "report/text.hpp"

#include <shoal/base/error.hpp>
#include <shoal/report/page.hpp>

#include <fmt/format.h>

namespace shoal::report {
namespace {

constexpr std::string_view kStyle =
    "body{font-family:sans-serif;max-width:1120px;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0}"
    "td,th{border:1px solid #ccc;padding:.25em .6em;text-align:left}"
    "th{background:#f2f2f2}.pictures{display:flex;flex-wrap:wrap;gap:8px}";

std::string safe(std::string_view text) { return escape(clean_text(text, "text of a page")); }

}  // namespace

Page::Page(std::string_view title) : title_(safe(title)) {}

void Page::close_pictures() {
  if (pictures_) body_ += "</div>\n";
  pictures_ = false;
}

void Page::heading(std::string_view text) {
  close_pictures();
  body_ += fmt::format("<h2>{}</h2>\n", safe(text));
}

void Page::paragraph(std::string_view text) {
  close_pictures();
  body_ += fmt::format("<p>{}</p>\n", safe(text));
}

void Page::table(std::span<const std::string> header,
                 std::span<const std::vector<std::string>> rows) {
  close_pictures();
  body_ += "<table>\n<tr>";
  for (const std::string& cell : header) body_ += fmt::format("<th>{}</th>", safe(cell));
  body_ += "</tr>\n";
  for (const std::vector<std::string>& row : rows) {
    SHOAL_CHECK(row.size() == header.size());
    body_ += "<tr>";
    for (const std::string& cell : row) body_ += fmt::format("<td>{}</td>", safe(cell));
    body_ += "</tr>\n";
  }
  body_ += "</table>\n";
}

void Page::folded_table(std::string_view summary, std::span<const std::string> header,
                        std::span<const std::vector<std::string>> rows) {
  close_pictures();
  body_ += fmt::format("<details>\n<summary>{}</summary>\n", safe(summary));
  table(header, rows);
  body_ += "</details>\n";
}

void Page::picture(std::string_view svg) {
  if (!pictures_) body_ += "<div class=\"pictures\">\n";
  pictures_ = true;
  body_ += svg;
}

std::string Page::to_html() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}{3}</body>\n</html>\n",
      title_, kStyle, body_, pictures_ ? "</div>\n" : "");
}

}  // namespace shoal::report
