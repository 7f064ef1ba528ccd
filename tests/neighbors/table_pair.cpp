#include "neighbors/table_pair.hpp"

#include <shoal/base/text.hpp>

#include <fmt/format.h>

namespace shoal::test {
namespace {

std::string describe(const Rows& rows, char sign) {
  std::string text;
  for (const Row& row : rows) {
    text += sign;
    if (row.raw) {
      text += fmt::format(" [{}] {}\n", row.label, printable(*row.raw, 200));
      continue;
    }
    for (const Cell& cell : row.cells) text += " | " + (cell ? printable(*cell, 60) : "NULL");
    text += row.label.empty() ? "\n" : " [" + row.label + "]\n";
  }
  return text;
}

std::string_view name_of(catalog::SourceFormat format) {
  switch (format) {
    case catalog::SourceFormat::csv:
      return "csv";
    case catalog::SourceFormat::parquet:
      return "parquet";
    case catalog::SourceFormat::postgresql:
      break;
  }
  return "postgresql";
}

}  // namespace

Rows TablePair::side(bool second) const {
  Rows rows = before;
  const Rows& own = second ? other : one;
  rows.insert(rows.end(), own.begin(), own.end());
  rows.insert(rows.end(), after.begin(), after.end());
  return rows;
}

std::string describe(const TablePair& pair) {
  const Setting& setting = pair.setting;
  return fmt::format("{}, unit {}, {}{}{}{}{}\n  {}\n", name_of(setting.format),
                     setting.unit == catalog::PrivacyUnit::row ? "row" : "person",
                     to_string(setting.neighbors), setting.byte_order_mark ? ", BOM" : "",
                     setting.line_end == "\n" ? "" : ", CRLF",
                     setting.last_line_ends ? "" : ", no last line end",
                     setting.milliseconds ? ", milliseconds" : "", fmt::join(kFields, " | ")) +
         describe(pair.before, ' ') + describe(pair.one, '-') + describe(pair.other, '+') +
         describe(pair.after, ' ');
}

}  // namespace shoal::test
