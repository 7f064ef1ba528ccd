#include "engine/csv_function.hpp"
#include "engine/csv_header.hpp"
#include "engine/duckdb_connection.hpp"
#include "engine/row_report.hpp"
#include "engine/source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/temporary_file.hpp>
#include <shoal/base/text.hpp>
#include <shoal/engine/inspect.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace shoal::engine {
namespace {

using catalog::Column;
using catalog::ColumnType;
using catalog::SourceFormat;
using catalog::Table;

[[noreturn]] void neither(const std::filesystem::path& path, const std::string& why) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is neither a CSV nor a Parquet file: {}; convert it first",
                          path.string(), why));
}

// Tells the formats apart by content, so that a wrong file name does no harm. Only the header is
// looked at: no row decides whether a file is a table.
SourceFormat detect_format(const std::filesystem::path& path) {
  const std::string head = read_file_head(path, 1 << 16);
  if (head.starts_with("PAR1")) return SourceFormat::parquet;
  if (head.empty()) neither(path, "it is empty");
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) neither(path, "it is blank");
  const std::size_t end = std::min(head.find_first_of("\r\n", first), head.size());
  const std::string_view header = std::string_view(head).substr(0, end);
  if (header.find('\0') != std::string_view::npos || !is_utf8(header, end == (1 << 16))) {
    const bool binary = head.find('\0') != std::string::npos;
    neither(path, binary ? "it holds binary data" : "its header is not UTF-8 text");
  }
  if (head[first] == '{' || head[first] == '[') neither(path, "it looks like JSON");
  if (head[first] == '<') neither(path, "it looks like XML or HTML");
  if (end == head.size()) neither(path, "it has no line after the header");
  return SourceFormat::csv;
}

std::string base_name(const std::filesystem::path& path) {
  std::string name = path.stem().string();
  return name.empty() ? "data" : name;
}

// The delimiter is the candidate that splits the header into most names; no row is looked at.
catalog::CsvFormat guess_format(const std::filesystem::path& path) {
  catalog::CsvFormat best;
  std::size_t most = 1;
  for (const char delimiter : {',', ';', '\t', '|'}) {
    const catalog::CsvFormat format{delimiter, '"'};
    const std::size_t names = read_csv_header(path, format).size();
    if (names > most) {
      most = names;
      best = format;
    }
  }
  return best;
}

// The first type, from narrow to wide, that at least 95 of 100 values have.
constexpr std::pair<ColumnType, const char*> kCandidates[] = {
    {ColumnType::boolean, "lower({0}) IN ('true', 'false')"},
    {ColumnType::integer,
     "TRY_CAST({0} AS BIGINT) IS NOT NULL AND NOT contains({0}, '.') AND NOT contains(lower({0}), "
     "'e')"},
    {ColumnType::real, "TRY_CAST({0} AS DOUBLE) IS NOT NULL"},
    {ColumnType::date, "TRY_CAST({0} AS DATE) IS NOT NULL AND length({0}) <= 10"},
    {ColumnType::timestamp, "TRY_CAST({0} AS TIMESTAMP) IS NOT NULL"},
};

void infer_types(DuckdbConnection& connection, const std::string& source, Table& table) {
  std::string items;
  for (const Column& column : table.columns) {
    const std::string name = identifier(column.name);
    items += fmt::format("{}COUNT({})", items.empty() ? "" : ", ", name);
    for (const auto& [type, test] : kCandidates) {
      items += fmt::format(", COUNT(*) FILTER (WHERE {})", fmt::format(fmt::runtime(test), name));
    }
  }
  const auto counts =
      connection.rows(fmt::format("SELECT {} FROM (FROM {} LIMIT 100000)", items, source)).at(0);
  std::size_t at = 0;
  for (Column& column : table.columns) {
    const long long values = std::stoll(counts[at++]);
    column.type = ColumnType::text;
    for (const auto& candidate : kCandidates) {
      const long long fitting = std::stoll(counts[at++]);
      if (column.type == ColumnType::text && values > 0 && fitting * 100 >= values * 95)
        column.type = candidate.first;
    }
  }
}

// A first line that is a row would make one person's values the names of the columns, which
// messages show to everybody.
void refuse_row_as_header(const Table& table, const std::filesystem::path& path) {
  const auto problem = header_problem(path, table.csv);
  if (!problem) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the first line of {} reads as a row, not as names of columns: {}; add "
                          "--header with {} names, such as --header id,age, or write them into the "
                          "file's first line. If they are names, change those that are numbers or "
                          "dates: year_2024",
                          path.string(), problem->why, problem->fields));
}

void require_header(const std::vector<std::string>& header, std::size_t fields,
                    const std::filesystem::path& path) {
  if (header.size() == fields) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("the header has {} names, and the first row of {} has {} fields; name each "
                  "of them",
                  header.size(), path.string(), fields));
}

void check_names(const Table& table, const std::filesystem::path& path) {
  for (const Column& column : table.columns) {
    if (column.name.empty()) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("{} has a column without a name; give every column of its first line a name, "
                      "or, if that is a row, add --header with the names",
                      path.string()));
    }
    if (!is_utf8(column.name, false) || printable(column.name, 1000) != column.name) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("{} has a column name that is no plain text; rename it", path.string()));
    }
    int same = 0;
    for (const Column& other : table.columns)
      same += equals_ignoring_case(column.name, other.name) ? 1 : 0;
    if (same > 1) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} has two columns named {} (upper and lower case count as the "
                              "same); rename one, or, "
                              "if the first line is a row, add --header with the names",
                              path.string(), printable(column.name, 60)));
    }
  }
}

// Runs the owner's look at a file; the engine's own words may be shown to the owner.
template <typename Action>
auto for_owner(const std::filesystem::path& path, Action&& action) {
  try {
    return action();
  } catch (const DuckdbFailure& failure) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} cannot be read: {}", path.string(),
                                                         printable(failure.details(), 300)));
  }
}

std::string source_of(const Table& table, const std::filesystem::path& path) {
  if (table.format == SourceFormat::parquet) return parquet_source(path);
  return csv_source(path, table.csv, csv_names(path, table.csv), {table.csv.header.empty(), false});
}

std::string count_problems_sql(const Table& table, const std::string& source) {
  std::string items = "COUNT(*)";
  for (const Column& column : table.columns) {
    if (column.type == ColumnType::other) continue;
    const std::string name = identifier(column.name);
    items +=
        fmt::format(", COUNT(*) FILTER (WHERE {0} IS NOT NULL AND TRY_CAST({0} AS {1}) IS NULL)",
                    name, engine_type(column.type));
    if (column.type == ColumnType::real) {
      items += fmt::format(", COUNT(*) FILTER (WHERE isnan(TRY_CAST({0} AS DOUBLE)))", name);
    } else if (column.type == ColumnType::text) {
      items +=
          fmt::format(", COUNT(*) FILTER (WHERE contains(CAST({0} AS VARCHAR), chr(10)))", name);
    } else {
      items += ", 0";
    }
  }
  return fmt::format("SELECT {} FROM {}", items, source);
}

RowReport report(DuckdbConnection& connection, const Table& table,
                 const std::filesystem::path& path) {
  const std::string source = source_of(table, path);
  const auto counts = connection.rows(count_problems_sql(table, source)).at(0);
  RowReport found;
  found.rows = std::stoll(counts[0]);
  std::size_t at = 1;
  for (const Column& column : table.columns) {
    if (column.type == ColumnType::other) continue;
    const std::int64_t unreadable = std::stoll(counts[at++]);
    FieldCount count;
    (column.type == ColumnType::real ? count.not_numbers : count.line_breaks) =
        std::stoll(counts[at++]);
    report_fields(column, count, unreadable, found);
  }
  if (table.format == SourceFormat::csv) report_reading(connection.csv_reads().counts(path), found);
  return found;
}

std::string import_sql(const catalog::Policy& policy, const Table& table, const std::string& source,
                       const std::filesystem::path& output) {
  std::string items;
  for (const Column& column : table.columns) {
    const std::string name = identifier(column.name);
    items += items.empty() ? "" : ", ";
    items += column.type == ColumnType::other
                 ? name
                 : fmt::format(
                       "{} AS {}",
                       converted_field(column, table.format == SourceFormat::csv &&
                                                   policy.tells_people_apart(table, column.name)),
                       name);
  }
  const std::string order =
      table.person_column.empty() ? "" : " ORDER BY " + identifier(table.person_column);
  // Snappy: a question reads twice as fast as from zstd, in a file a tenth larger. Dictionaries are
  // for keys: of people with a dozen rows each they only cost time.
  return fmt::format(
      "COPY (SELECT {} FROM {}{}) TO {} (FORMAT parquet, USE_TMP_FILE false, COMPRESSION snappy, "
      "ROW_GROUP_SIZE 122880, DICTIONARY_SIZE_LIMIT 8192)",
      items, source, order, quoted(output.string()));
}

}  // namespace

Table inspect_file(const std::filesystem::path& path, const std::vector<std::string>& header) {
  catalog::require_one_file(std::filesystem::absolute(path), "the file");
  Table table;
  table.format = detect_format(path);
  table.name = base_name(path);
  table.source = path;
  return for_owner(path, [&] {
    DuckdbConnection connection;
    if (table.format == SourceFormat::csv) {
      table.csv = guess_format(path);
      if (!header.empty()) {
        require_header(header, read_csv_header(path, table.csv).size(), path);
        table.csv.header = header;
      }
      if (header.empty()) refuse_row_as_header(table, path);
      for (const std::string& name : csv_names(path, table.csv))
        table.columns.emplace_back().name = name;
      check_names(table, path);
      infer_types(connection, source_of(table, path), table);
    } else {
      for (const auto& row : connection.rows("DESCRIBE SELECT * FROM " + parquet_source(path))) {
        Column& column = table.columns.emplace_back();
        column.name = row.at(0);
        column.type = policy_type(row.at(1));
      }
      check_names(table, path);
    }
    return table;
  });
}

RowReport import_rows(const catalog::Policy& policy, const Table& table,
                      const std::filesystem::path& output, const Progress& progress,
                      const Naming& naming) {
  const std::filesystem::path path = policy.resolve(table.source);
  detect_format(path);
  catalog::require_one_file(std::filesystem::absolute(output), "the file to write");
  std::error_code ignored;
  if (std::filesystem::exists(output, ignored)) {
    throw Error(
        ErrorCode::conflict,
        fmt::format("{} exists already; remove it or choose another name", output.string()));
  }
  // A half-written file must not look like data: it gets its name when it is whole. Nobody reads it
  // who cannot read the source.
  return for_owner(path, [&] {
    TemporaryFile partial(output, Readers::owner);
    DuckdbConnection connection;
    RowReport found = report(connection, table, path);
    connection.run(import_sql(policy, table, source_of(table, path), partial.path()), progress);
    partial.be_readable_as(path);
    const auto give_name = [&] { partial.take_name(IfExists::refuse); };
    naming ? naming(give_name) : give_name();
    return found;
  });
}

}  // namespace shoal::engine
