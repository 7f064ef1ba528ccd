#include "engine/snapshot.hpp"

#include "engine/csv_function.hpp"
#include "engine/duckdb_connection.hpp"
#include "engine/field_counts.hpp"
#include "engine/grouped_rows.hpp"
#include "engine/number_function.hpp"
#include "engine/row_report.hpp"
#include "engine/source.hpp"
#include "engine/table_view.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace shoal::engine {

using catalog::Column;
using catalog::ColumnType;
using catalog::Table;

namespace {

namespace fs = std::filesystem;

// What a statement needs that reads a large file: memory within the policy's, and a folder to spill
// into that is as private as the data.
void limit_resources(DuckdbConnection& connection, const catalog::Policy& policy,
                     const fs::path& folder) {
  const Resources resources = resources_of(policy.engine);
  connection.run(fmt::format("SET threads = {}", resources.threads));
  connection.run(fmt::format("SET memory_limit = '{}KiB'", resources.memory >> 10));
  connection.run("SET temp_directory = " + quoted((folder / "spill.tmp").string()));
}

// The columns that questions can ask for, as they are in the file.
std::vector<StoredColumn> asked_columns(const Table& table,
                                        const std::vector<StoredColumn>& columns) {
  std::vector<StoredColumn> asked;
  for (const StoredColumn& in_file : columns) {
    const Column* column = table.find_column(in_file.name, true);
    if (column && column->type != ColumnType::other) asked.push_back(in_file);
  }
  return asked;
}

// Decodes every page of a column, and counts what is odd in it, in four numbers.
std::string read_column(const Column& column) {
  const std::string name = identifier(column.name);
  const bool text = column.type == ColumnType::text;
  const std::string value = fmt::format("CAST({} AS VARCHAR)", name);
  return fmt::format(
      "bit_xor(hash({})), {}, {}, {}", name,
      column.type == ColumnType::real
          ? fmt::format("COUNT(*) FILTER (isnan(CAST({} AS DOUBLE)))", name)
          : "0",
      text ? fmt::format("COUNT(*) FILTER (contains({}, chr(10)))", value) : "0",
      text ? fmt::format("COUNT(*) FILTER ({0} <> trim({0}, {1}))", value, quoted(" \t")) : "0");
}

std::string read_columns_sql(const Table& table, const fs::path& path,
                             const std::vector<StoredColumn>& columns) {
  std::string items = "COUNT(*)";
  for (const StoredColumn& column : columns)
    items += ", " + read_column(*table.find_column(column.name, true));
  return fmt::format("SELECT {} FROM {}", items, parquet_source(path));
}

// Says which column of a Parquet file cannot be read.
[[noreturn]] void refuse_column(DuckdbConnection& connection, const Table& table,
                                const SourceFile& source, const std::vector<StoredColumn>& columns,
                                const DuckdbFailure& failure) {
  for (const StoredColumn& column : columns) {
    try {
      connection.run(read_columns_sql(table, source.file.path(), {column}));
    } catch (const DuckdbFailure& why) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("column {} of {} cannot be read: {}; write the file anew with values "
                              "that its types allow (text in UTF-8), or give the column type "
                              "\"other\" in the policy, which leaves it out",
                              printable(column.name, 60), source.path.string(),
                              printable(why.details(), 300)));
    }
  }
  throw failure;
}

// How many values of each column of a Parquet file are NULL, and under the name "" its rows.
std::map<std::string, std::int64_t> counts_of(DuckdbConnection& connection, const fs::path& path) {
  std::map<std::string, std::int64_t> counts;
  const std::string file = quoted(path.string());
  for (const auto& row : connection.rows(
           fmt::format("SELECT '', CAST(COALESCE(SUM(num_rows), 0) AS VARCHAR) FROM "
                       "parquet_file_metadata({0}) UNION ALL SELECT path_in_schema, "
                       "CAST(SUM(stats_null_count) AS VARCHAR) FROM parquet_metadata({0}) GROUP BY "
                       "path_in_schema",
                       file))) {
    counts[row.at(0)] = std::stoll(row.at(1));
  }
  return counts;
}

// Snappy: a question reads twice as fast as from zstd, in a file a tenth larger. Dictionaries are
// for keys: of people with a dozen rows each they only cost time.
constexpr const char* kParquetOptions =
    "FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 122880, DICTIONARY_SIZE_LIMIT 8192, "
    "USE_TMP_FILE false";

// The number of a row in its file, where that decides the order.
constexpr const char* kRowNumber = "shoal_row";

// A source whose fields are counted as they pass, with the row's number if it is asked for.
std::string counted_csv(const Table& table, const SourceFile& source,
                        const std::vector<StoredColumn>& columns,
                        const std::vector<StoredColumn>& asked) {
  std::vector<std::string> names;
  for (const StoredColumn& column : columns) names.push_back(column.name);
  const bool numbered = !table.person_column.empty();
  std::string items = numbered ? kRowNumber : "";
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::string name = identifier(asked[i].name);
    items +=
        fmt::format("{}{} AS {}", items.empty() ? "" : ", ", FieldCounts::counted(i, name), name);
  }
  return fmt::format(
      "(SELECT {} FROM {})", items,
      csv_source(source.file.path(), table.csv, names, {table.csv.header.empty(), numbered}));
}

void copy(DuckdbConnection& connection, const Table& table, const std::string& items,
          const std::string& rows, const char* number, const fs::path& output,
          const Progress& progress) {
  const std::string order =
      table.person_column.empty()
          ? ""
          : fmt::format(" ORDER BY {}, {}", identifier(table.person_column), number);
  connection.run(fmt::format("COPY (SELECT {} FROM {}{}) TO {} ({})", items, rows, order,
                             quoted(output.string()), kParquetOptions),
                 progress);
}

RowReport snapshot_of_csv(DuckdbConnection& connection, const catalog::Policy& policy,
                          const Table& table, const SourceFile& source, const fs::path& output,
                          const Progress& progress) {
  const std::vector<StoredColumn> columns = csv_columns(table, source.path);
  const std::string items = converted_columns(policy, table, columns);
  const std::vector<StoredColumn> asked = asked_columns(table, columns);
  std::vector<ColumnType> types;
  for (const StoredColumn& column : asked)
    types.push_back(table.find_column(column.name, true)->type);
  const FieldCounts fields(connection, types);
  copy(connection, table, items, counted_csv(table, source, columns, asked), kRowNumber, output,
       progress);
  RowReport report;
  auto counts = counts_of(connection, output);
  report.rows = counts[""];
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Column& column = *table.find_column(asked[i].name, true);
    const FieldCount count = fields.of(i);
    const std::int64_t converted = report.rows - counts[asked[i].name];
    // All text is text, also where nothing is left of it.
    const std::int64_t unreadable =
        column.type == ColumnType::text ? 0 : count.present - count.not_numbers - converted;
    report_fields(column, count, unreadable, report);
  }
  report_reading(connection.csv_reads().counts(source.file.path()), report);
  return report;
}

RowReport snapshot_of_parquet(DuckdbConnection& connection, const catalog::Policy& policy,
                              const Table& table, const SourceFile& source, const fs::path& output,
                              const Progress& progress) {
  const std::vector<StoredColumn> columns = parquet_columns(connection, source.file.path());
  copy(connection, table, converted_columns(policy, table, columns),
       fmt::format("read_parquet({}, hive_partitioning = false, file_row_number = true)",
                   quoted(source.file.path().string())),
       "file_row_number", output, progress);
  RowReport report;
  report.rows = counts_of(connection, output)[""];
  return report;
}

}  // namespace

std::optional<RowReport> read_to_the_end(const catalog::Policy& policy, const Table& table,
                                         const SourceFile& source, const fs::path& folder,
                                         const Progress& progress) {
  DuckdbConnection connection;
  limit_resources(connection, policy, folder);
  const std::vector<StoredColumn> columns = parquet_columns(connection, source.file.path());
  require_schema(table, columns);
  const std::vector<StoredColumn> asked = asked_columns(table, columns);
  const std::string sql = read_columns_sql(table, source.file.path(), asked);
  std::vector<std::string> counts;
  try {
    connection.run("CREATE TEMP TABLE counts AS " + sql, progress);
    counts = connection.rows("SELECT CAST(COLUMNS(*) AS VARCHAR) FROM counts").at(0);
  } catch (const DuckdbFailure& failure) {
    refuse_column(connection, table, source, asked, failure);
  }
  RowReport report;
  report.rows = std::stoll(counts.at(0));
  bool typed = true;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Column& column = *table.find_column(asked[i].name, true);
    typed = typed && is_as_stored(column, asked[i]);
    FieldCount count;
    count.not_numbers = std::stoll(counts.at(4 * i + 2));
    count.line_breaks = std::stoll(counts.at(4 * i + 3));
    count.blanks = std::stoll(counts.at(4 * i + 4));
    report_fields(column, count, 0, report);
  }
  return typed ? std::optional(std::move(report)) : std::nullopt;
}

RowReport write_snapshot(const catalog::Policy& policy, const Table& table,
                         const SourceFile& source, const fs::path& output,
                         const Progress& progress) {
  DuckdbConnection connection(table.person_column.empty() ? InsertionOrder::kept
                                                          : InsertionOrder::any);
  limit_resources(connection, policy, output.parent_path());
  register_number_function(connection);
  return table.format == catalog::SourceFormat::csv
             ? snapshot_of_csv(connection, policy, table, source, output, progress)
             : snapshot_of_parquet(connection, policy, table, source, output, progress);
}

}  // namespace shoal::engine
