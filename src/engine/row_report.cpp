#include "engine/row_report.hpp"

#include <fmt/format.h>

#include <string>

namespace shoal::engine {

void report_reading(const CsvCounts& counts, RowReport& report) {
  const auto tell = [&](std::int64_t rows, const std::string& what) {
    if (rows > 0) report.problems.push_back({"", rows, what});
  };
  tell(counts.unclosed_quotes, "opens a quote that is never closed: read as any other character");
  tell(counts.multi_line_rows,
       fmt::format("goes on for several, up to {}: was a quote left open?", counts.most_lines));
  tell(counts.padded_rows, "has fewer fields than the header: the missing ones are NULL");
  tell(counts.cut_rows, "has more fields than the header: the further ones are dropped");
  tell(counts.oversized_rows,
       fmt::format("is longer than {} MiB: what ends beyond is NULL", kLongestCsvRow >> 20));
  tell(counts.not_text_rows, "holds a field that is no text (UTF-8 without NUL bytes): it is NULL");
}

void report_fields(const catalog::Column& column, const FieldCount& count, std::int64_t unreadable,
                   RowReport& report) {
  const auto tell = [&](std::int64_t rows, const std::string& what) {
    if (rows > 0) report.problems.push_back({column.name, rows, what});
  };
  tell(unreadable, fmt::format("cannot be read as {}: NULL in queries", to_string(column.type)));
  tell(count.not_numbers, "is NaN: NULL in queries");
  tell(count.line_breaks, "holds a line break: was a quote left open?");
  if (!column.trim) {
    tell(count.blanks,
         "begins or ends with a blank, which questions must then write too; trim = true in the "
         "policy drops it");
  }
}

}  // namespace shoal::engine
