#include "engine/csv_header.hpp"

#include "engine/csv_rows.hpp"

#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <system_error>

namespace shoal::engine {
namespace {

constexpr std::size_t kRows = 1000;
constexpr std::size_t kBytes = std::size_t{1} << 18;

enum class Kind { empty, number, date, truth, text };

const char* name(Kind kind) {
  switch (kind) {
    case Kind::number:
      return "a number";
    case Kind::date:
      return "a date";
    case Kind::truth:
      return "true or false";
    case Kind::empty:
    case Kind::text:
      break;
  }
  return "a text";
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool is_number(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || (!is_digit(text[0]) && text[0] != '.')) return false;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return end == text.data() + text.size() && error != std::errc::invalid_argument;
}

// Three numbers with - or / or . between them, and perhaps a time behind.
bool is_date(std::string_view text) {
  int numbers = 0;
  std::size_t at = 0;
  char separator = 0;
  while (at < text.size() && numbers < 3) {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == begin || at - begin > 4) return false;
    if (++numbers == 3) break;
    if (at == text.size() || (separator != 0 && text[at] != separator)) return false;
    separator = text[at++];
    if (separator != '-' && separator != '/' && separator != '.') return false;
  }
  return numbers == 3 && (at == text.size() || text[at] == ' ' || text[at] == 'T');
}

Kind kind_of(std::string_view field) {
  const std::string_view text = trimmed(field);
  if (text.empty()) return Kind::empty;
  if (is_date(text)) return Kind::date;
  if (is_number(text)) return Kind::number;
  if (equals_ignoring_case(text, "true") || equals_ignoring_case(text, "false")) return Kind::truth;
  return Kind::text;
}

// What is below a field, in its column.
struct Below {
  std::size_t values = 0;
  std::size_t of_its_kind = 0;
  std::size_t equal = 0;
};

Below look_below(const std::string& field, std::size_t column,
                 std::span<const std::vector<std::string>> rows) {
  const Kind kind = kind_of(field);
  Below below;
  for (const std::vector<std::string>& row : rows) {
    if (column >= row.size()) continue;
    const Kind other = kind_of(row[column]);
    if (other == Kind::empty) continue;
    ++below.values;
    if (other == kind) ++below.of_its_kind;
    if (row[column] == field) ++below.equal;
  }
  return below;
}

}  // namespace

std::optional<HeaderProblem> header_problem(std::span<const std::string> first,
                                            std::span<const std::vector<std::string>> below) {
  // Files that were put together repeat their header: such rows say nothing.
  std::vector<std::vector<std::string>> rows;
  std::copy_if(below.begin(), below.end(), std::back_inserter(rows),
               [&](const std::vector<std::string>& row) {
                 return !std::equal(row.begin(), row.end(), first.begin(), first.end());
               });
  for (std::size_t column = 0; column < first.size(); ++column) {
    const Kind kind = kind_of(first[column]);
    if (kind == Kind::empty) continue;
    const Below found = look_below(first[column], column, rows);
    if (kind != Kind::text && found.values > 0 && found.of_its_kind * 5 >= found.values * 4) {
      return HeaderProblem{first.size(), fmt::format("field {} of its first row is {}, as the "
                                                     "values below it are",
                                                     column + 1, name(kind))};
    }
    if (kind == Kind::text && found.equal >= 2) {
      return HeaderProblem{first.size(),
                           fmt::format("field {} of its first row stands below it {} more times",
                                       column + 1, found.equal)};
    }
  }
  return std::nullopt;
}

std::optional<HeaderProblem> header_problem(const std::filesystem::path& path,
                                            const catalog::CsvFormat& format) {
  const FileBytes file(path);
  CsvShape shape{format.delimiter, format.quote, true, 0};
  shape.fields = read_csv_names(file, shape).size();
  shape.has_header = false;
  CsvSplitter splitter(file, shape, kBytes);
  std::vector<std::vector<std::string>> rows;
  for (CsvBlock block;
       rows.size() <= kRows && splitter.consumed() < 4 * kBytes && splitter.next(block);) {
    for (const CsvBlock::Row& row : block.rows) {
      if (rows.size() > kRows) break;
      std::vector<std::string>& fields = rows.emplace_back();
      CsvFields cursor(shape, block.bytes.data(), row);
      for (CsvField field; fields.size() < shape.fields && cursor.next(field);) {
        std::string& text = fields.emplace_back(field.text);
        if (field.doubled) undouble(field.text, shape.quote, text);
      }
    }
  }
  if (rows.empty()) return std::nullopt;
  return header_problem(rows[0], std::span(rows).subspan(1));
}

}  // namespace shoal::engine
